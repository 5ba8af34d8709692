"""The library that disturbs calls of the system: compiled when it is needed, told what to do through a mapped file."""

from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
VARIABLE = "FORETIME_FAULTS"
KILL_BEFORE, KILL_WITHIN, FULL, BROKEN = 1, 2, 3, 4
"""What becomes of a call, as `shim.c` numbers it: killed before it, killed half-way, a full disk, a broken one."""
CALLS = {
    "w": "write",
    "f": "fsync",
    "r": "rename",
    "u": "unlink",
    "o": "open to create",
    "t": "truncate",
    "l": "link",
    "m": "mkdir",
    "d": "rmdir",
}
_HEAD = struct.Struct("<qqqq1024s")
_LOGGED = 16_384
SIZE = _HEAD.size + _LOGGED


def compiled(folder: Path) -> Path | None:
    """Return the library, compiled into a folder; nothing where there is no compiler."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return None
    library = folder / "shim.so"
    words = [compiler, "-O2", "-Wall", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(words, check=True)
    return library


def environment(folder: Path) -> dict[str, str]:
    """Return the environment in which calls are disturbed; the same as now where there is no compiler."""
    library = compiled(folder)
    if library is None:
        return dict(os.environ)
    state = folder / "wanted"
    state.write_bytes(bytes(SIZE))
    return os.environ | {"LD_PRELOAD": str(library), VARIABLE: str(state)}


class Shim:
    """What the preloaded library is told, and what it has counted; without the library nothing is disturbed."""

    def __init__(self) -> None:
        path = os.environ.get(VARIABLE)
        self.is_there = path is not None
        self._map = mmap.mmap(-1, SIZE)
        if path is not None:
            with open(path, "r+b") as stream:
                self._map = mmap.mmap(stream.fileno(), SIZE)

    @contextmanager
    def watching(self, folder: Path, at: int = 0, action: int = 0) -> Iterator[None]:
        """Count the calls on files below a folder, and disturb the one of this number, from 1."""
        self._map[:] = _HEAD.pack(0, at, action, os.getpid(), os.fsencode(folder)) + bytes(_LOGGED)
        try:
            yield
        finally:
            self._map[: _HEAD.size] = _HEAD.pack(self.count, 0, 0, os.getpid(), b"")

    @property
    def count(self) -> int:
        """How many calls there were."""
        return int(_HEAD.unpack(self._map[: _HEAD.size])[0])

    def calls(self) -> str:
        """Return a letter for each call."""
        if self.count > _LOGGED:
            raise ValueError(f"{self.count} calls are more than are kept")
        return self._map[_HEAD.size : _HEAD.size + self.count].decode("ascii")
