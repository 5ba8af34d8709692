"""Tasks in processes of this machine. What they report comes as lines of JSON through a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from foretime.runs.executor.base import End, Executor, Report, Task

WORKER = "foretime.runs.executor.worker"
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


class Processes(Executor):
    """Does so many tasks at a time, each in a process of this machine."""

    def __init__(self, jobs: int = 1) -> None:
        super().__init__()
        self.jobs = jobs
        self._children: dict[Task, Child] = {}

    def has_room(self, threads: int) -> bool:
        """Return whether fewer tasks are under way than may be."""
        return len(self.working) < self.jobs

    def _begin(self, task: Task, lock: int | None) -> None:
        def hear(heard: Report | End) -> None:
            self._hear(task, heard)

        self._children[task] = Child(task.request(), hear, lock)

    def _ask_to_stop(self, task: Task) -> None:
        self._children[task].process.terminate()

    def _kill(self, task: Task) -> None:
        self._children[task].process.kill()


class Child:
    """A process that does one task."""

    def __init__(
        self, request: Report, hear: Callable[[Report | End], None], lock: int | None = None, cwd: Path | None = None
    ) -> None:
        """Start it; `hear` is called with everything that it reports and, once, with its end, by another thread."""
        self._hear, self._fault = hear, ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", WORKER, json.dumps(request), str(os.getpid())],
            stdout=subprocess.PIPE,
            pass_fds=() if lock is None else (lock,),  # it may outlive its parent, and holds the folder till then
            start_new_session=True,  # Ctrl-C goes to the parent, which stops it in turn
            env=environment(request["threads"]),
            cwd=cwd,
            encoding="utf-8",
            errors="replace",
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            for line in self.process.stdout or ():
                self._take(line)
        finally:
            self._hear(End(self.process.wait(), self._fault))

    def _take(self, line: str) -> None:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):  # a message of some library
            sys.stderr.write(line)
        elif "fault" in found:
            self._fault = found["fault"]
        else:
            self._hear(found)


def environment(threads: int) -> dict[str, str]:
    """Return the environment of a process that has so many threads, or fewer if the caller's own says so."""
    found = dict(os.environ)
    for name in THREADS if threads else ():
        own = found.get(name, "")
        found[name] = str(min(threads, int(own)) if own.isdecimal() and int(own) else threads)
    return found
