"""A process that does one task and reports by lines of JSON; `processes.Child` starts it."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from foretime.errors import ForetimeError, Interrupted
from foretime.files import hold_file
from foretime.runs.executor.base import FAILED, INTERRUPTED
from foretime.training.callbacks import Callback, TrainingPlan

STANDARD_OUTPUT = 1
SECONDS_BETWEEN_TRIES = 0.2


class Reporter(Callback):
    """Reports epochs and phases; stops after a SIGTERM, at once after a second one, or when its parent is gone."""

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
        send(epoch=record)

    def announce(self, text: str) -> None:
        """Report what begins after training; within it, epochs say enough."""
        if not self._training:
            send(text=f"{text} …")

    def stop_wanted(self) -> bool:
        """Whether a signal has come or the parent is gone."""
        return self._stop or (os.name == "posix" and os.getppid() != self._parent)

    def _on_signal(self, number: int, _frame: object) -> None:
        if self._stop:
            raise KeyboardInterrupt
        self._stop = True


def send(**content: Any) -> None:
    """Write a line of JSON to the parent, if it is still there."""
    with suppress(OSError):
        os.write(STANDARD_OUTPUT, (json.dumps(content) + "\n").encode())


def work(request: dict[str, Any], parent: int) -> int:
    """Do what is requested, as a child of the process `parent`, and return the exit code."""
    reporter = Reporter(parent)
    try:
        with _alone(Path(request["lock"]), reporter):
            module, _, name = request["function"].partition(":")
            getattr(importlib.import_module(module), name)(reporter, **request["arguments"])
    except (Interrupted, KeyboardInterrupt):
        return INTERRUPTED
    except ForetimeError as error:
        send(fault=str(error))
        return FAILED
    except Exception as error:
        send(fault=f"{type(error).__name__}: {error}")
        raise
    return 0


@contextmanager
def _alone(path: Path, reporter: Reporter) -> Iterator[None]:
    """Wait until no other process does the same task: one whose node was given up may still save its state."""
    while not reporter.stop_wanted():
        with hold_file(path) as lock:
            if lock is not None:
                yield
                return
        time.sleep(SECONDS_BETWEEN_TRIES)
    raise Interrupted("stopped")


if __name__ == "__main__":
    sys.exit(work(json.loads(sys.argv[1]), int(sys.argv[2])))
