"""The precision in which training multiplies questions with entities."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch

from foretime.config import TrainingConfig
from foretime.devices import CPU, device_text, find_device


def products_in(precision: str, device: torch.device = CPU) -> AbstractContextManager[object]:
    """Return a context in which matrix products on a device, and their gradients later, have the named precision."""
    return torch.autocast(device.type, dtype=torch.bfloat16) if precision == "bfloat16" else nullcontext()


def precision_warning(config: TrainingConfig) -> str | None:
    """Return a warning if bfloat16 is configured on a device without instructions for it, else nothing."""
    device = find_device(config.device)
    if config.precision == "single" or has_bfloat16(device):
        return None
    named = "this processor" if device == CPU else device_text(device)
    return (
        f'{named} has no instructions for bfloat16: training.precision = "bfloat16" is much slower on it than "single"'
    )


def has_bfloat16(device: torch.device = CPU) -> bool:
    """Return whether a device multiplies in bfloat16 by instructions of its own; of MPS torch does not say it."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    found = torch.cpu.get_capabilities()
    own = any(bool(found.get(name)) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    return own or device.type == "mps"
