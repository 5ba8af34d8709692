"""How good explanations are: the measures of single questions, and their means with bootstrap intervals.

A reason is judged by the events that it names. What they are, and what the answers become without them, is found
elsewhere; here are the formulas alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from foretime.evaluation.resampling import bootstrap
from foretime.files import write_bytes
from foretime.tables import Table, Tabular

SAVED = "explanations.json"
KS = (1, 3, 5)
"""How many of the strongest reasons are hidden, or kept."""
FIRST = 5
"""How many events the normalised discounted cumulative gain looks at."""
SHARE = 0.8
"""The share of the lead that `reasons_needed` asks for."""
Chosen = Literal["reasons", "random", "nearest", "random others", "nearest others"]
"""Whose events are hidden or kept: those of the reasons, or as many of the subject's, at random or nearest in time.

The others are drawn without the events of the reasons; where the subject has too few of them, all it has are hidden."""
CONTROLS: tuple[Chosen, ...] = get_args(Chosen)[1:]
MEASURES = {
    "precision@1": "truth: precision@1",
    "ndcg@5": "truth: NDCG@5",
    "necessity_mrr": "necessity: fall of MRR",
    "necessity_hits@1": "necessity: fall of H@1",
    "hidden": "necessity: events hidden",
    "sufficiency": "sufficiency: stays first",
    "contrast": "contrast: change places",
    "coverage": "coverage",
    "lead_explained": "size: 80 % of the lead",
    "reasons_needed": "size: reasons for it",
}
"""Every measure, and its name in tables."""


class MeasureKey(NamedTuple):
    """A measure, for how many reasons, and whose events were chosen."""

    measure: str
    k: int | None = None
    events: Chosen = "reasons"


class QuestionMeasures(NamedTuple):
    """What was measured of one question of a fact; questions of one fact are drawn together."""

    fact: int
    values: dict[MeasureKey, float]


@dataclass(frozen=True)
class MeasuredMean:
    """The mean of a measure, with its 95 % bootstrap interval."""

    measure: str
    k: int | None
    events: Chosen
    mean: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, repr=False)
class ExplanationMeasures(Tabular):
    """How good the explanations of a run are; `settings` says what was asked."""

    means: tuple[MeasuredMean, ...]
    settings: dict[str, Any] = field(default_factory=dict)

    def mean(self, measure: str, k: int | None = None, events: Chosen = "reasons") -> float | None:
        """Return the mean of a measure, nothing if it was not measured."""
        found = (one.mean for one in self.means if (one.measure, one.k, one.events) == (measure, k, events))
        return next(found, None)

    def ratio(self, k: int, events: Chosen) -> float | None:
        """Return how many times more H@1 falls without the events of the reasons than without others."""
        own, other = self.mean("necessity_hits@1", k), self.mean("necessity_hits@1", k, events)
        return None if own is None or other is None else own / other if other > 0 else math.inf

    def table(self) -> Table:
        """Return one row for each measure, with the controls beside it where it has some."""
        rows: dict[tuple[str, int | None], dict[str, Any]] = {}
        for one in self.means:
            row = rows.setdefault((one.measure, one.k), {"measure": MEASURES[one.measure], "k": one.k})
            row[one.events] = one.mean
            if one.events == "reasons":
                row |= {"95 %": f"{one.low:.3f}–{one.high:.3f}", "questions": one.questions}
        columns = ("measure", "k", "reasons", "95 %", *CONTROLS, "questions")
        records = [{name: row.get(name) for name in columns} for row in rows.values()]
        return Table.of(records, "explanations", dict.fromkeys(get_args(Chosen), ".3f"))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {"settings": self.settings, "means": [asdict(one) for one in self.means]}

    def save(self, folder: Path) -> Path:
        """Write everything into the folder of a run; return the file."""
        path = folder / SAVED
        write_bytes(path, (json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n").encode())
        return path

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> ExplanationMeasures:
        """Return what `to_dict` has written."""
        return cls(tuple(MeasuredMean(**one) for one in saved["means"]), saved["settings"])


def summarise_measures(
    measured: Sequence[QuestionMeasures], settings: dict[str, Any] | None = None
) -> ExplanationMeasures:
    """Return the mean of each measure over the questions that have it, in the order of `MEASURES`."""
    keys = dict.fromkeys(key for one in measured for key in one.values)
    ordered = sorted(keys, key=lambda key: (list(MEASURES).index(key.measure), key.k or 0))
    return ExplanationMeasures(tuple(_mean(key, measured) for key in ordered), dict(settings or {}))


def _mean(key: MeasureKey, measured: Sequence[QuestionMeasures]) -> MeasuredMean:
    having = [one for one in measured if key in one.values]
    values = np.array([one.values[key] for one in having])
    _, fact = np.unique([one.fact for one in having], return_inverse=True)
    sums, count = np.bincount(fact, weights=values).astype(np.float64), np.bincount(fact).astype(np.float64)
    low, high = bootstrap(sums[:, None], count)[0].tolist()
    return MeasuredMean(*key, float(values.mean()), low, high, len(values))


def precision_at_first(named: Sequence[Hashable], true: Collection[Hashable]) -> float:
    """Return 1 if the first of the named events is a true one, 0 if it is not or there is none."""
    return float(bool(named) and named[0] in true)


def discounted_gain(named: Sequence[Hashable], true: Collection[Hashable], first: int = FIRST) -> float:
    """Return the NDCG of the first named events: 1 if all true events come first, 0 if none is among them."""
    gain = sum(1 / math.log2(place + 2) for place, event in enumerate(named[:first]) if event in true)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(first, len(true))))


def reasons_needed(differences: Iterable[float], lead: float, share: float = SHARE) -> int | None:
    """Return how many of the largest differences make up a share of the lead, nothing if all of them do not."""
    total = 0.0
    for count, difference in enumerate(sorted(differences, reverse=True), 1):
        total += max(difference, 0.0)
        if total >= share * lead:
            return count
    return None
