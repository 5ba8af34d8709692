"""Real groundings of a rule: who did what to whom and when, with the head that came, or without.

They are those that `windowed` counts: one for each start (x, y) at a step whose whole window is on the timeline. So a
rule has as many groundings with a head as its support, and as many in all as its body count.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from foretime.data.facts import Facts, inverse
from foretime.data.graph import Graph
from foretime.errors import DataError
from foretime.rules.index import distinct_rows
from foretime.rules.patterns import PATTERNS, gap_steps
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


class FoundExamples(NamedTuple):
    """The first groundings of a rule by time; `whole` says whether all that were asked for are there."""

    groundings: list[Grounding]
    whole: bool


class GroundingIndex:
    """The distinct events of facts and of their inverses, by predicate and time, and by predicate, subject and time."""

    def __init__(self, facts: Facts, graph: Graph) -> None:
        self._entities = len(graph.entities)
        predicates = len(graph.predicates)
        events = facts.with_inverses(predicates).events()
        key = events.predicate * self._entities + events.subject
        self._key, step, object_ = distinct_rows([key, events.time, events.object])
        self._time, self._object = step.astype(np.int32), object_.astype(np.int32)
        of_predicate = self._key // self._entities
        self._in_time = np.lexsort((self._time, of_predicate)).astype(np.int32)
        self._begin = np.searchsorted(of_predicate, np.arange(2 * predicates + 1))

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
        for grounding in _GroundingSearch(rule, graph, window, index, time.monotonic() + seconds).groundings():
            if grounding.holds != misses:
                found.append(grounding)
            if len(found) == count:
                break
    except TimeoutError:
        return FoundExamples(found, whole=False)
    return FoundExamples(found, whole=True)


class _GroundingSearch(NamedTuple):
    """What the groundings of a rule are looked for with, until a moment of the monotonic clock."""

    rule: RuleIds
    graph: Graph
    window: int
    events: GroundingIndex
    until: float

    def groundings(self) -> Iterator[Grounding]:
        """Yield one grounding for every distinct (x, y) at each step whose whole window is on the timeline."""
        latest = len(self.graph.timeline) - PATTERNS[self.rule.pattern].reach * self.window
        for step, firsts in groupby(self.events.in_time(self.rule.body[0]), lambda event: event.time):
            if step >= latest:
                return
            starts: dict[tuple[int, int], list[tuple[_Event, ...]]] = defaultdict(list)
            for first in firsts:
                self._check_time()
                for way in self._ways(first):
                    starts[first.subject, way[-1].object].append(way)
            for (subject, object_), ways in sorted(starts.items()):
                yield self._with_head(subject, object_, sorted(ways))
                self._check_time()

    def _ways(self, first: _Event) -> list[tuple[_Event, ...]]:
        """Return the ways in which a body continues after its first event."""
        if len(self.rule.body) == 1:
            return [(first,)]
        subject, object_ = (first.object, None) if self.rule.shape == "path" else (first.subject, first.object)
        span = self._span(first.time, PATTERNS[self.rule.pattern].second_gap)
        return [(first, second) for second in self.events.within(self.rule.body[-1], subject, span, object_)]

    def _with_head(self, subject: int, object_: int, ways: list[tuple[_Event, ...]]) -> Grounding:
        """Return the first way in which the body holds and its head comes, or the first one without a head."""
        for way in ways:
            span = self._span(way[-1].time, PATTERNS[self.rule.pattern].head_gap)
            if came := self.events.within(self.rule.head, subject, span, object_):
                return Grounding((*self._named(way, "body"), *self._named(came[:1], "head")), True)
        return Grounding(self._named(ways[0], "body"), False)

    def _span(self, step: int, gap: int) -> tuple[int, int]:
        """Return the first and the last step that a gap after a step allows."""
        low, high = gap_steps(gap, self.window)
        return step + low, step + high

    def _check_time(self) -> None:
        if time.monotonic() > self.until:
            raise TimeoutError

    def _named(self, events: Sequence[_Event], role: str) -> tuple[GroundedEvent, ...]:
        """Return events in names, inverses the other way round."""
        named, names, count = [], self.graph.entities.name, len(self.graph.predicates)
        for step, subject, predicate, object_ in events:
            if predicate >= count:
                subject, predicate, object_ = object_, inverse(predicate, count), subject
            what, when = self.graph.predicates.name(predicate), self.graph.timeline.label(step)
            named.append(GroundedEvent(role, names(subject), what, names(object_), when))
        return tuple(named)
