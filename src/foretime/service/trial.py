"""Runs are tried before they are served: each in a process of its own, which may crash, hang or be too large.

A run folder is written by whoever trained it, and may be damaged. What reads it is careful, but a process that ends
takes every other run with it: so another one opens the run first, and asks it an example question.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, NamedTuple

import foretime
from foretime.service.settings import Settings
from foretime.service.trial_process import REFUSED, TOO_LARGE

SAYS_WHY = "the log of the service says why"
NOT_LOADED = f"cannot be loaded; {SAYS_WHY}"
PROGRAM = ("-P", "-m", "foretime.service.trial_process")
"""Without the working directory among the places of modules: it may be that of the runs."""
SECONDS_TO_SPARE = 10.0
"""How much longer the process is waited for, which ends itself and says where it was."""
SECONDS_TO_DIE = 5.0
DETAIL_AT_MOST = 4_000
"""Characters of what the process has said that the log keeps: the last ones."""
SECRETS = ("FORETIME_TOKEN",)
"""What the process has no need to know."""


class Failure(NamedTuple):
    """Why a run is not served: in words that any client may read, and in all detail for the log."""

    message: str
    detail: str


class Trial:
    """Tries runs, each in a process of its own."""

    def __init__(self, settings: Settings) -> None:
        self._seconds, self._memory, self.device = settings.load_seconds, settings.load_memory, settings.device
        self._under_way: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    @property
    def is_wanted(self) -> bool:
        """Whether runs are to be tried."""
        return self._seconds > 0

    def failure_of(self, name: str, path: Path) -> Failure | None:
        """Return why the run in a folder cannot be served, or nothing if it can."""
        begun = time.monotonic()
        with tempfile.TemporaryFile() as said:
            process = self._begin(name, path, said)
            try:
                code = process.wait(self._seconds + SECONDS_TO_SPARE)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                _kill(process)
                self._under_way.discard(process)
            is_late = code is None or (code == 1 and time.monotonic() - begun >= self._seconds)
            return None if code == 0 else self._failure(code, is_late, _end_of(said, code))

    def stop(self) -> None:
        """End the processes that are under way, and begin no others."""
        self._stopped = True
        for process in list(self._under_way):
            _kill(process)

    def _begin(self, name: str, path: Path, said: IO[bytes]) -> subprocess.Popen[bytes]:
        words = [sys.executable, *PROGRAM, name, str(path)]
        words += [str(self._seconds), str(int(self._memory * 2**30)), *filter(None, [self.device])]
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=_environment(), start_new_session=True
        )
        self._under_way.add(process)
        if self._stopped:  # meanwhile
            _kill(process)
        return process

    def _failure(self, code: int | None, is_late: bool, detail: str) -> Failure:
        if is_late:
            message = f"cannot be loaded within {self._seconds:g} s; {SAYS_WHY}"
            return Failure(message, f"{detail}; if it needs longer, raise --load-seconds")
        if code == TOO_LARGE:
            message = f"cannot be loaded with {self._memory:g} GiB of memory; {SAYS_WHY}"
            return Failure(message, f"{detail}; if it needs more memory, raise --load-memory")
        if code == REFUSED:
            return Failure(NOT_LOADED, detail)
        return Failure(f"cannot be loaded: it ended the process that tried it; {SAYS_WHY}", detail)


def _environment() -> dict[str, str]:
    """Return the environment of the process: this package, and one thread, so that questions have the others."""
    kept = {name: value for name, value in os.environ.items() if name not in SECRETS}
    places = [str(Path(foretime.__file__).parents[1]), *filter(None, [kept.get("PYTHONPATH")])]
    return kept | {"PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # it may wait for a disk that does not answer
            process.wait(SECONDS_TO_DIE)


def _end_of(said: IO[bytes], code: int | None) -> str:
    """Return how a process ended, and the last that it said."""
    ended = "killed" if code is None else f"exit code {code}"
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):  # a number without a name
            ended = signal.Signals(-code).name
    size = said.seek(0, os.SEEK_END)
    said.seek(max(0, size - DETAIL_AT_MOST))
    words = said.read().decode("utf-8", "replace").strip()
    return words if code in (REFUSED, TOO_LARGE) else f"{ended}: {words}"
