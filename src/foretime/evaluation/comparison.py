"""The comparison itself: metrics with intervals, a test, directions, predicates, and the questions that decide it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foretime.evaluation.ranked_questions import Asked, RankedRun, asked
from foretime.evaluation.resampling import FLIPS, METRICS, RESAMPLES, Paired, adjust, bootstrap, pair_up, sign_flip_test

Interval = tuple[float, float]
FLIPS_FOR_EACH, FLIPS_AT_MOST = 200, 100_000
"""Flips for each of many tests made at once: with fewer than there are tests, no adjusted p could ever be small."""


@dataclass(frozen=True)
class Difference:
    """One metric of two runs and second − first, each with its 95 % interval."""

    first: float
    first_interval: Interval
    second: float
    second_interval: Interval
    difference: float
    difference_interval: Interval


@dataclass(frozen=True)
class Group:
    """The MRR of two runs on some of the questions, and how likely such a difference is without any cause."""

    questions: int
    mrr: Difference
    p_value: float


@dataclass(frozen=True)
class Comparison:
    """Two runs on the same questions; every difference is second − first."""

    first: str
    second: str
    data: str
    split: str
    filter: str
    facts: int
    questions: int
    metrics: dict[str, Difference]
    p_value: float
    """Of the difference in MRR: a paired sign-flip test over facts."""
    better: int
    """Questions that the second run ranks better, and so on."""
    equal: int
    worse: int
    directions: dict[str, Group]
    predicates: dict[str, Group]
    """The most frequent first; their p-values are adjusted for the number of predicates (Holm)."""
    first_wins: list[Asked]
    second_wins: list[Asked]
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values for JSON."""
        return asdict(self)


def compare(
    first: RankedRun, second: RankedRun, top: int = 10, resamples: int = RESAMPLES, flips: int = FLIPS, seed: int = 0
) -> Comparison:
    """Return the comparison of two runs that were ranked on the same questions."""
    graph, questions = first.graph, first.questions
    paired = pair_up(first.ranks, second.ranks, first.fact)
    gain = 1.0 / second.ranks - 1.0 / first.ranks
    inverse_asked = questions.predicate >= len(graph.predicates)
    predicate = questions.predicate % len(graph.predicates)
    names, count = np.unique(predicate, return_counts=True)
    chosen = {
        graph.predicates.name(int(names[place])): predicate == names[place]
        for place in np.argsort(-count, kind="stable")
    }
    enough = max(flips, min(FLIPS_AT_MOST, FLIPS_FOR_EACH * len(chosen)))
    return Comparison(
        first=first.name,
        second=second.name,
        data=graph.name,
        split=first.split,
        filter=first.filter,
        facts=len(paired.questions),
        questions=len(questions),
        metrics=_differences(paired, resamples, seed),
        p_value=sign_flip_test(paired.second[:, 0] - paired.first[:, 0], flips, seed),
        better=int((gain > 0).sum()),
        equal=int((gain == 0).sum()),
        worse=int((gain < 0).sum()),
        directions=_groups(
            first, second, {"objects": ~inverse_asked, "subjects": inverse_asked}, resamples, flips, seed
        ),
        predicates=_adjusted(_groups(first, second, chosen, resamples, enough, seed)),
        first_wins=_decisive(first, second, -gain, top),
        second_wins=_decisive(first, second, gain, top),
        notes=list(dict.fromkeys([*first.notes, *second.notes])),
    )


def _differences(paired: Paired, resamples: int, seed: int) -> dict[str, Difference]:
    first, second = paired.means()
    intervals = bootstrap(paired, resamples, seed)
    return {
        name: Difference(
            first=float(first[place]),
            first_interval=_interval(intervals.first[place]),
            second=float(second[place]),
            second_interval=_interval(intervals.second[place]),
            difference=float(second[place] - first[place]),
            difference_interval=_interval(intervals.difference[place]),
        )
        for place, name in enumerate(METRICS)
    }


def _interval(ends: NDArray[np.float64]) -> Interval:
    return float(ends[0]), float(ends[1])


def _groups(
    first: RankedRun, second: RankedRun, chosen: dict[str, NDArray[np.bool_]], resamples: int, flips: int, seed: int
) -> dict[str, Group]:
    """Return the MRR on each chosen set of questions that is not empty."""
    groups = {}
    for name, rows in chosen.items():
        if not rows.any():
            continue
        paired = pair_up(first.ranks[rows], second.ranks[rows], first.fact[rows])
        p_value = sign_flip_test(paired.second[:, 0] - paired.first[:, 0], flips, seed)
        groups[name] = Group(int(rows.sum()), _differences(paired, resamples, seed)["mrr"], p_value)
    return groups


def _adjusted(groups: dict[str, Group]) -> dict[str, Group]:
    p_values = adjust([group.p_value for group in groups.values()])
    return {
        name: Group(group.questions, group.mrr, p_value)
        for (name, group), p_value in zip(groups.items(), p_values, strict=True)
    }


def _decisive(first: RankedRun, second: RankedRun, gain: NDArray[np.float64], top: int) -> list[Asked]:
    """Return the questions with the largest gains, those with none left out."""
    order = np.argsort(-gain, kind="stable")[:top]
    return asked(first, second, order[gain[order] > 0])
