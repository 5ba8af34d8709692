"""A process that trains one stage of a run, and tells by lines of JSON how it goes on: `side_by_side` starts it."""

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


class Telling(Callback):
    """Tells every epoch by a line of JSON; stops when it is told to, or when nobody is there any more to listen."""

    def __init__(self, parent: int) -> None:
        self._stop = False
        self._parent = parent
        signal.signal(signal.SIGTERM, self._on_signal)

    def epoch(self, record: dict[str, Any]) -> None:
        """Tell it."""
        _tell(record)

    def stop_wanted(self) -> bool:
        """Whether the time has come."""
        return self._stop or os.getppid() != self._parent

    def _on_signal(self, number: int, _frame: object) -> None:
        self._stop = True


def _tell(content: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


def _work(folder: Path, stage: Job, threads: int, parent: int) -> int:
    """Train one stage of a run, as a child of the process `parent`, and return the exit code."""
    callback = Telling(parent)
    try:
        run = RunFolder.open(folder)
        graph, config = run.graph(), run.config()
        training = config.training.model_copy(update={"threads": threads})
        config = config.model_copy(update={"training": training})
        train_job(stage, run, config, graph, run.rules(graph), callback)
    except Interrupted:
        return 130
    except ForetimeError as error:
        _tell({"fault": str(error)})
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(_work(Path(sys.argv[1]), Job(*json.loads(sys.argv[2])), int(sys.argv[3]), int(sys.argv[4])))
