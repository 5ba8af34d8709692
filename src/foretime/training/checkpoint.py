"""Checkpoints: weights, optimiser and progress in one safetensors file, from which training resumes bit for bit.

Each has a sha256 of all that in its header. What it does not fit is refused before any of it is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import safetensors.torch
import torch
from torch import Tensor, nn

from foretime.devices import fetch
from foretime.errors import RunError
from foretime.evidence.module import EvidenceComponent, in_layout
from foretime.files import write_bytes
from foretime.training.weights import Form, check_finite, check_forms, damaged, digest, forms_in, forms_of, opened

MODEL = "model."
OPTIMIZER = "optimizer."
PROGRESS, HASH = "progress", "sha256"
EVIDENCE = "evidence.weights"
"""How the name of the weights of the evidence ends: those of an earlier version may be fewer."""
UNKNOWN = (-1,)
"""The shape of weights of the evidence before its rules are known."""
Origin: TypeAlias = dict[str, str]
"""What a checkpoint was trained as: its job, its graph and its settings by name, as text."""
STATES = {torch.optim.Adagrad: ("step", "sum"), torch.optim.Adam: ("step", "exp_avg", "exp_avg_sq")}
"""What an optimiser keeps for each table of weights: the number of its steps, and what is as large as the table."""


@dataclass(frozen=True)
class Progress:
    """How far a training has come: `step` steps of `epoch` (from 1) are done."""

    epoch: int = 1
    step: int = 0
    best_epoch: int = 0
    best_mrr: float = -1.0
    evaluations_since_best: int = 0
    seconds: float = 0.0
    finished: bool = False
    sums: dict[str, float] = field(default_factory=dict)
    """Sums of the losses and penalties over the steps of the epoch so far."""
    origin: Origin = field(default_factory=dict)
    """What it is trained as; nothing in checkpoints of earlier versions."""

    @property
    def epochs_done(self) -> int:
        """How many epochs are finished."""
        return self.epoch if self.finished else self.epoch - 1


def save_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer | None, progress: Progress) -> None:
    """Write a checkpoint atomically; without an optimiser it holds the weights only."""
    tensors = {MODEL + name: fetch(value).contiguous() for name, value in model.state_dict().items()}
    if optimizer is not None:
        for index, state in optimizer.state_dict()["state"].items():
            tensors |= {f"{OPTIMIZER}{index}.{name}": fetch(torch.as_tensor(value)) for name, value in state.items()}
    _write(path, tensors, progress)


def load_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer | None = None) -> Progress:
    """Put a checkpoint's weights (and optimiser state) in place, and return its progress."""
    forms, expected = forms_in(path), forms_of(model.state_dict())
    check_weights(path, forms, expected)
    if optimizer is not None:
        check_forms(path, _of_optimizer(forms), _optimizer_forms(forms, model, optimizer))
    tensors, progress = read_checkpoint(path)
    tensors = _in_layout(tensors, model)
    weights = {name.removeprefix(MODEL): value for name, value in tensors.items() if name.startswith(MODEL)}
    check_forms(path, forms_of(weights), expected)
    model.load_state_dict(weights)
    if optimizer is not None:
        _load_optimizer(optimizer, tensors)
    return progress


def check_weights(path: Path, forms: Mapping[str, Form], expected: Mapping[str, Form]) -> None:
    """Raise `RunError` unless the header of a checkpoint has the weights that a model expects.

    Those of the evidence depend on its rules, and an earlier version had fewer: here they may not be more than a row
    that is as long as `expected` has it, if it does.
    """
    found = {name.removeprefix(MODEL): form for name, form in forms.items() if name.startswith(MODEL)}
    wanted = dict(expected)
    for name, form in found.items():
        known = wanted.get(name)
        if name.endswith(EVIDENCE) and known is not None and form.type == known.type and len(form.shape) == 1:
            wanted[name] = form if form.shape[0] <= known.shape[0] or known.shape == UNKNOWN else known
    check_forms(path, found, wanted)


def _of_optimizer(forms: Mapping[str, Form]) -> dict[str, Form]:
    return {name: form for name, form in forms.items() if not name.startswith(MODEL)}


def _optimizer_forms(forms: Mapping[str, Form], model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Form]:
    """Return what an optimiser must have kept: for every table of weights that has had a step, all of it."""
    found: dict[str, Form] = {}
    names = STATES[type(optimizer)]
    for index, (name, _) in enumerate(model.named_parameters()):
        keys = {key: f"{OPTIMIZER}{index}.{key}" for key in names}
        if isinstance(optimizer, torch.optim.Adagrad) or any(key in forms for key in keys.values()):
            table = forms[MODEL + name]
            found |= {full: Form("F32", ()) if key == "step" else table for key, full in keys.items()}
    return found


def _in_layout(tensors: dict[str, Tensor], model: nn.Module) -> dict[str, Tensor]:
    """Return saved tensors with those of the evidence, the optimiser's too, in the layout of this version."""
    for name, part in model.named_modules():
        saved = tensors.get(f"{MODEL}{name}{'.' if name else ''}weights")
        if isinstance(part, EvidenceComponent) and saved is not None:
            same = {key for key, value in tensors.items() if value.shape == saved.shape}
            return {key: in_layout(value, part.index) if key in same else value for key, value in tensors.items()}
    return tensors


def reopen_checkpoint(path: Path) -> None:
    """Make the last checkpoint of a finished training one that stands before its next epoch."""
    tensors, progress = read_checkpoint(path)
    _write(path, tensors, replace(progress, epoch=progress.epoch + 1, finished=False))


def add_hash(path: Path) -> bool:
    """Give a checkpoint of an earlier version the hash that it lacks; return whether it lacked one."""
    with opened(path) as stream:
        metadata = stream.metadata() or {}
        if HASH in metadata:
            return False
        tensors = {name: stream.get_tensor(name).clone() for name in stream.keys()}  # noqa: SIM118, not a dict
        progress = Progress(**json.loads(metadata[PROGRESS]))
    check_finite(path, tensors)
    _write(path, tensors, progress)
    return True


def read_progress(path: Path) -> Progress:
    """Return the progress that a checkpoint was written with; its tensors are not read."""
    with opened(path) as stream:
        return Progress(**json.loads((stream.metadata() or {})[PROGRESS]))


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], Progress]:
    """Return the tensors and the progress of a checkpoint, which are what was written, to the last bit."""
    with opened(path) as stream:
        metadata = stream.metadata() or {}
        tensors = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118, not a dict
        text = metadata[PROGRESS]
        progress = Progress(**json.loads(text))
    if HASH not in metadata:
        raise RunError(f"{path}: has no hash; an earlier version wrote it: foretime upgrade RUN adds one to every file")
    if digest(tensors, text) != metadata[HASH]:
        raise damaged(path, "its content is not what its hash was made of")
    check_finite(path, tensors)
    return tensors, progress


def _write(path: Path, tensors: dict[str, Tensor], progress: Progress) -> None:
    text = json.dumps(asdict(progress))
    write_bytes(path, safetensors.torch.save(tensors, {PROGRESS: text, HASH: digest(tensors, text)}))


def _load_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Any]] = {}
    for name, value in tensors.items():
        if name.startswith(OPTIMIZER):
            index, key = name.removeprefix(OPTIMIZER).split(".", 1)
            state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
