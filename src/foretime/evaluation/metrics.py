"""The metrics of a ranking, all in one table: whatever shows, stores or compares metrics reads `METRICS`.

To add a metric, add a row here, a case to its test and a line to docs/protocol.md. Every report, comparison, table,
response of the service and page then has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from foretime.tables import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Metric:
    """A mean over questions; `of` returns what each realistic rank contributes to it, (questions,)."""

    name: str
    label: str
    of: Callable[[Floats], Floats]
    about: str
    better: Literal["higher", "lower"] = "higher"
    digits: int = 3

    def text(self, value: float | None) -> str:
        """Return a value of this metric as tables print it, nothing for None."""
        return "" if value is None else f"{value:.{self.digits}f}"

    def to_dict(self) -> dict[str, Any]:
        """Return what a page needs to show this metric, for JSON."""
        return {name: getattr(self, name) for name in ("name", "label", "about", "better", "digits")}


def _hits(k: int) -> Metric:
    about = f"the share of questions whose answer ranks {'first' if k == 1 else f'among the first {k}'}"
    return Metric(f"hits@{k}", f"H@{k}", lambda ranks: (ranks <= k).astype(np.float64), about)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("mrr", "MRR", lambda ranks: 1.0 / ranks, "the mean reciprocal rank", digits=4),
        *(_hits(k) for k in (1, 3, 10)),
    )
}
"""Every metric by its name, in the order in which they are shown; the first is the one that runs are chosen by."""


@dataclass(frozen=True)
class Metrics:
    """The metrics of some questions, by name.

    >>> metrics = Metrics.of(np.array([1.0, 2.0, 4.0]))
    >>> metrics.questions, metrics["hits@3"]
    (3, 0.6666666666666666)
    """

    questions: int
    means: Mapping[str, float]

    @classmethod
    def of(cls, ranks: Floats) -> Metrics:
        """Return the metrics of realistic ranks; all are 0 if there are none."""
        count = len(ranks)
        return cls(count, {name: float(metric.of(ranks).mean()) if count else 0.0 for name, metric in METRICS.items()})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Metrics:
        """Return the metrics in plain values; one that was added since they were written is missing."""
        return cls(values["questions"], {name: values[name] for name in METRICS if name in values})

    def __getitem__(self, name: str) -> float:
        return self.means[name]

    @property
    def mrr(self) -> float:
        """The mean reciprocal rank."""
        return self.means["mrr"]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: `{"questions": 3, "mrr": 0.58, "hits@1": 0.33, …}`."""
        return {"questions": self.questions, **self.means}


_COLUMNS = {
    "questions": ("questions", ","),
    "mrr_interval": ("95 %", ".3f"),
    "ece": ("ECE", ".3f"),
    "ece_by_chance": ("by chance", ".3f"),
    "brier": ("Brier", ".3f"),
    "log_loss": ("log loss", ".3f"),
    **{f"within_{steps}": (f"±{steps}", ".3f") for steps in (1, 7, 30)},
    "giou": ("gIoU", ".3f"),
    "aeiou": ("aeIoU", ".3f"),
}


def table_of(records: list[dict[str, Any]], title: str = "") -> Table:
    """Return a table of records that hold metrics under their names: labelled, and rounded where it is printed."""
    shown = _COLUMNS | {name: (metric.label, f".{metric.digits}f") for name, metric in METRICS.items()}
    labels, formats = ({name: column[place] for name, column in shown.items()} for place in (0, 1))
    return Table.of(records, title, formats, labels)
