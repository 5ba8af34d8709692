"""How often a pair rule comes true at one distance in time: a plain count over lists of events."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from foretime.evidence.buckets import offset_bounds
from foretime.evidence.events import EventLists, Offsets

PREDICATES_KEPT: Final = 64
RULES_KEPT: Final = 4096


class RuleCount(NamedTuple):
    """Of `body_count` events of a rule's body, `support` have its head in the bucket of a distance."""

    support: int
    body_count: int

    @property
    def confidence(self) -> float:
        """The share of the body's events that have the head, 0 without events."""
        return self.support / self.body_count if self.body_count else 0.0


class RuleCounter:
    """Counts pair rules over lists of events; predicates and rules that were counted lately are kept."""

    def __init__(self, events: EventLists) -> None:
        self._steps = events.steps
        self._keys = lru_cache(PREDICATES_KEPT)(lambda predicate: _event_keys(events, predicate))
        self.count = lru_cache(RULES_KEPT)(self._count)

    def _count(self, head: int, body: int, distance: int) -> RuleCount:
        low, high = offset_bounds(distance)
        high = self._steps if high is None else high
        pair, step = np.divmod(self._keys(body), self._steps)
        first, last = (step + low, step + high) if distance <= 0 else (step - high, step - low)
        first, last = np.maximum(first, 0), np.minimum(last, self._steps - 1)
        keys, begin = self._keys(head), pair * self._steps
        heads = np.searchsorted(keys, begin + last, side="right") - np.searchsorted(keys, begin + first)
        return RuleCount(int(((heads > 0) & (first <= last)).sum()), len(pair))


def count_pair_rule(events: EventLists, head: int, body: int, distance: int) -> RuleCount:
    """Return how many events `body(x, y)` have a `head(x, y)` in the bucket of the distance from head to body.

    A body that lies before its head has a negative distance. Every event counts, once for each pair and
    step, with those of the question that is being explained and those whose bucket reaches beyond the timeline.
    """
    return RuleCounter(events).count(head, body, distance)


def _event_keys(events: EventLists, predicate: int) -> Offsets:
    """Return each distinct event of a predicate, sorted: its pair times the number of steps, plus its step."""
    groups = np.flatnonzero(events.group_predicate == predicate)
    size = events.group[groups + 1] - events.group[groups]
    place = np.arange(size.sum()) + np.repeat(events.group[groups] - (np.cumsum(size) - size), size)
    pair = np.repeat(np.searchsorted(events.pair, groups, side="right") - 1, size)
    return np.unique(pair * events.steps + events.time[place])
