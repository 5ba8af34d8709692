"""Two runs on the same questions: every metric with intervals, a test, groups, and the questions that decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.data.graph import Graph
from foretime.evaluation.filters import FilterName
from foretime.evaluation.groups import by_direction, by_predicate
from foretime.evaluation.metrics import METRICS, Floats, Metrics
from foretime.evaluation.reliability import expected_calibration_error
from foretime.evaluation.resampling import FLIPS, RESAMPLES, adjust, bootstrap, sign_flip_test, sum_by_fact
from foretime.evaluation.slot_reports import SlotRanks
from foretime.tables import Table, Tabular

Interval = tuple[float, float]
FLIPS_FOR_EACH, FLIPS_AT_MOST = 200, 100_000
"""Flips for each of many tests made at once: with fewer than there are tests, no adjusted p could ever be small."""


@dataclass(frozen=True)
class RankedRun:
    """Every question of a split with its rank: `questions`, `fact` and `ranks` are aligned, (questions,)."""

    name: str
    graph: Graph
    split: str
    filter: FilterName
    questions: Facts
    fact: Ids
    """The row of the fact that asks the question."""
    ranks: Floats
    slots: Mapping[str, SlotRanks] = field(default_factory=dict)
    """The ranks of every slot, with those by counting; the questions are the same for both runs."""
    notes: tuple[str, ...] = ()
    """Reasons not to take these ranks as those of unseen facts by a finished run."""


@dataclass(frozen=True)
class RankedQuestion:
    """A fact whose subject or object was asked for, and its rank by two runs; `target` says which of the two."""

    target: str
    subject: str
    predicate: str
    object: str
    time: str
    first_rank: float
    second_rank: float

    @property
    def question(self) -> str:
        """The question in one line, `?` in the place of the answer."""
        shown = {"subject": self.subject, "object": self.object} | {self.target: "?"}
        return f"({shown['subject']}, {self.predicate}, {shown['object']}, {self.time})"

    @property
    def answer(self) -> str:
        """The true answer."""
        return self.object if self.target == "object" else self.subject


def name_questions(first: RankedRun, second: RankedRun, rows: Ids) -> list[RankedQuestion]:
    """Return the questions in the given rows, in that order."""
    graph, questions = first.graph, first.questions.take(rows)
    names, predicates = graph.entities.name, len(graph.predicates)
    found = []
    for row, subject, predicate, object_, start, end in zip(rows, *questions.columns(), strict=True):
        inverted = predicate >= predicates
        found.append(
            RankedQuestion(
                target="subject" if inverted else "object",
                subject=names(int(object_ if inverted else subject)),
                predicate=graph.predicates.name(int(predicate) % predicates),
                object=names(int(subject if inverted else object_)),
                time=_time(graph, int(start), int(end)),
                first_rank=float(first.ranks[row]),
                second_rank=float(second.ranks[row]),
            )
        )
    return found


def _time(graph: Graph, start: int, end: int) -> str:
    if start == end:
        return graph.timeline.label(start)
    return " to ".join("?" if step == UNKNOWN else graph.timeline.label(step) for step in (start, end))


@dataclass(frozen=True)
class MetricDifference:
    """One metric of two runs and second − first, each with its 95 % interval."""

    first: float
    first_interval: Interval
    second: float
    second_interval: Interval
    difference: float
    difference_interval: Interval


@dataclass(frozen=True)
class ComparedGroup:
    """Every metric of two runs on some of the questions, and how likely such a difference in MRR is by chance."""

    questions: int
    metrics: dict[str, MetricDifference]
    p_value: float
    """Of the difference in MRR: a paired sign-flip test over facts."""

    @property
    def mrr(self) -> MetricDifference:
        """The difference in MRR."""
        return self.metrics["mrr"]


@dataclass(frozen=True)
class ComparedSlot:
    """Two runs on the questions for one slot, beside counting, and how far each one's probabilities can be believed."""

    group: ComparedGroup
    counting: Metrics
    first_ece: float
    second_ece: float


