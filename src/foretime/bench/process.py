"""One run in a process of its own: its memory can be measured, and what goes wrong there stops nothing else."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foretime.bench.rows import Ending
from foretime.config import Config, config_text
from foretime.errors import RunError
from foretime.files import write_text
from foretime.training import RunFolder
from foretime.training.checkpoint import read_progress


def train_in_process(config: Config, folder: Path, seconds: float = 0.0) -> Ending:
    """Train in a run folder, or go on there, for so many seconds at the most (0: to the end); return how it ended.

    A training that is out of time or interrupted saves its state first. One that has only the ranking of its weights
    before it is let through.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _only_here(folder) as lock, _terminated_as_interrupted():
        began = time.monotonic()
        child = subprocess.Popen(
            [sys.executable, "-m", "foretime", "train", *_words(config, folder)],
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C comes here, and goes on to the training once
            pass_fds=[lock],
        )
        status = _wait(child, folder, seconds)
        spent = time.monotonic() - began
    if status == "ended":
        return Ending("finished", spent) if child.returncode == 0 else Ending("failed", spent, _fault(child, folder))
    return Ending("over budget" if status == "over budget" else "interrupted", spent)


def _words(config: Config, folder: Path) -> list[str]:
    if RunFolder(folder).config_file.exists():
        return ["--resume", str(folder)]
    file = folder.parent / f"{folder.name}.toml"
    write_text(file, config_text(config))
    return ["--config", str(file), "--out", str(folder)]


def _wait(child: subprocess.Popen[bytes], folder: Path, seconds: float) -> str:
    try:
        child.wait(timeout=seconds or None)
    except subprocess.TimeoutExpired:
        if _is_trained(folder):
            child.wait()
            return "ended"
        return _stop(child, "over budget")
    except KeyboardInterrupt:
        return _stop(child, "interrupted")
    return "ended"


def _stop(child: subprocess.Popen[bytes], status: str) -> str:
    """Ask a training to save its state and stop, at once if Ctrl-C comes again."""
    while True:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait()
        except KeyboardInterrupt:
            status = "interrupted"
            continue
        return "ended" if child.returncode == 0 else status


def _is_trained(folder: Path) -> bool:
    last = RunFolder(folder).last_file
    return last.exists() and read_progress(last).finished


def _fault(child: subprocess.Popen[bytes], folder: Path) -> str:
    how = f"killed by signal {-child.returncode}" if child.returncode < 0 else f"exit code {child.returncode}"
    return f"{how}; foretime train --resume {folder} goes on" if folder.exists() else how


@contextmanager
def _only_here(folder: Path) -> Iterator[int]:
    """Hold the lock of a run folder; a training that has outlived its caller still holds it."""
    path = folder.parent / f"{folder.name}.lock"
    with path.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunError(f"{folder}: another process trains there; wait for it, or end it") from None
        yield stream.fileno()
    path.unlink(missing_ok=True)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Hear SIGTERM as Ctrl-C, so that the training is stopped too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
