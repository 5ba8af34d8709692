"""A backtest: how good the forecasts of a run were, window by window, with fixed weights and with retrained ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foretime.evaluation.backtest_plot import plot_backtest
from foretime.evaluation.metrics import Metrics, table_of
from foretime.tables import Table, Tabular

COVERAGE = {"pairs_seen": "seen", "entities_known": "known"}


@dataclass(frozen=True)
class WindowFigures:
    """The metrics of a window, and the expected calibration error of its best answers, objects and subjects alike."""

    metrics: Metrics
    ece: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**self.metrics.to_dict(), "ece": self.ece}


@dataclass(frozen=True)
class BacktestWindow:
    """Some steps of the past: from `first` to `last`, how many events they have, and how these were forecast."""

    first: str
    last: str
    events: int
    pairs_seen: float | None = None
    """The share of answers that had an event with the subject before; None where nothing happened."""
    entities_known: float | None = None
    """The share of answers that had any event before."""
    fixed: WindowFigures | None = None
    """With the weights of the run; None where nothing happened."""
    retrained: WindowFigures | None = None
    """With those of a copy that was trained on everything before a day."""
    retrained_before: str | None = None
    """That day."""

    def records(self) -> list[dict[str, Any]]:
        """Return a row for the fixed weights and, if there are any, one for retrained ones."""
        when = {"first": self.first, "last": self.last, "events": self.events}
        coverage = {name: getattr(self, name) for name in COVERAGE}
        found = {"fixed": self.fixed, "retrained": self.retrained}
        rows = [
            {**when, "weights": name, **figures.to_dict(), **coverage}
            for name, figures in found.items()
            if figures is not None
        ]
        return rows or [{**when, "weights": "fixed", "questions": 0}]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        figures = {"fixed": self.fixed, "retrained": self.retrained}
        return {**vars(self), **{name: found and found.to_dict() for name, found in figures.items()}}


@dataclass(frozen=True, repr=False)
class Backtest(Tabular):
    """The windows of a backtest, in the order of time; it is shown with a row for each, and one for each retrained."""

    run: str
    windows: tuple[BacktestWindow, ...]
    notes: tuple[str, ...] = ()
    """What a reader of the figures should know."""

    def table(self) -> Table:
        """Return a row for each window and kind of weights."""
        rows = [record for window in self.windows for record in window.records()]
        if not self.is_retrained:
            rows = [{name: value for name, value in row.items() if name != "weights"} for row in rows]
        return _labelled(table_of(rows, f"backtest of {self.run}"))

    @property
    def by_window(self) -> Table:
        """A short row for each window with fixed weights, as terminals show it."""
        rows = [window.records()[0] for window in self.windows]
        left_out = ("last", "weights", "questions")
        short = [{name: value for name, value in row.items() if name not in left_out} for row in rows]
        return _labelled(table_of(short, f"backtest of {self.run}"))

    @property
    def is_retrained(self) -> bool:
        """Whether any window was asked with retrained weights too."""
        return any(window.retrained for window in self.windows)

    @property
    def comparison(self) -> Table:
        """The MRR of each window with fixed and with retrained weights, and what retraining gained."""
        rows = [
            {
                "first": window.first,
                "retrained_before": window.retrained_before,
                "fixed_mrr": window.fixed.metrics.mrr,
                "retrained_mrr": window.retrained.metrics.mrr,
                "gain": window.retrained.metrics.mrr - window.fixed.metrics.mrr,
                "fixed_ece": window.fixed.ece,
                "retrained_ece": window.retrained.ece,
            }
            for window in self.windows
            if window.fixed and window.retrained
        ]
        formats = {"fixed_mrr": ".4f", "retrained_mrr": ".4f", "gain": "+.4f", "fixed_ece": ".3f"}
        labels = {"first": "from", "retrained_before": "retrained", "fixed_mrr": "MRR", "retrained_mrr": "MRR after"}
        labels |= {"fixed_ece": "ECE", "retrained_ece": "ECE after"}
        return Table.of(rows, "what retraining gained", formats | {"retrained_ece": ".3f"}, labels)

    def plot(self, file: Path | str) -> None:
        """Draw MRR, calibration error and coverage over time into an .svg or .png file; needs matplotlib."""
        plot_backtest(list(self.table()), Path(file))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        windows = [window.to_dict() for window in self.windows]
        return {"run": self.run, "protocol": "single-step", "windows": windows, "notes": list(self.notes)}


def _labelled(table: Table) -> Table:
    labels = {"first": "from", "last": "to", **COVERAGE}
    formats = {"events": ",", **dict.fromkeys(COVERAGE, ".3f")}
    return Table(
        table.columns, table.rows, table.title, {**(table.formats or {}), **formats}, {**(table.labels or {}), **labels}
    )
