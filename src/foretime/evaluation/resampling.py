"""How sure a difference is: bootstrap intervals and a paired test, both over facts.

The questions of one fact, in both directions and at all of its steps, are not independent. They are therefore drawn
together, and their differences change sign together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Ids
from foretime.evaluation.reports import HITS

Floats = NDArray[np.float64]
METRICS = ("mrr", *(f"hits@{k}" for k in HITS))
RESAMPLES = 1_000
FLIPS = 10_000
_SIGNS_AT_ONCE = 4_000_000


class Paired(NamedTuple):
    """Sums over the questions of each fact: of each metric by either run, (facts, metrics), and their number."""

    first: Floats
    second: Floats
    questions: Floats

    def means(self) -> tuple[Floats, Floats]:
        """Return each metric of the first and of the second run, (metrics,) each."""
        return self.first.sum(0) / self.questions.sum(), self.second.sum(0) / self.questions.sum()


class Intervals(NamedTuple):
    """The 95 % intervals of each metric, (metrics, 2) each."""

    first: Floats
    second: Floats
    difference: Floats


def contributions(ranks: Floats) -> Floats:
    """Return what each question adds to each metric, (questions, metrics)."""
    return np.stack([1.0 / ranks, *((ranks <= k).astype(float) for k in HITS)], axis=1)


def pair_up(first: Floats, second: Floats, fact: Ids) -> Paired:
    """Return the ranks of two runs as sums over the questions of each fact; facts that ask none are left out."""
    _, row = np.unique(fact, return_inverse=True)
    count: Floats = np.bincount(row).astype(float)
    return Paired(_sums(first, row), _sums(second, row), count)


def _sums(ranks: Floats, row: Ids) -> Floats:
    return np.stack([np.bincount(row, weights=column) for column in contributions(ranks).T], axis=1).astype(float)


def bootstrap(paired: Paired, resamples: int = RESAMPLES, seed: int = 0) -> Intervals:
    """Return the intervals of both runs and of second − first over resampled facts, the same draws for all."""
    facts, width = len(paired.questions), len(METRICS)
    table = np.hstack([paired.first, paired.second, paired.questions[:, None]])
    generator = np.random.default_rng(seed)
    drawn = np.empty((resamples, table.shape[1]))
    for row in range(resamples):
        drawn[row] = np.bincount(generator.integers(facts, size=facts), minlength=facts) @ table
    first, second = drawn[:, :width] / drawn[:, -1:], drawn[:, width:-1] / drawn[:, -1:]
    return Intervals(*(np.quantile(values, [0.025, 0.975], axis=0).T for values in (first, second, second - first)))


def sign_flip_test(differences: Floats, flips: int = FLIPS, seed: int = 0) -> float:
    """Return how likely a sum of differences is to be as far from 0, if either sign of each is equally likely.

    The observed signs are one of the possible ones, so the smallest p is 1 / (flips + 1).
    """
    values = differences[differences != 0.0]
    observed = abs(values.sum()) * (1 - 1e-12)  # a flip that changes nothing must not fall behind by rounding
    generator, reached = np.random.default_rng(seed), 0
    at_once = max(1, _SIGNS_AT_ONCE // max(1, len(values)))
    for begin in range(0, flips, at_once):
        count = min(at_once, flips - begin)
        signs = generator.integers(0, 2, size=(count, len(values)), dtype=np.int8) * np.int8(2) - np.int8(1)
        reached += int((np.abs(signs @ values) >= observed).sum())
    return (1 + reached) / (1 + flips)


def adjust(p_values: list[float]) -> list[float]:
    """Return the p-values of many tests made at once as Holm adjusts them, in the order given."""
    order = np.argsort(p_values, kind="stable")
    scaled = np.array(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0) if len(p_values) else scaled
    return [float(value) for value in adjusted]
