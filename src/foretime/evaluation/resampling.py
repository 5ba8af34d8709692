"""How sure a metric or a difference is: bootstrap intervals and a paired test, both over facts.

The questions of one fact, in both directions and at all of its steps, are not independent. They are therefore drawn
together, and their differences change sign together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from foretime.data.facts import Ids
from foretime.evaluation.metrics import METRICS, Floats

RESAMPLES = 1_000
FLIPS = 10_000
_SIGNS_AT_ONCE = 4_000_000


def sum_by_fact(ranks: Floats, fact: Ids, names: Iterable[str] | None = None) -> tuple[Floats, Floats]:
    """Return the sums of each metric over the questions of each fact, (facts, metrics), and their number, (facts,).

    `fact` numbers the fact of each rank; facts that ask nothing are left out. `names` are all metrics unless given.
    """
    _, row = np.unique(fact, return_inverse=True)
    sums = [np.bincount(row, weights=METRICS[name].of(ranks)) for name in names or METRICS]
    return np.stack(sums, axis=1), np.bincount(row).astype(np.float64)


def bootstrap(sums: Floats, count: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """Return the 95 % interval of each column's mean over resampled facts, (columns, 2); the same draws for all."""
    facts, table = len(count), np.hstack([sums, count[:, None]])
    generator = np.random.default_rng(seed)
    drawn = np.empty((resamples, table.shape[1]))
    for row in range(resamples):
        drawn[row] = np.bincount(generator.integers(facts, size=facts), minlength=facts) @ table
    ends: Floats = np.quantile(drawn[:, :-1] / drawn[:, -1:], [0.025, 0.975], axis=0).T
    return ends


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


def adjust(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of many tests made at once as Holm adjusts them, in the order given."""
    order = np.argsort(p_values, kind="stable")
    scaled = np.array(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted.tolist()
