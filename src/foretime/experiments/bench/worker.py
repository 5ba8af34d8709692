"""The process that trains one run of a list and reports by lines of JSON; `process.train_in_process` starts it.

    python -m foretime.experiments.bench.worker FOLDER PARENT [CONFIG]

It resumes the run in FOLDER, or creates it from CONFIG. Once the process PARENT is gone it saves its state and stops.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from foretime.config import read_config
from foretime.data.graph import read_graph
from foretime.errors import ForetimeError, Interrupted
from foretime.runs.life import create_run, resume
from foretime.training.callbacks import Callback, TrainingPlan

STANDARD_OUTPUT, INTERRUPTED, FAILED = 1, 130, 2


class WorkerCallback(Callback):
    """Reports epochs and steps; stops after a SIGTERM, at once after a second one, or when the parent is gone."""

    def __init__(self, parent: int) -> None:
        self._parent, self._stop, self._training = parent, False, False
        self._handler: Any = signal.SIG_DFL

    def begin(self, plan: TrainingPlan) -> None:
        """Catch SIGTERM: outside of training there is no state to save."""
        self._training = True
        self._handler = signal.signal(signal.SIGTERM, self._on_signal)

    def end(self) -> None:
        """Give the signal back."""
        self._training = False
        signal.signal(signal.SIGTERM, self._handler)

    def epoch(self, record: dict[str, Any]) -> None:
        """Report an epoch."""
        job = f"{record['job']}: " if record.get("job") else ""
        losses = (f"{name} {value:.4f}" for name, value in record.items() if name.endswith("loss"))
        mrr = [f"valid MRR {record['valid_mrr']:.4f}"] if "valid_mrr" in record else []
        send(text="  ".join([f"{job}epoch {record['epoch']:>3}", *losses, f"{record['seconds']:.0f} s", *mrr]))

    def announce(self, text: str) -> None:
        """Report what begins after training; within it, epochs say enough."""
        if not self._training:
            send(text=f"{text} …")

    def stop_wanted(self) -> bool:
        """Whether a signal has come or the parent is gone."""
        return self._stop or os.getppid() != self._parent

    def _on_signal(self, number: int, _frame: object) -> None:
        if self._stop:
            raise KeyboardInterrupt
        self._stop = True


def send(**content: str) -> None:
    """Write a line of JSON to the parent, if it is still there."""
    with suppress(OSError):
        os.write(STANDARD_OUTPUT, (json.dumps(content) + "\n").encode())


def work(folder: Path, parent: int, config_file: Path | None = None) -> int:
    """Train a run to its end and return the exit code."""
    callback = WorkerCallback(parent)
    try:
        if config_file is not None:
            config = read_config(config_file)
            create_run(read_graph(config.data.path, config.data), config, folder, callback)
        resume(folder, callback)
    except (Interrupted, KeyboardInterrupt):
        return INTERRUPTED
    except ForetimeError as error:
        send(fault=str(error))
        return FAILED
    except Exception as error:
        send(fault=f"{type(error).__name__}: {error}")
        raise
    return 0


if __name__ == "__main__":
    sys.exit(work(Path(sys.argv[1]), int(sys.argv[2]), *map(Path, sys.argv[3:])))
