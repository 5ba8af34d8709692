"""Kernels are compiled once for all processes that run the tests: who needs one that another compiles waits for it."""

import fcntl
from pathlib import Path

import pytest


def compile_once(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Hold a lock for each kernel while it is compiled; who held it before has written it to the cache of kernels."""
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_ = Dispatcher.compile

    def locked(kernel: Dispatcher, signature: object) -> object:
        name = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
        if not name.startswith("foretime."):  # numba's own are in no cache
            return compile_(kernel, signature)
        # numba's lock comes first, as it does when a kernel is compiled for another: no two threads wait for each other
        with global_compiler_lock, (folder / f"{name}.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            return compile_(kernel, signature)

    patch.setattr(Dispatcher, "compile", locked)
