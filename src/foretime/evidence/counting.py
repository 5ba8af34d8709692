"""How often a pair rule comes true at one distance in time: a plain count over lists of events."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from foretime.evidence.buckets import offset_bounds
from foretime.evidence.events import EventLists, Offsets


class RuleCount(NamedTuple):
    """Of `body_count` events of a rule's body, `support` have its head in the bucket of a distance."""

    support: int
    body_count: int

    @property
    def confidence(self) -> float:
        """The share of the body's events that have the head, 0 without events."""
        return self.support / self.body_count if self.body_count else 0.0


def count_pair_rule(events: EventLists, head: int, body: int, distance: int) -> RuleCount:
    """Return how many events `body(x, y)` have a `head(x, y)` in the bucket of the distance from head to body.

    A body that lies before its head has a negative distance. Every event counts, once for each pair and
    step, with those of the question that is being explained and those whose bucket reaches beyond the timeline.
    """
    low, high = offset_bounds(distance)
    high = events.steps if high is None else high
    pair, step = _events(events, body)
    first, last = (step + low, step + high) if distance <= 0 else (step - high, step - low)
    first, last = np.maximum(first, 0), np.minimum(last, events.steps - 1)
    head_pair, head_step = _events(events, head)
    keys = head_pair * events.steps + head_step
    heads = np.searchsorted(keys, pair * events.steps + last, side="right") - np.searchsorted(
        keys, pair * events.steps + first
    )
    return RuleCount(int(((heads > 0) & (first <= last)).sum()), len(pair))


def _events(events: EventLists, predicate: int) -> tuple[Offsets, Offsets]:
    """Return the pair and the step of each distinct event of a predicate, sorted."""
    groups = np.flatnonzero(events.group_predicate == predicate)
    size = events.group[groups + 1] - events.group[groups]
    place = np.arange(size.sum()) + np.repeat(events.group[groups] - (np.cumsum(size) - size), size)
    pair = np.repeat(np.searchsorted(events.pair, groups, side="right") - 1, size)
    keys = np.unique(pair * events.steps + events.time[place])
    return keys // events.steps, keys % events.steps