@dataclass(frozen=True, repr=False)
class Comparison(ComparedGroup, Tabular):
    """Two runs on the same questions; every difference is second − first.

    It is shown, and `to_frame()` gives it, with one row for each metric; `by_direction`, `by_predicate` and `decisive`
    are tables too, and `comparison.metrics["mrr"].difference_interval` is one pair of numbers.
    """

    first: str
    second: str
    data: str
    split: str
    filter: str
    facts: int
    better: int
    """Questions that the second run ranks better, and so on."""
    equal: int
    worse: int
    directions: dict[str, ComparedGroup]
    slots: dict[str, ComparedSlot]
    predicates: dict[str, ComparedGroup]
    """The most frequent first; their p-values are adjusted for the number of predicates (Holm)."""
    first_wins: list[RankedQuestion]
    second_wins: list[RankedQuestion]
    notes: list[str]
    ranked: tuple[RankedRun, ...]
    """Both runs with the rank of every question."""

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values for JSON, without the ranks of every question."""
        found = asdict(replace(self, ranked=(), slots={}))
        del found["ranked"]
        for slot, one in self.slots.items():
            errors = {"first_ece": one.first_ece, "second_ece": one.second_ece}
            found["slots"][slot] = {**asdict(one.group), "counting": one.counting.to_dict(), **errors}
        return found

    def table(self) -> Table:
        """Return one row for each metric: both runs and second − first, with their intervals."""
        rows = [{"metric": METRICS[name].label, **asdict(found)} for name, found in self.metrics.items()]
        return _table(rows, f"{self.split} of {self.data}, {self.questions:,} questions, filter {self.filter}")

    @property
    def by_direction(self) -> Table:
        """The MRR of questions for objects and for subjects."""
        return _group_table("direction", self.directions)

    @property
    def by_slot(self) -> Table:
        """The MRR of each slot by counting and by both runs, and the calibration error of both."""
        groups = {slot: one.group for slot, one in self.slots.items()}
        rows = []
        for row, one in zip(_group_table("slot", groups), self.slots.values(), strict=True):
            shown = {"slot": row.pop("slot"), "questions": row.pop("questions"), "counting": one.counting.mrr}
            rows.append(shown | row | {"first_ece": one.first_ece, "second_ece": one.second_ece})
        return _table(rows)

    @property
    def by_predicate(self) -> Table:
        """The MRR by predicate, the most frequent first; p is adjusted for their number, the intervals are not."""
        return _group_table("predicate", self.predicates)

    @property
    def decisive(self) -> Table:
        """The questions that one run wins and the other loses, those that the second wins first."""
        wins = {"second": self.second_wins, "first": self.first_wins}
        rows = [
            {"winner": winner, "question": one.question, "answer": one.answer}
            | {"first": one.first_rank, "second": one.second_rank}
            for winner, found in wins.items()
            for one in found
        ]
        return Table.of(rows, formats={"first": "g", "second": "g"})

    def all_questions(self) -> Table:
        """Return every question by its names with both ranks."""
        first, second = self.ranked
        return Table.of([asdict(one) for one in name_questions(first, second, np.arange(len(first.questions)))])


def compare_ranks(
    first: RankedRun, second: RankedRun, top: int = 10, resamples: int = RESAMPLES, flips: int = FLIPS, seed: int = 0
) -> Comparison:
    """Return the comparison of two runs that were ranked on the same questions."""
    graph, questions = first.graph, first.questions
    predicates = by_predicate(questions, graph)
    enough = max(flips, min(FLIPS_AT_MOST, FLIPS_FOR_EACH * len(predicates)))

    def group(rows: slice | NDArray[Any], flips: int = flips) -> ComparedGroup:
        return _group(first, second, rows, resamples, flips, seed)

    gain = METRICS["mrr"].of(second.ranks) - METRICS["mrr"].of(first.ranks)
    return Comparison(
        **vars(group(slice(None))),
        first=first.name,
        second=second.name,
        data=graph.name,
        split=first.split,
        filter=first.filter,
        facts=len(np.unique(first.fact)),
        better=int((gain > 0).sum()),
        equal=int((gain == 0).sum()),
        worse=int((gain < 0).sum()),
        directions={name: group(rows) for name, rows in by_direction(questions, graph).items() if rows.any()},
        slots={slot: _compare_slot(first, second, slot, resamples, flips, seed) for slot in first.slots},
        predicates=_adjusted({name: group(rows, enough) for name, rows in predicates.items()}),
        first_wins=_decisive(first, second, -gain, top),
        second_wins=_decisive(first, second, gain, top),
        notes=list(dict.fromkeys([*first.notes, *second.notes])),
        ranked=(first, second),
    )


def _compare_slot(
    first: RankedRun, second: RankedRun, slot: str, resamples: int, flips: int, seed: int
) -> ComparedSlot:
    """Return both runs on the questions for a slot."""
    one, other = (
        replace(run, ranks=run.slots[slot].ranks.realistic, fact=run.slots[slot].fact) for run in (first, second)
    )
    errors = [expected_calibration_error(*run.slots[slot].believed[:2]) for run in (first, second)]
    counting = Metrics.of(first.slots[slot].counting.realistic)
    return ComparedSlot(_group(one, other, slice(None), resamples, flips, seed), counting, *errors)


def _group(
    first: RankedRun, second: RankedRun, rows: slice | NDArray[Any], resamples: int, flips: int, seed: int
) -> ComparedGroup:
    """Return both runs on some of the questions."""
    (one, count), (other, _) = (sum_by_fact(run.ranks[rows], first.fact[rows]) for run in (first, second))
    columns = np.hstack([one, other, other - one])  # (facts, 3 · metrics)
    mean, ends = columns.sum(0) / count.sum(), bootstrap(columns, count, resamples, seed)
    metrics = {}
    for place, name in enumerate(METRICS):
        own = slice(place, None, len(METRICS))
        (a, b, gain), intervals = mean[own].tolist(), [(low, high) for low, high in ends[own].tolist()]
        metrics[name] = MetricDifference(a, intervals[0], b, intervals[1], gain, intervals[2])
    return ComparedGroup(int(count.sum()), metrics, sign_flip_test((other - one)[:, 0], flips, seed))


def _adjusted(groups: dict[str, ComparedGroup]) -> dict[str, ComparedGroup]:
    p_values = adjust([group.p_value for group in groups.values()])
    return {name: replace(group, p_value=p) for (name, group), p in zip(groups.items(), p_values, strict=True)}


def _decisive(first: RankedRun, second: RankedRun, gain: Floats, top: int) -> list[RankedQuestion]:
    """Return the questions with the largest gains, those with none left out."""
    order = np.argsort(-gain, kind="stable")[:top]
    return name_questions(first, second, order[gain[order] > 0])


def _table(rows: list[dict[str, Any]], title: str = "") -> Table:
    formats = {"questions": ",", "first": ".4f", "second": ".4f", "difference": "+.4f", "p_value": ".4f"}
    formats |= {"first_interval": ".3f", "second_interval": ".3f", "difference_interval": "+.3f"}
    formats |= dict.fromkeys(("counting", "first_ece", "second_ece"), ".3f") | {"counting": ".4f"}
    labels = {"first_ece": "ECE first", "second_ece": "ECE second"}
    labels |= {name: "95 %" for name in formats if name.endswith("_interval")}
    return Table.of(rows, title, formats, labels | {"metric": "", "difference": "gain", "p_value": "p"})


def _group_table(head: str, groups: Mapping[str, ComparedGroup]) -> Table:
    rows = []
    for name, group in groups.items():
        shown = {key: getattr(group.mrr, key) for key in ("first", "second", "difference", "difference_interval")}
        rows.append({head: name, "questions": group.questions, **shown, "p_value": group.p_value})
    return _table(rows)
