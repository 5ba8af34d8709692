"""Commands of foretime in processes of their own: forked from this one, which has loaded everything, or begun anew."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from foretime.service.trial_process import limit_memory

SECONDS = 60.0
"""How long a command may take: many times what any of these does."""
MEMORY = 1 << 30
"""How many bytes a command may take beside those that it begins with."""


class Ended(NamedTuple):
    """How a process has ended."""

    code: int
    """The exit code, or minus the number of the signal."""
    out: str
    err: str
    seconds: float
    late: bool
    """Whether it was ended because it took too long."""


def command_line(words: Sequence[str]) -> Callable[[], int]:
    """Return what runs a command of foretime in this process, and gives its exit code."""

    def run() -> int:
        from foretime.cli import main

        sys.argv = ["foretime", *words]
        try:
            main()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        return 0

    return run


def forked(act: Callable[[], int], scratch: Path, kill_after: float | None = None) -> Ended:
    """Do something in a child of this process; kill it after some seconds if it has not ended by then."""
    begun, files = time.monotonic(), (scratch / "out", scratch / "err")
    for file in files:  # it may be killed before it has opened them
        file.write_bytes(b"")
    child = os.fork()
    if child == 0:
        _be_the_child(act, files)
    return _ended(child, files, begun, kill_after)


def begun_anew(words: Sequence[str], scratch: Path, kill_after: float | None = None) -> Ended:
    """Run a command in a new interpreter."""
    begun, files = time.monotonic(), (scratch / "out", scratch / "err")
    with files[0].open("wb") as out, files[1].open("wb") as err:
        process = subprocess.Popen([sys.executable, "-m", "foretime", *words], stdout=out, stderr=err)
    return _ended(process.pid, files, begun, kill_after)


def _be_the_child(act: Callable[[], int], files: tuple[Path, Path]) -> None:
    """Do what is to be done, with its output in files, and end; nothing of the parent is flushed or closed."""
    code = 1
    try:
        for number, file in enumerate(files, start=1):
            os.dup2(os.open(file, os.O_WRONLY | os.O_TRUNC), number)
        limit_memory(MEMORY)
        code = act()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _ended(child: int, files: tuple[Path, Path], begun: float, kill_after: float | None) -> Ended:
    waited = select.poll()
    descriptor = os.pidfd_open(child)
    try:
        waited.register(descriptor, select.POLLIN)
        limit = SECONDS if kill_after is None else kill_after
        late = not waited.poll(1000 * limit)
        if late:
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    finally:
        os.close(descriptor)
    out, err = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    code = os.waitstatus_to_exitcode(status)
    return Ended(code, out, err, time.monotonic() - begun, late and kill_after is None)
