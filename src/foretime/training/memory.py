"""Memory that a training keeps from one step to the next."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

TRIM_THRESHOLD, MMAP_THRESHOLD, MMAP_MAX = -1, -3, -4
"""The parameters of glibc's `mallopt` (malloc.h) that say when memory goes back to the system."""
KEPT = {MMAP_MAX: 0, TRIM_THRESHOLD: 2**31 - 1}
USUAL = {MMAP_MAX: 65_536, TRIM_THRESHOLD: 2**26, MMAP_THRESHOLD: 2**25}
"""What glibc comes to by itself in a program that takes large blocks."""


@contextmanager
def memory_kept() -> Iterator[None]:
    """While this is open, memory that is freed stays with the process.

    Every step takes and frees matrices of tens of megabytes. glibc has each of them from the system and gives it back,
    and the system clears all its pages for the next step (`benchmarks/training_speed.py`). Elsewhere nothing changes.
    """
    library = _glibc()
    if library is None:
        yield
        return
    _set(library, KEPT)
    try:
        yield
    finally:
        _set(library, USUAL)
        library.malloc_trim(0)


def _glibc() -> Any:
    """Return the C library, if it is glibc."""
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None


def _set(library: Any, values: dict[int, int]) -> None:
    for parameter, value in values.items():
        library.mallopt(parameter, value)
