"""Kernels over many questions on several threads: cut into runs, of which each thread takes the next."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from typing import Any

import numba
from numba import njit


def in_runs(kernel: Callable[..., None]) -> Callable[..., None]:
    """Compile `kernel(…, runs, run)`, and return a function of all but the last, which calls it for each run.

    The kernel holds no lock of Python. As a loop of numba's own over threads it would do the same, but take three times
    as long to compile.
    """
    compiled = njit(cache=True, nogil=True)(kernel)

    @wraps(kernel)
    def call(*arguments: Any) -> None:
        runs = arguments[-1]
        if runs <= 1 or _threads_at_most() == 1:
            for run in range(runs):
                compiled(*arguments, run)
        else:
            list(_threads().map(lambda run: compiled(*arguments, run), range(runs)))

    return call


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_threads_at_most(), thread_name_prefix="kernel")


def _threads_at_most() -> int:
    """Return how many threads numba may use: its environment variable says so, or the number of cores."""
    return int(vars(numba.config)["NUMBA_NUM_THREADS"])
