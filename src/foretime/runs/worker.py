"""A process that does one job of a run and reports its epochs as lines of JSON: `parallel` starts it."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from foretime.errors import ForetimeError, Interrupted
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import Job, train_job
from foretime.training.callbacks import Callback


class JsonLines(Callback):
    """Reports every epoch as a line of JSON; stops at SIGTERM, or when its parent is gone."""

    def __init__(self, parent: int) -> None:
        self._stop = False
        self._parent = parent
        signal.signal(signal.SIGTERM, self._on_signal)

    def epoch(self, record: dict[str, Any]) -> None:
        """Report it."""
        _report(record)

    def stop_wanted(self) -> bool:
        """Whether to stop."""
        return self._stop or (os.name == "posix" and os.getppid() != self._parent)

    def _on_signal(self, number: int, _frame: object) -> None:
        self._stop = True


def _report(content: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


def _work(folder: Path, job: Job, threads: int, device: str, parent: int) -> int:
    """Do one job of a run, as a child of the process `parent`, and return the exit code."""
    callback = JsonLines(parent)
    try:
        run = RunFolder.find(folder, device)
        graph, config = run.graph(), run.config()
        training = config.training.model_copy(update={"threads": threads})
        config = config.model_copy(update={"training": training})
        train_job(job, run, config, graph, run.rules(graph), callback)
    except Interrupted:
        return 130
    except ForetimeError as error:
        _report({"fault": str(error)})
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(_work(Path(sys.argv[1]), Job(*json.loads(sys.argv[2])), int(sys.argv[3]), sys.argv[4], int(sys.argv[5])))
