"""Callbacks that follow a training: a terminal, TensorBoard, a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from foretime.errors import ConfigError


class TrainingPlan(NamedTuple):
    """What lies before a training: epochs, steps and questions in each, and where it starts or resumes."""

    epochs: int
    steps: int
    questions: int
    epoch: int
    step: int
    best_mrr: float | None


class Callback:
    """Is called at every step, epoch and phase of a training; override what you need.

    class Losses(ft.Callback):
        def epoch(self, record):
            print(record["epoch"], record.get("valid_mrr"))
    """

    def begin(self, plan: TrainingPlan) -> None:
        """Training starts, or resumes where it was interrupted."""

    def step(self, epoch: int, step: int, loss: float) -> None:
        """A step is done; the loss is a mean over the epoch so far."""

    def epoch(self, record: dict[str, Any]) -> None:
        """An epoch is done; the record is its line of the trace.

        Its key `job` is the name of the training within the run, empty for the run's own.
        """

    def announce(self, text: str) -> None:
        """Something else begins, such as ranking valid."""

    def warn(self, text: str) -> None:
        """Something deserves a second look, such as facts that are in two splits."""

    def end(self) -> None:
        """Training is over, for whatever reason."""

    def stop_wanted(self) -> bool:
        """Whether training should save its state and stop after this step."""
        return False


def _call_each(name: str) -> Any:
    def call(self: Callbacks, *values: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, name)(*values)

    call.__doc__ = f"Call `{name}` of each."
    return call


class Callbacks(Callback):
    """Several callbacks as one."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self.callbacks = callbacks

    begin, step, epoch, announce, warn, end = map(_call_each, ("begin", "step", "epoch", "announce", "warn", "end"))

    def stop_wanted(self) -> bool:
        """Whether one of them wants to stop."""
        return any(callback.stop_wanted() for callback in self.callbacks)


class NamedJob(Callbacks):
    """Passes everything on to a callback, and adds to each epoch the name of the job that trained it."""

    def __init__(self, callback: Callback, name: str) -> None:
        super().__init__([callback])
        self._name = name

    def epoch(self, record: dict[str, Any]) -> None:
        """Add the name."""
        self.callbacks[0].epoch({**record, "job": self._name})


class TensorBoard(Callback):
    """Writes the trace as TensorBoard scalars (needs the extra `tensorboard`).

    Only that of the run's own training: those of other members and folds have the same names and epochs.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ConfigError("TensorBoard is not installed; pip install 'foretime[tensorboard]'") from None
        self._writer = SummaryWriter(str(folder / "tensorboard"))

    def epoch(self, record: dict[str, Any]) -> None:
        """Write every number of the record."""
        for name, value in ({} if record.get("job") else record).items():
            if name != "epoch" and isinstance(value, int | float):
                self._writer.add_scalar(name, value, record["epoch"])
        self._writer.flush()

    def end(self) -> None:
        """Close the files."""
        self._writer.close()
