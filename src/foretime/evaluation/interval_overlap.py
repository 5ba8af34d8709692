"""How well a predicted interval covers the true one: gIoU and aeIoU, as TIMEPLEX defines them (Jain et al., 2020).

An interval has all steps from its start to its end, both included. The hull of two is the shortest interval that covers
both. With o steps in both, u steps in either, h steps of the hull and g = h − u steps of a gap between them:

gIoU   ((o / u) + 1 − g / h) / 2: from 0 to 1, above 0 where they do not meet, and larger the nearer they are.
aeIoU  max(1, o) / h: 1 if they are equal, and one step of the hull if they do not meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.evaluation.metrics import Floats


class IntervalOverlap(NamedTuple):
    """The mean overlap of predicted intervals with the true ones."""

    facts: int
    giou: float
    aeiou: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return self._asdict()


def overlap(facts: Facts, start: Ids, end: Ids) -> IntervalOverlap:
    """Return the overlap of one predicted interval for each fact; facts with an unknown end are left out.

    An interval that is written end first is read from its earlier end, the predicted one too.
    """
    known = (facts.start != UNKNOWN) & (facts.end != UNKNOWN)
    true = np.minimum(facts.start, facts.end)[known], np.maximum(facts.start, facts.end)[known]
    said = np.minimum(start, end)[known], np.maximum(start, end)[known]
    if not known.any():
        return IntervalOverlap(0, 0.0, 0.0)
    return IntervalOverlap(int(known.sum()), float(giou(*true, *said).mean()), float(aeiou(*true, *said).mean()))


def giou(start: Ids, end: Ids, other_start: Ids, other_end: Ids) -> Floats:
    """Return the generalised intersection over union of pairs of intervals, between 0 and 1."""
    common, hull = _common(start, end, other_start, other_end)
    union = (end - start + 1) + (other_end - other_start + 1) - np.maximum(common, 0)
    found: Floats = (1 + np.maximum(common, 0) / union - np.maximum(-common, 0) / hull) / 2
    return found


def aeiou(start: Ids, end: Ids, other_start: Ids, other_end: Ids) -> Floats:
    """Return the affinity-enhanced intersection over union of pairs of intervals, between 0 and 1."""
    common, hull = _common(start, end, other_start, other_end)
    found: Floats = np.maximum(common, 1) / hull
    return found


def best_intervals(probabilities: Floats, at_most: int = 50) -> tuple[Ids, Ids]:
    """Return for each fact the interval that is expected to have the highest aeIoU: starts and ends, (facts,) each.

    `probabilities` are those of single steps, (facts, steps). The true interval is taken to be one step, so that the
    expectation is the sum of the probability of each step over the length of its hull with the interval. Only the
    `at_most` most likely steps are looked at.
    """
    starts, ends = np.empty((2, len(probabilities)), dtype=np.int64)
    for row, own in enumerate(probabilities):
        likely = np.sort(np.argsort(-own, kind="stable")[:at_most])
        first, last = (ids.ravel() for ids in np.meshgrid(likely, likely, indexing="ij"))
        first, last = first[first <= last], last[first <= last]
        hull = np.maximum(last[:, None], likely) - np.minimum(first[:, None], likely) + 1
        value = (own[likely] / hull).sum(1)
        best = int(np.argmax(value))
        starts[row], ends[row] = first[best], last[best]
    return starts, ends


def _common(start: Ids, end: Ids, other_start: Ids, other_end: Ids) -> tuple[Ids, Ids]:
    """Return the steps that two intervals share, negative for those of a gap, and the steps of their hull."""
    common = np.minimum(end, other_end) - np.maximum(start, other_start) + 1
    return common, np.maximum(end, other_end) - np.minimum(start, other_start) + 1
