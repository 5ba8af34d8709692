"""One run in a process of its own: its memory can be measured, and what goes wrong there stops nothing else."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foretime.config import Config, config_text
from foretime.errors import RunError
from foretime.experiments.bench.rows import Ending
from foretime.files import write_text
from foretime.runs.caller import FaultPipe
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import jobs_left


def train_in_process(config: Config, folder: Path, lock: int, seconds: float = 0.0) -> Ending:
    """Train in a run folder, or go on there, for so many seconds at the most (0: to the end); return how it ended.

    `lock` is that of `only_here`. A training that is out of time or interrupted saves its state first. One whose model
    is trained is let through: a second stage and the ranking are before it.
    """
    with _terminated_as_interrupted(), FaultPipe() as faults:
        began = time.monotonic()
        child = subprocess.Popen(
            [sys.executable, "-m", "foretime", "train", *_words(config, folder)],
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C comes here, and goes on to the training once
            pass_fds=[lock, faults.descriptor],
            env=_environment(config) | faults.environment(),
        )
        status = _wait(child, folder, seconds)
        spent = time.monotonic() - began
        told = faults.fault()
    if status == "ended":
        done = child.returncode == 0
        return Ending("finished", spent) if done else Ending("failed", spent, _fault(child, folder, told))
    return Ending("over budget" if status == "over budget" else "interrupted", spent)


def _environment(config: Config) -> dict[str, str]:
    """Return the environment of a training: its rules and evidence have as many threads as its matrix products."""
    threads = {"NUMBA_NUM_THREADS": str(config.training.threads)} if config.training.threads else {}
    return threads | os.environ


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
        run = RunFolder(folder)
        if run.config_file.exists() and not jobs_left(run, run.config()):
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


def _fault(child: subprocess.Popen[bytes], folder: Path, told: str) -> str:
    how = f"killed by signal {-child.returncode}" if child.returncode < 0 else told or f"exit code {child.returncode}"
    return f"{how}; foretime train --resume {folder} goes on" if RunFolder(folder).config_file.exists() else how


@contextmanager
def only_here(folder: Path) -> Iterator[int | None]:
    """Hold the lock of a run folder and give it, or nothing if another process has it.

    A training that has outlived its caller still holds it, until it has missed it and saved its state.
    """
    path = _lock_file(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as stream:
        if not _lock(stream.fileno(), fcntl.LOCK_EX) or not _is_there(stream.fileno(), path):
            yield None
            return
        yield None if _is_trained_in(folder) else stream.fileno()
        path.unlink(missing_ok=True)


def is_held(folder: Path) -> bool:
    """Return whether a process trains in a run folder."""
    try:
        with _lock_file(folder).open() as stream:
            return not _lock(stream.fileno(), fcntl.LOCK_SH) or _is_trained_in(folder)
    except FileNotFoundError:
        return _is_trained_in(folder)


def _is_trained_in(folder: Path) -> bool:
    """Return whether somebody trains in a run folder who was not called by a list."""
    try:
        with RunFolder(folder).held():
            return False
    except RunError:
        return True


def _lock(descriptor: int, kind: int) -> bool:
    """Lock an open file, if that can be done at once; return whether it was."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network disks have no locks
        pass
    return True


def _is_there(descriptor: int, path: Path) -> bool:
    """Return whether an open file has not been removed meanwhile by who held it."""
    return path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())


def _lock_file(folder: Path) -> Path:
    return folder.parent / f"{folder.name}.lock"


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Hear SIGTERM and a closed terminal as Ctrl-C, so that the training is stopped too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]  # nohup ignores SIGHUP
    for number in heard:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])
