"""The precision in which training multiplies questions with entities."""

from __future__ import annotations

import torch

from foretime.config import TrainingConfig


def products_in(precision: str) -> torch.autocast:
    """Return a context in which matrix products, and their gradients later, have the named precision."""
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bfloat16")


def precision_warning(config: TrainingConfig) -> str | None:
    """Return a warning if bfloat16 is configured on a processor without instructions for it, else nothing."""
    if config.precision == "single" or has_bfloat16():
        return None
    return (
        'this processor has no instructions for bfloat16: training.precision = "bfloat16" is much slower on it than '
        '"single"'
    )


def has_bfloat16() -> bool:
    """Return whether the processor multiplies in bfloat16 by instructions of its own."""
    found = torch.cpu.get_capabilities()
    return any(bool(found.get(name)) for name in ("avx512_bf16", "amx_bf16", "bf16"))
