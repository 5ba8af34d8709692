"""Files that are whole or not there: every write goes to a temporary file first, which then takes the place.

What is read, changed and written again is done while the folder is held, or another process would lose its change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that a crash at any moment leaves either the old content or the new one."""
    # always the same name: what a killed process has left is overwritten by the next one
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, content: str) -> None:
    """Write a UTF-8 text file, whole or not at all."""
    write_bytes(path, content.encode("utf-8"))


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file that people can read too, whole or not at all."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


@contextmanager
def hold(folder: Path, wait: bool = True) -> Iterator[int]:
    """Hold a folder, so that no other process holds it; without waiting, one that does is a `BlockingIOError`.

    It is held by a descriptor, which is given: a process that it is passed on to holds the folder too.
    """
    import fcntl  # only where something is held: there is none on Windows

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor
    finally:
        os.close(descriptor)
