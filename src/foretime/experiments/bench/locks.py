"""Who trains the runs of a list: two calls share them, and nobody trains a run that another process does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foretime.errors import RunError
from foretime.files import hold_file, lock_at_once, make_folder
from foretime.runs.folder import RunFolder


@contextmanager
def only_here(folder: Path) -> Iterator[int | None]:
    """Hold the lock of a run folder and yield it, or None if another process has it.

    A training that has outlived its parent still holds it until it has saved its state.
    """
    path = _lock_file(folder)
    make_folder(path.parent)
    with hold_file(path) as lock:
        yield None if lock is None or _is_trained_in(folder) else lock


def is_held(folder: Path) -> bool:
    """Return whether a process trains in a run folder."""
    try:
        with _lock_file(folder).open() as stream:
            return not lock_at_once(stream.fileno(), exclusive=False) or _is_trained_in(folder)
    except FileNotFoundError:
        return _is_trained_in(folder)


def _is_trained_in(folder: Path) -> bool:
    """Return whether a process that no list has started trains in a run folder."""
    try:
        with RunFolder(folder).held():
            return False
    except RunError:
        return True


def _lock_file(folder: Path) -> Path:
    return folder.parent / f"{folder.name}.lock"
