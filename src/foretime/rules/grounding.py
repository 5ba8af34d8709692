"""Real groundings of a rule: who did what to whom and when, with the head that came, or without.

They are those that `windowed` counts: one for each start (x, y) at a step whose whole window is on the timeline. So a
rule has as many groundings with a head as its support, and as many in all as its body count.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Facts, Ids, inverse
from foretime.data.graph import Graph
from foretime.errors import DataError
from foretime.rules.patterns import PATTERNS, Pattern, gap_steps
from foretime.rules.rule import STATIC, RuleIds

_AT_ONCE = 4096
"""Events that are made into Python values at once: most callers want only the first ones."""


class GroundedEvent(NamedTuple):
    """An event that a rule's atom stands for, in names."""

    role: str
    """`body` or `head`."""
    subject: str
    predicate: str
    object: str
    time: str


class Grounding(NamedTuple):
    """The events of a body, followed by that of the head where it came."""

    events: tuple[GroundedEvent, ...]
    holds: bool


class _Event(NamedTuple):
    time: int
    subject: int
    predicate: int
    object: int


class _Body(NamedTuple):
    """A start of the rule at one pair, with every way in which its body holds there."""

    subject: int
    object: int
    ways: list[tuple[_Event, ...]]


class FoundExamples(NamedTuple):
    """The first groundings of a rule by time; `whole` says whether all that were asked for are there."""

    groundings: list[Grounding]
    whole: bool


class GroundingIndex:
    """The distinct events of facts and of their inverses, by predicate and time, and by predicate, subject and time."""

    def __init__(self, facts: Facts, graph: Graph) -> None:
        self._entities = len(graph.entities)
        predicates = len(graph.predicates)
        columns = facts.with_inverses(predicates).events()
        key = columns.predicate * self._entities + columns.subject
        order = np.lexsort([columns.object, columns.time, key])
        key, step, object_ = key[order], columns.time[order], columns.object[order]
        new = np.ones(len(key), dtype=bool)
        new[1:] = (key[1:] != key[:-1]) | (step[1:] != step[:-1]) | (object_[1:] != object_[:-1])
        self._key: Ids = key[new]
        self._time: NDArray[np.int32] = step[new].astype(np.int32)
        self._object: NDArray[np.int32] = object_[new].astype(np.int32)
        of_predicate: Ids = self._key // self._entities
        self._in_time: NDArray[np.int32] = np.lexsort((self._time, of_predicate)).astype(np.int32)
        self._begin: Ids = np.searchsorted(of_predicate, np.arange(2 * predicates + 1))

    def in_time(self, predicate: int) -> Iterator[_Event]:
        """Yield the events of a predicate by time, then by subject and object."""
        for begin in range(int(self._begin[predicate]), int(self._begin[predicate + 1]), _AT_ONCE):
            rows = self._in_time[begin : min(begin + _AT_ONCE, int(self._begin[predicate + 1]))]
            columns = (self._time[rows], self._key[rows] % self._entities, self._object[rows])
            for step, subject, object_ in zip(*(column.tolist() for column in columns), strict=True):
                yield _Event(step, subject, predicate, object_)

    def within(self, predicate: int, subject: int, span: tuple[int, int], object_: int | None = None) -> list[_Event]:
        """Return the events of a subject, or of a pair, from one step to another, by time and then by object."""
        key = predicate * self._entities + subject
        own = slice(*np.searchsorted(self._key, [key, key + 1]).tolist())
        first, last = np.searchsorted(self._time[own], [span[0], span[1] + 1]).tolist()
        steps, others = self._time[own][first:last], self._object[own][first:last]
        if object_ is not None:
            steps, others = steps[others == object_], others[others == object_]
        pairs = zip(steps.tolist(), others.tolist(), strict=True)
        return [_Event(when, subject, predicate, other) for when, other in pairs]


