"""What a file of tensors must be before it is used: names, types and shapes by its header, then its hash and values.

The header is compared first: what it claims may be far larger than what was trained, and nothing is allocated for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import safetensors
import torch
from torch import Tensor

from foretime.errors import RunError

_TYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
"""How safetensors calls a type."""
SHOWN = 3
"""How many tensors a message names."""


class Form(NamedTuple):
    """The type and the shape of a tensor."""

    type: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.type} {list(self.shape)}"


def forms_of(tensors: Mapping[str, Tensor]) -> dict[str, Form]:
    """Return the type and the shape of each tensor."""
    return {name: Form(_TYPES.get(one.dtype, str(one.dtype)), tuple(one.shape)) for name, one in tensors.items()}


@contextmanager
def opened(path: Path, framework: str = "pt") -> Iterator[Any]:
    """Give a file of tensors whose header can be read; one that is missing or damaged is a `RunError`."""
    if not path.is_file():
        raise RunError(f"{path}: no such checkpoint; is this the folder of a run that has begun training?")
    try:
        with safetensors.safe_open(path, framework=framework) as stream:
            yield stream
    except (safetensors.SafetensorError, OSError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise damaged(path, error) from None


def damaged(path: Path, why: object) -> RunError:
    """Return the error of a file that is not as it was written."""
    return RunError(f"{path}: damaged checkpoint ({why}); restore the file or train again")


def forms_in(path: Path) -> dict[str, Form]:
    """Return the type and the shape of each tensor that the header of a file names; no tensor is read."""
    with opened(path, "numpy") as stream:  # torch would ask the system for as much memory as the file is long
        parts = {name: stream.get_slice(name) for name in stream.keys()}  # noqa: SIM118, not a dict
        return {name: Form(part.get_dtype(), tuple(part.get_shape())) for name, part in parts.items()}


def check_forms(path: Path, found: Mapping[str, Form], expected: Mapping[str, Form]) -> None:
    """Raise `RunError` unless a file has exactly the tensors that are expected."""
    different = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    if different:
        shown = [f"{name} is {_said(found, name)} and not {_said(expected, name)}" for name in different[:SHOWN]]
        more = [f"{len(different) - SHOWN} more"] if len(different) > SHOWN else []
        raise RunError(
            f"{path}: the weights do not fit the run's configuration: {', '.join([*shown, *more])}; another version of "
            "the code has trained them, or the configuration was changed: restore the file, or train again in a new "
            "folder"
        )


def _said(forms: Mapping[str, Form], name: str) -> str:
    return str(forms[name]) if name in forms else "there"


def check_finite(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Raise `RunError` if a tensor has a value that is no number, or an infinite one."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise damaged(path, f"{name} has values that are not finite numbers")


def digest(tensors: Mapping[str, Tensor], text: str) -> str:
    """Return the sha256 of a text and of the names, types, shapes and bytes of tensors."""
    found = hashlib.sha256(text.encode())
    for name, form in sorted(forms_of(tensors).items()):
        found.update(f"\n{name} {form}\n".encode())
        found.update(tensors[name].detach().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()
