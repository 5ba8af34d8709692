"""The grounded paths of one question, event by event: what the walk of `kernels` meets, in plain Python.

The order of the walk and the size of its table are those of `kernels`, because a table that is full keeps no more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from foretime.data.facts import inverse
from foretime.evidence.families import PATH_SLOTS
from foretime.evidence.grounds import Grounds

_SPREAD = 0x9E3779B97F4A7C15
_PROBES = PATH_SLOTS // 4


class Step(NamedTuple):
    """One event on the way from an entity to `other`: its predicate as seen from there, and its signed distance."""

    predicate: int
    other: int
    distance: int
    own: bool
    """Whether an end of the fact lies at the time asked about."""


class GroundedPath(NamedTuple):
    """Two events that a path rule connects with the question: `rule` is the rule's place among all path rules."""

    rule: int
    middle: int
    first: Step
    second: Step

    @property
    def farther(self) -> int:
        """The signed distance of the event farther from the question, of two that are as far the one before."""
        return min(self.first.distance, self.second.distance, key=lambda distance: (-abs(distance), distance))


def grounded_paths(grounds: Grounds, x: int, p: int, t: int) -> dict[int, list[GroundedPath]]:
    """Return the paths from x that a rule connects with p near t, by the candidate at which they end."""
    every = 2 * grounds.index.predicates
    rules = _rules_of(grounds, p)
    starts = {body // every for body in rules}
    seconds = cache(lambda z: list(_steps(grounds, z, t, (x, z))))
    table, found = _Table(), defaultdict(list)
    for first in _steps(grounds, x, t, (x,), p) if rules else ():
        if first.predicate not in starts:
            continue
        for second in seconds(first.other):
            rule = rules.get(first.predicate * every + second.predicate)
            if rule is not None and table.keeps(second.other * len(grounds.vocabulary.path_body) + rule):
                found[second.other].append(GroundedPath(rule, first.other, first, second))
    return dict(found)


def _rules_of(grounds: Grounds, p: int) -> dict[int, int]:
    """Return the place of each path rule of p by its body."""
    low, high = grounds.vocabulary.path[p : p + 2].tolist()
    return {int(body): place for place, body in enumerate(grounds.vocabulary.path_body[low:high], low)}


def _steps(grounds: Grounds, entity: int, t: int, without: tuple[int, ...], own: int = -1) -> Iterator[Step]:
    """Yield the events of an entity near t, ring by ring, until enough are seen; those with `without` are left out.

    So are the facts of the predicate `own` with an end at t: the question's own.
    """
    seen = 0
    for ring in _rings(grounds, entity, t):
        if seen >= grounds.reach.path_events:
            return
        for step in ring:
            if step.other in without or (step.predicate == own and step.own):
                continue
            seen += 1
            yield step


def _rings(grounds: Grounds, entity: int, t: int) -> Iterator[list[Step]]:
    """Yield the events of an entity at each distance from t, those before first."""
    index, reach = grounds.index, grounds.reach
    begin, end = index.around[entity : entity + 2].tolist()
    times = index.around_time[begin:end]
    for distance in range(reach.path_window + 1):
        ring = []
        for side in (-1, 1):
            if (side == 1 and reach.past_only) or (side == -1 and distance == 0):
                continue
            when = t + side * distance
            low, high = (begin + np.searchsorted(times, [when, when + 1])).tolist()
            for place in range(low, high)[::side]:
                predicate = inverse(int(index.around_predicate[place]), index.predicates)
                own = distance == 0 or int(index.around_twin[place]) == t
                ring.append(Step(predicate, int(index.around_other[place]), side * distance, own))
        yield ring


class _Table:
    """Keeps (candidate, rule) keys as the table of the walk does."""

    def __init__(self) -> None:
        self._slots: dict[int, int] = {}
        self._kept: dict[int, bool] = {}

    def keeps(self, key: int) -> bool:
        """Return whether a key is in the table, or there is room for it."""
        if key not in self._kept:
            first = key * _SPREAD >> 17
            slots = ((first + probe) % PATH_SLOTS for probe in range(_PROBES))
            self._kept[key] = any(self._slots.setdefault(slot, key) == key for slot in slots)
        return self._kept[key]
