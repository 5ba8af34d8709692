"""Devices: which one is used, and the two borders between it and the CPU.

Embeddings, scores, losses, ranks and calibrations are on the device of the model. Ids, filters, events and everything
compiled by numba are on the CPU: ids are made there, and the evidence needs them there. What crosses crosses here,
by `send` and `fetch`, and nowhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.config import DEVICE_NAMES, is_device
from foretime.errors import ConfigError

CPU = torch.device("cpu")
WHERE = "https://pytorch.org/get-started/locally"


def find_device(name: str) -> torch.device:
    """Return a device by its name: `auto` is the first CUDA device, else MPS, else the CPU.

    Raise `ConfigError` if it is not there, or none is called so.
    """
    if not is_device(name):
        raise ConfigError(f"no device has the name {name!r}; write {DEVICE_NAMES}")
    kind, _, number = (_best() if name == "auto" else name).partition(":")
    if kind == "cuda":
        if int(number or 0) >= torch.cuda.device_count():
            raise ConfigError(f'device "{name}" is not there: {_without_cuda()}')
        return torch.device(kind, int(number or 0))
    if kind == "mps" and not torch.backends.mps.is_available():
        raise ConfigError(f'device "{name}" is not there: {_without_mps()}')
    return torch.device(kind)


def device_here(name: str) -> str:
    """Return the name of a device if it is there, else `auto`: what a run was trained on may be another machine's."""
    try:
        find_device(name)
    except ConfigError:
        return "auto"
    return name


def device_text(device: torch.device) -> str:
    """Return a device as people know it: `cuda:0 (NVIDIA A100-SXM4-40GB)`."""
    return f"{device} ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else str(device)


def send(values: Tensor | NDArray[Any], device: torch.device) -> Tensor:
    """Return values on a device, as a tensor; the same memory if they are there.

    To CUDA they go from pinned memory, so that the CPU need not wait until they are there.
    """
    if isinstance(values, np.ndarray):
        values = torch.from_numpy(values)
    if values.device == device:
        return values
    pinned = device.type == "cuda" and values.device == CPU and torch.cuda.is_available()
    return (values.pin_memory() if pinned else values).to(device, non_blocking=pinned)


def fetch(values: Tensor) -> Tensor:
    """Return values on the CPU, without their history; the same memory if they are there. It waits for the device."""
    return values.detach().cpu()


def widest(device: torch.device) -> torch.dtype:
    """Return the most precise numbers that a device has: MPS has none of double precision."""
    return torch.float32 if device.type == "mps" else torch.float64


def _best() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _without_cuda() -> str:
    build = torch.version.cuda or torch.version.hip
    if build is None:
        return (
            f"torch {torch.__version__} is a build without CUDA; install one with it ({WHERE}), or take the device cpu"
        )
    found = [f"cuda:{number} ({torch.cuda.get_device_name(number)})" for number in range(torch.cuda.device_count())]
    if found:
        return f"torch sees {', '.join(found)}; take one of these, or auto"
    return (
        f"torch {torch.__version__} is built for CUDA {build} and sees no such device; look at nvidia-smi and at "
        "CUDA_VISIBLE_DEVICES, or take the device cpu"
    )


def _without_mps() -> str:
    if not torch.backends.mps.is_built():
        return f"torch {torch.__version__} is a build without MPS, which only macOS has; take the device cpu"
    return "torch sees no GPU by Apple, or this macOS is too old for it; take the device cpu"
