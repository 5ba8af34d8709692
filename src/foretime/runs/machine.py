"""What the figures of a report were made with: versions, threads, memory."""

from __future__ import annotations

import platform
import sys
from typing import Any

import torch

import foretime


def machine() -> dict[str, Any]:
    """Return the versions, the threads and the processor of this process."""
    return {
        "foretime": foretime.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "processor": platform.machine(),
    }


def peak_memory_mb() -> float | None:
    """Return the most memory that this process or one of its children has held so far; None where unknown (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    peak = max(resource.getrusage(whose).ru_maxrss for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)
