"""One run in a process of its own: its memory can be measured, and its failure stops nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, TypeAlias

from foretime.config import Config, config_text
from foretime.errors import RunError
from foretime.experiments.bench.rows import Ending
from foretime.experiments.bench.shape import Status
from foretime.files import make_folder, write_text
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import jobs_left

Child: TypeAlias = "subprocess.Popen[str]"


def train_in_process(
    config: Config, folder: Path, lock: int, seconds: float = 0.0, report: Callable[[str], None] = lambda text: None
) -> Ending:
    """Train in a run folder, or resume there, for at most so many seconds (0: to the end); return how it ended.

    `lock` is that of `only_here`; `report` is given every line that the training reports. A training that is out of
    time or interrupted saves its state first. One whose models are all trained may fit its re-ranker and rank.
    """
    with _terminated_as_interrupted():
        began = time.monotonic()
        child = subprocess.Popen(
            [sys.executable, "-m", "foretime.experiments.bench.worker", *_words(config, folder)],
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C comes here, and is passed on to the training once
            pass_fds=[lock],
            env=_environment(config),
            encoding="utf-8",
            errors="replace",
        )
        faults: list[str] = []
        reader = threading.Thread(target=_listen, args=(child, report, faults), daemon=True)
        reader.start()
        status = _wait(child, folder, seconds)
        reader.join()
    spent = time.monotonic() - began
    if status != "ended":
        return Ending(status, spent)
    if child.returncode == 0:
        return Ending("finished", spent)
    return Ending("failed", spent, _fault(child, folder, faults))


def _listen(child: Child, report: Callable[[str], None], faults: list[str]) -> None:
    """Pass on what a training reports, and keep what it says to be wrong."""
    with child.stdout or nullcontext(()) as lines:  # closed in the end: a training never waits for its reader
        for line in lines:
            try:
                found = json.loads(line)
            except ValueError:  # printed by some library
                continue
            if "fault" in found:
                faults.append(found["fault"].strip().partition("\n")[0])
            else:
                report(found["text"])


def _environment(config: Config) -> dict[str, str]:
    """Return the environment of a training: its rules and evidence have as many threads as its matrix products."""
    threads = {"NUMBA_NUM_THREADS": str(config.training.threads)} if config.training.threads else {}
    return threads | os.environ


def _words(config: Config, folder: Path) -> list[str]:
    words = [str(folder), str(os.getpid())]
    if RunFolder(folder).config_file.exists():
        return words
    file = folder.parent / f"{folder.name}.toml"
    write_text(file, config_text(config))
    return [*words, str(file)]


def _wait(child: Child, folder: Path, seconds: float) -> Status | Literal["ended"]:
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


def _stop(child: Child, status: Status) -> Status | Literal["ended"]:
    """Ask a training to save its state and stop, at once if Ctrl-C comes again."""
    while True:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait()
        except KeyboardInterrupt:
            status = "interrupted"
            continue
        return "ended" if child.returncode == 0 else status


def _fault(child: Child, folder: Path, faults: list[str]) -> str:
    code = child.returncode
    how = f"killed by signal {-code}" if code < 0 else faults[0] if faults else f"exit code {code}"
    return f"{how}; foretime train --resume {folder} resumes it" if RunFolder(folder).config_file.exists() else how


@contextmanager
def only_here(folder: Path) -> Iterator[int | None]:
    """Hold the lock of a run folder and yield it, or None if another process has it.

    A training that has outlived its parent still holds it until it has saved its state.
    """
    path = _lock_file(folder)
    make_folder(path.parent)
    with path.open("w") as stream:
        if not _lock(stream.fileno(), exclusive=True) or not _is_there(stream.fileno(), path):
            yield None
            return
        yield None if _is_trained_in(folder) else stream.fileno()
        path.unlink(missing_ok=True)


def is_held(folder: Path) -> bool:
    """Return whether a process trains in a run folder."""
    try:
        with _lock_file(folder).open() as stream:
            return not _lock(stream.fileno(), exclusive=False) or _is_trained_in(folder)
    except FileNotFoundError:
        return _is_trained_in(folder)


def _is_trained_in(folder: Path) -> bool:
    """Return whether a process that no list has started trains in a run folder."""
    try:
        with RunFolder(folder).held():
            return False
    except RunError:
        return True


def _lock(descriptor: int, exclusive: bool) -> bool:
    """Lock an open file, if that can be done at once; return whether it was."""
    try:
        import fcntl

        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # Windows and some network disks have no locks
        pass
    return True


def _is_there(descriptor: int, path: Path) -> bool:
    """Return whether an open file has not been removed meanwhile by who held it."""
    return path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())


def _lock_file(folder: Path) -> Path:
    return folder.parent / f"{folder.name}.lock"


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Treat SIGTERM and a closed terminal as Ctrl-C, so that the training is stopped too."""
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
