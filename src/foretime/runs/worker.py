"""A process that does one job of a run and reports its epochs as lines of JSON: `parallel` starts it."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from foretime.errors import ForetimeError, Interrupted
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import Job, train_job
from foretime.training.callbacks import Callback

INTERRUPTED, FAILED, STANDARD_OUTPUT = 130, 2, 1


class ChildCallback(Callback):
    """Reports every epoch to the process that started this one; stops at a signal, or when its parent is gone."""

    def __init__(self, parent: int) -> None:
        self._stop, self._parent = False, parent

    def epoch(self, record: dict[str, Any]) -> None:
        """Report it."""
        send(record)

    def stop_wanted(self) -> bool:
        """Whether to stop."""
        return self._stop or (os.name == "posix" and os.getppid() != self._parent)

    def ask_to_stop(self) -> None:
        """Stop after this step."""
        self._stop = True


def send(content: dict[str, Any]) -> None:
    """Write a line of JSON to the parent, if it is still there."""
    with suppress(OSError):
        os.write(STANDARD_OUTPUT, (json.dumps(content) + "\n").encode())


def _work(folder: Path, job: Job, threads: int, parent: int) -> int:
    """Do one job of a run, as a child of the process `parent`, and return the exit code."""
    callback = ChildCallback(parent)
    signal.signal(signal.SIGTERM, lambda *_: callback.ask_to_stop())
    try:
        run = RunFolder.open(folder)
        graph, config = run.graph(), run.config()
        training = config.training.model_copy(update={"threads": threads})
        config = config.model_copy(update={"training": training})
        train_job(job, run, config, graph, run.rules(graph), callback)
    except Interrupted:
        return INTERRUPTED
    except ForetimeError as error:
        send({"fault": str(error)})
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(_work(Path(sys.argv[1]), Job(*json.loads(sys.argv[2])), int(sys.argv[3]), int(sys.argv[4])))
