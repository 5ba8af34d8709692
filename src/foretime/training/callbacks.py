"""Who is told how a training goes on: a terminal, TensorBoard, a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from foretime.errors import ConfigError


class Plan(NamedTuple):
    """What lies before a training: epochs, steps and questions in each, and where it goes on."""

    epochs: int
    steps: int
    questions: int
    epoch: int
    step: int
    best_mrr: float | None


class Callback:
    """Hears of every step, epoch and stage of a training; a subclass does something with it."""

    def begin(self, plan: Plan) -> None:
        """Training starts, or goes on where it was interrupted."""

    def step(self, epoch: int, step: int, loss: float) -> None:
        """A step is done; the loss is a mean over the epoch so far."""

    def epoch(self, record: dict[str, Any]) -> None:
        """An epoch is done; the record is its line of the trace.

        It has also, as `stage`, the name of the training it is of, empty for the run's own.
        """

    def announce(self, text: str) -> None:
        """Something else begins, such as ranking valid."""

    def end(self) -> None:
        """Training is over, for whatever reason."""

    def stop_wanted(self) -> bool:
        """Whether training should save its state and stop after this step."""
        return False


class Callbacks(Callback):
    """Several callbacks as one."""

    def __init__(self, callbacks: list[Callback]) -> None:
        self._callbacks = callbacks

    def begin(self, plan: Plan) -> None:
        """Tell all."""
        for callback in self._callbacks:
            callback.begin(plan)

    def step(self, epoch: int, step: int, loss: float) -> None:
        """Tell all."""
        for callback in self._callbacks:
            callback.step(epoch, step, loss)

    def epoch(self, record: dict[str, Any]) -> None:
        """Tell all."""
        for callback in self._callbacks:
            callback.epoch(record)

    def announce(self, text: str) -> None:
        """Tell all."""
        for callback in self._callbacks:
            callback.announce(text)

    def end(self) -> None:
        """Tell all."""
        for callback in self._callbacks:
            callback.end()

    def stop_wanted(self) -> bool:
        """Whether one of them wants to stop."""
        return any(callback.stop_wanted() for callback in self._callbacks)


class OneOfSeveral(Callbacks):
    """Hands everything on to a callback, and tells it of which training of a run an epoch is."""

    def __init__(self, callback: Callback, name: str) -> None:
        super().__init__([callback])
        self._name = name

    def epoch(self, record: dict[str, Any]) -> None:
        """Tell whose it is."""
        super().epoch({**record, "stage": self._name})


class TensorBoard(Callback):
    """Writes the trace as TensorBoard scalars (needs the extra `tensorboard`).

    Only that of the run's own training: those of members and of parts have the same names and epochs.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ConfigError("TensorBoard is not installed; pip install 'foretime[tensorboard]'") from None
        self._writer = SummaryWriter(str(folder / "tensorboard"))

    def epoch(self, record: dict[str, Any]) -> None:
        """Write every number of the record."""
        for name, value in ({} if record.get("stage") else record).items():
            if name != "epoch" and isinstance(value, int | float):
                self._writer.add_scalar(name, value, record["epoch"])
        self._writer.flush()

    def end(self) -> None:
        """Close the files."""
        self._writer.close()
