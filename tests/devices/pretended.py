"""Devices that are not here: a pretended one, whose tensors hold their numbers on the CPU and say that they do not.

torch's own fake CUDA checks devices and shapes, and knows no numbers and no gradients. The pretended device has both.
It takes the name `meta`, the only one of a device without hardware that autograd knows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only

import foretime
from foretime import devices

ELSEWHERE = torch.device("meta")
CUDA = torch.device("cuda", 0)
OURS = (str(Path(foretime.__file__).parent), str(Path(__file__).parent))
MOVERS = tuple(str(Path(torch.__file__).parent / name) for name in ("nn/modules/module.py", "optim/optimizer.py"))
"""What moves whole models and optimisers, whoever asks for it."""
aten = torch.ops.aten


class StrayError(Exception):
    """Something is where it should not be: on another device than what it meets, or on its way outside the borders."""


class Elsewhere(torch.Tensor):
    """A tensor that says it is on the pretended device."""

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> Elsewhere:
        strides, offset = held.stride(), held.storage_offset()
        return torch.Tensor._make_wrapper_subclass(
            cls, held.size(), strides=strides, storage_offset=offset, dtype=held.dtype, device=ELSEWHERE
        )

    def __init__(self, held: torch.Tensor) -> None:
        self.held = held

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise StrayError(f"{function} after the pretended device was closed")


class PretendedDevice(TorchDispatchMode):
    """While it is open the device `meta` computes. What mixes devices raises, as it does where there is hardware.

    `has_double` is whether it has numbers of double precision, which MPS has not.
    """

    def __init__(self, has_double: bool = True) -> None:
        super().__init__()
        self.has_double, self.operations = has_double, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        moves = function.overloadpacket in (aten._to_copy, aten.copy_)
        there = [isinstance(tensor, Elsewhere) for tensor in tensors]
        if (
            not moves
            and any(there)
            and any(tensor.dim() for tensor, far in zip(tensors, there, strict=True) if not far)
        ):
            raise StrayError(f"{function} on tensors of the device and of the CPU")
        wanted = kwargs.get("device")
        if wanted is not None:
            kwargs["device"] = torch.device("cpu")
            far = torch.device(wanted) == ELSEWHERE
        else:
            far = there[0] if function.overloadpacket is aten.copy_ else any(there)
        held_args, held_kwargs = tree_map_only(Elsewhere, lambda tensor: tensor.held, (args, kwargs))
        out = function(*held_args, **held_kwargs)
        if not far:
            return out.clone() if moves and any(there) and out is held_args[0] else out
        self.operations += 1
        doubles = [leaf for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor) and leaf.dtype == torch.float64]
        if doubles and not self.has_double:
            raise StrayError(f"{function} in double precision, which the device has not")
        return return_and_correct_aliasing(function, args, kwargs, tree_map_only(torch.Tensor, Elsewhere, out))


class Borders(TorchDispatchMode):
    """While it is open, nothing goes from one device to another but through `send` and `fetch`, and whole models."""

    def __init__(self) -> None:
        super().__init__()
        self.crossings = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs, crosses = kwargs or {}, False
        if function.namespace == "prim":  # asks a tensor something, and has no kernels
            return function(*args, **kwargs)
        if torch._C._dispatch_has_kernel_for_dispatch_key(function.name(), "CompositeImplicitAutograd"):
            with self:  # in inference mode, what is made of other operations comes here whole
                return function.decompose(*args, **kwargs)
        if function.overloadpacket is aten._to_copy and kwargs.get("device") is not None:
            crosses = torch.device(kwargs["device"]) != args[0].device
        if function.overloadpacket is aten.copy_:
            crosses = args[0].device != args[1].device
        if crosses and args[0].dim():
            self.crossings += 1
            place = _asked_by()
            if place is not None:
                raise StrayError(f"{function} from {args[0].device}, asked for in {place}")
        return function(*args, **kwargs)


class Operators(TorchFunctionMode):
    """While it is open, CUDA tensors have operations for operators: `[]` and `~` look for a CUDA that is there."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.__getitem__ and args[0].device == CUDA:
            return _indexed(args[0], args[1] if isinstance(args[1], tuple) else (args[1],))
        if function is torch.Tensor.__invert__:
            return args[0].bitwise_not()
        return function(*args, **(kwargs or {}))


def _indexed(tensor: torch.Tensor, index: tuple[Any, ...]) -> torch.Tensor:
    """Return `tensor[index]`."""
    dim, ids = 0, {}
    for place, part in enumerate(index):
        if part is None:
            tensor = tensor.unsqueeze(dim)
        elif part is Ellipsis:
            dim = tensor.dim() - len(index) + place
        elif isinstance(part, slice):
            tensor = aten.slice(tensor, dim, part.start, part.stop, part.step or 1)
        elif isinstance(part, torch.Tensor):
            if part.device != tensor.device:
                raise StrayError(f"a tensor of {tensor.device} indexed by one of {part.device}")
            ids[dim] = part
        else:
            tensor, dim = tensor.select(dim, part), dim - 1
        dim += 1
    return aten.index(tensor, [ids.get(place) for place in range(max(ids) + 1)]) if ids else tensor


def _asked_by() -> str | None:
    """Return who asks for a crossing; nothing if it is one of the borders."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file in (devices.__file__, *MOVERS):
            return None
        if file.startswith(OURS) and file != __file__:
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return "nothing of ours"


@contextmanager
def elsewhere(monkeypatch: pytest.MonkeyPatch, has_double: bool = True) -> Iterator[PretendedDevice]:
    """Give a pretended device that `auto` takes, with guarded borders."""
    with monkeypatch.context() as patched, PretendedDevice(has_double) as device, Borders():
        patched.setattr(devices, "_best", lambda: ELSEWHERE.type)
        yield device


@contextmanager
def fake_cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[Borders]:
    """Give CUDA without numbers, for products and no gradients, with guarded borders."""

    def numpy(tensor: FakeTensor) -> np.ndarray:
        if tensor.device != devices.CPU:
            raise TypeError("numpy reads no CUDA tensor")
        return np.zeros(tensor.shape, str(tensor.dtype).removeprefix("torch."))

    with monkeypatch.context() as patched:
        patched.setattr(FakeTensor, "numpy", numpy)
        with FakeTensorMode(allow_non_fake_inputs=True), Borders() as borders, Operators(), torch.no_grad():
            yield borders
