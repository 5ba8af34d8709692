"""Training as seen in a terminal: a bar where there is one, a line for each epoch where there is not."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import Any

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from foretime.cli.tables import error_console as console
from foretime.runs.caller import caller_is_gone
from foretime.training.callbacks import Callback, Plan

STANDARD_ERROR = 2
CLEAR_LINE = "\r\x1b[2K"
"""What takes the bar off its line of a terminal; it comes again on the next one."""


class TerminalProgress(Callback):
    """Shows loss, speed, time left and the last MRR on valid; Ctrl-C or SIGTERM stop training after a step."""

    def __init__(self) -> None:
        self._bar = Progress(
            TextColumn("epoch {task.fields[epoch]}/{task.fields[epochs]}"),
            BarColumn(bar_width=24),
            TextColumn(
                "loss {task.fields[loss]:.4f}  {task.fields[speed]:,.0f} questions/s  "
                "{task.fields[left]} left  valid MRR {task.fields[mrr]}"
            ),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None
        self._stop = False
        self._handlers: dict[int, Any] = {}

    def begin(self, plan: Plan) -> None:
        """Start the bar, and catch the signals that would stop training."""
        self._plan, self._began, self._done = plan, time.monotonic(), 0
        self._before = (plan.epoch - 1) * plan.steps + plan.step
        self._mrr = "-" if plan.best_mrr is None else f"{plan.best_mrr:.4f}"
        fields: dict[str, Any] = {
            "epoch": plan.epoch,
            "epochs": plan.epochs,
            "loss": 0.0,
            "speed": 0.0,
            "left": "?",
            "mrr": self._mrr,
        }
        self._task = self._bar.add_task("", total=plan.epochs * plan.steps, completed=self._before, **fields)
        self._bar.start()
        for number in (signal.SIGINT, signal.SIGTERM):
            self._handlers[number] = signal.signal(number, self._on_signal)

    def step(self, epoch: int, step: int, loss: float) -> None:
        """Move the bar on."""
        self._done += 1
        if self._task is not None:
            seconds = (time.monotonic() - self._began) / self._done
            left = self._plan.epochs * self._plan.steps - self._before - self._done
            self._bar.update(
                self._task,
                advance=1,
                epoch=epoch,
                loss=loss,
                speed=self._plan.questions / self._plan.steps / seconds,
                left=_duration(left * seconds),
                mrr=self._mrr,
            )

    def epoch(self, record: dict[str, Any]) -> None:
        """Print a line for an epoch that was evaluated; for every epoch where there is no bar."""
        if "valid_mrr" in record:
            self._mrr = f"{record['valid_mrr']:.4f}"
        if "valid_mrr" in record or not console.is_terminal:
            losses = "  ".join(f"{name} {value:.4f}" for name, value in record.items() if name.endswith("loss"))
            stage = f"{record['job']}: " if record.get("job") else ""
            console.print(
                f"{stage}epoch {record['epoch']:>3}  {losses}  {_duration(record['seconds'])}"
                + (f"  valid MRR {self._mrr}" if "valid_mrr" in record else ""),
                soft_wrap=True,
            )

    def announce(self, text: str) -> None:
        """Say what begins."""
        if self._task is None:
            console.print(f"{text} …")

    def end(self) -> None:
        """Take the bar away and give the signals back."""
        self._bar.stop()
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = None
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()

    def stop_wanted(self) -> bool:
        """Whether a signal has come, or who has started this training is gone."""
        return self._stop or caller_is_gone()

    def _on_signal(self, number: int, _frame: object) -> None:
        if self._stop:
            raise KeyboardInterrupt
        self._stop = True
        # past the console: a signal may come in the middle of something that it prints, or imports to print it
        line = "stopping after this step; once more to stop at once\n"
        with suppress(OSError):
            os.write(STANDARD_ERROR, f"{CLEAR_LINE if console.is_terminal else ''}{line}".encode())


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
