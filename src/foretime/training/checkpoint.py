"""Checkpoints: weights, optimiser and progress in one safetensors file, from which training resumes bit for bit."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from foretime.errors import RunError
from foretime.evidence.module import EvidenceComponent, in_layout
from foretime.files import write_bytes

MODEL = "model."
OPTIMIZER = "optimizer."


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

    @property
    def epochs_done(self) -> int:
        """How many epochs are finished."""
        return self.epoch if self.finished else self.epoch - 1


def save_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer | None, progress: Progress) -> None:
    """Write a checkpoint atomically; without an optimiser it holds the weights only."""
    tensors = {MODEL + name: value.detach().contiguous() for name, value in model.state_dict().items()}
    if optimizer is not None:
        for index, state in optimizer.state_dict()["state"].items():
            tensors |= {f"{OPTIMIZER}{index}.{name}": torch.as_tensor(value) for name, value in state.items()}
    _write(path, tensors, progress)


def load_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer | None = None) -> Progress:
    """Put a checkpoint's weights (and optimiser state) in place, and return its progress."""
    tensors, progress = _read(path)
    tensors = _in_layout(tensors, model)
    weights = {name.removeprefix(MODEL): value for name, value in tensors.items() if name.startswith(MODEL)}
    expected = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    found = {name: tuple(value.shape) for name, value in weights.items()}
    if expected != found:
        different = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
        raise RunError(
            f"{path}: the weights do not fit the run's configuration, in {', '.join(different)}; another version of "
            "the code has trained them, or the configuration was changed: train again in a new folder"
        )
    model.load_state_dict(weights)
    if optimizer is not None:
        _load_optimizer(optimizer, tensors)
    return progress


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
    tensors, progress = _read(path)
    _write(path, tensors, replace(progress, epoch=progress.epoch + 1, finished=False))


def read_progress(path: Path) -> Progress:
    """Return the progress that a checkpoint was written with; its tensors are not read."""
    return _read(path, tensors=False)[1]


def _write(path: Path, tensors: dict[str, Tensor], progress: Progress) -> None:
    write_bytes(path, safetensors.torch.save(tensors, {"progress": json.dumps(asdict(progress))}))


def _read(path: Path, tensors: bool = True) -> tuple[dict[str, Tensor], Progress]:
    if not path.is_file():
        raise RunError(f"{path}: no such checkpoint; is this the folder of a run that has begun training?")
    try:
        with safetensors.safe_open(path, framework="pt") as stream:
            metadata = stream.metadata() or {}
            found = {name: stream.get_tensor(name) for name in stream.keys() if tensors}  # noqa: SIM118, not a dict
        return found, Progress(**json.loads(metadata["progress"]))
    except (safetensors.SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{path}: damaged checkpoint ({error}); restore the file or train again") from None


def _load_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Any]] = {}
    for name, value in tensors.items():
        if name.startswith(OPTIMIZER):
            index, key = name.removeprefix(OPTIMIZER).split(".", 1)
            state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