def find_examples(
    rule: RuleIds,
    graph: Graph,
    window: int,
    index: GroundingIndex,
    count: int | None = None,
    misses: bool = False,
    seconds: float = math.inf,
) -> FoundExamples:
    """Return the first groundings of a rule by time, all without `count`; with `misses`, those whose head did not come.

    After some seconds, what has been found by then is returned.
    """
    if rule.pattern == STATIC:
        raise DataError("a rule without time has no dated examples; give its atoms times, as in (x, y, t)")
    found: list[Grounding] = []
    try:
        for grounding in _groundings(rule, graph, window, index, time.monotonic() + seconds):
            if grounding.holds != misses:
                found.append(grounding)
            if len(found) == count:
                break
    except TimeoutError:
        return FoundExamples(found, whole=False)
    return FoundExamples(found, whole=True)


def _groundings(rule: RuleIds, graph: Graph, window: int, index: GroundingIndex, until: float) -> Iterator[Grounding]:
    pattern = PATTERNS[rule.pattern]
    latest = len(graph.timeline) - pattern.reach * window
    for body in _bodies(rule, pattern, index, window, latest, until):
        yield _with_head(rule, body, pattern, index, window, graph)
        _check_time(until)


def _bodies(
    rule: RuleIds, pattern: Pattern, index: GroundingIndex, window: int, latest: int, until: float
) -> Iterator[_Body]:
    """Yield every start whose whole window is on the timeline: distinct (x, y) at each step, in order."""
    starts: dict[tuple[int, int, int], list[tuple[_Event, ...]]] = {}
    now = -1
    for first in index.in_time(rule.body[0]):
        _check_time(until)
        if first.time >= latest:
            break
        if first.time != now:
            yield from _at_one_step(starts)
            starts, now = {}, first.time
        for way in _ways(rule, first, pattern, index, window):
            starts.setdefault((first.time, first.subject, way[-1].object), []).append(way)
    yield from _at_one_step(starts)


def _ways(
    rule: RuleIds, first: _Event, pattern: Pattern, index: GroundingIndex, window: int
) -> list[tuple[_Event, ...]]:
    """Return the ways in which a body continues after its first event."""
    if len(rule.body) == 1:
        return [(first,)]
    subject, object_ = (first.object, None) if rule.shape == "path" else (first.subject, first.object)
    span = _span(first.time, pattern.second_gap, window)
    return [(first, second) for second in index.within(rule.body[-1], subject, span, object_)]


def _at_one_step(starts: dict[tuple[int, int, int], list[tuple[_Event, ...]]]) -> Iterator[_Body]:
    for (_, subject, object_), ways in sorted(starts.items()):
        yield _Body(subject, object_, sorted(ways))


def _span(step: int, gap: int, window: int) -> tuple[int, int]:
    """Return the first and the last step that a gap after a step allows."""
    low, high = gap_steps(gap, window)
    return step + low, step + high


def _with_head(
    rule: RuleIds, body: _Body, pattern: Pattern, index: GroundingIndex, window: int, graph: Graph
) -> Grounding:
    """Return the first way in which the body holds and its head comes, or the first one without a head."""
    for way in body.ways:
        span = _span(way[-1].time, pattern.head_gap, window)
        came = index.within(rule.head, body.subject, span, body.object)
        if came:
            return Grounding((*_named(way, "body", graph), *_named(came[:1], "head", graph)), True)
    return Grounding(_named(body.ways[0], "body", graph), False)


def _check_time(until: float) -> None:
    if time.monotonic() > until:
        raise TimeoutError


def _named(events: tuple[_Event, ...] | list[_Event], role: str, graph: Graph) -> tuple[GroundedEvent, ...]:
    """Return events in names, inverses the other way round."""
    named, count = [], len(graph.predicates)
    for step, subject, predicate, object_ in events:
        if predicate >= count:
            subject, predicate, object_ = object_, inverse(predicate, count), subject
        who, whom = graph.entities.name(subject), graph.entities.name(object_)
        when = graph.timeline.label(step)
        named.append(GroundedEvent(role, who, graph.predicates.name(predicate), whom, when))
    return tuple(named)
