"""Real groundings of a rule: who did what to whom and when, with the head that came, or without.

They are those that `windowed` counts: one for each start (x, y) at a step whose whole window is on the timeline. So a
rule has as many groundings with a head as its support, and as many in all as its body count.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foretime.data.dataset import Dataset
from foretime.data.facts import Facts, inverse
from foretime.errors import DataError
from foretime.rules.patterns import PATTERNS, Pattern, gap_steps
from foretime.rules.rule import STATIC, Rule

if TYPE_CHECKING:
    from foretime.rules.temporal import TemporalSettings


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


def examples(
    rule: Rule,
    dataset: Dataset,
    settings: TemporalSettings,
    count: int | None = None,
    misses: bool = False,
    facts: Facts | None = None,
) -> list[Grounding]:
    """Return the first groundings of a rule by time, all without `count`; with `misses`, those whose head did not come.

    They are looked for in the training facts, or in those that are given.
    """
    if rule.pattern == STATIC:
        raise DataError("a rule without time has no dated examples; give its atoms times, as in (x, y, t)")
    groundings = _groundings(rule, dataset, dataset.train if facts is None else facts, settings)
    found = (grounding for grounding in groundings if grounding.holds != misses)
    return list(islice(found, count))


def _groundings(rule: Rule, dataset: Dataset, facts: Facts, settings: TemporalSettings) -> Iterator[Grounding]:
    pattern, predicates = PATTERNS[rule.pattern], len(dataset.predicates)
    events = _events_of(facts, predicates, {rule.head, *rule.body})
    heads: dict[tuple[int, int], list[_Event]] = defaultdict(list)
    for event in events[rule.head]:
        heads[event.subject, event.object].append(event)
    latest = len(dataset.timeline) - pattern.reach * settings.window
    for body in _bodies(rule, pattern, events, settings.window, latest):
        yield _with_head(body, heads[body.subject, body.object], pattern, settings.window, dataset)


def _events_of(facts: Facts, predicates: int, wanted: set[int]) -> dict[int, list[_Event]]:
    """Return the distinct events of some predicates and inverses, by predicate, in the order of time."""
    columns = facts.with_inverses(predicates).events()
    chosen = np.isin(columns.predicate, list(wanted))
    rows = zip(*(column[chosen].tolist() for column in columns), strict=True)
    events: dict[int, list[_Event]] = {predicate: [] for predicate in wanted}
    for subject, predicate, object_, time in sorted(set(rows), key=lambda row: (row[3], row)):
        events[predicate].append(_Event(time, subject, predicate, object_))
    return events


def _bodies(rule: Rule, pattern: Pattern, events: dict[int, list[_Event]], window: int, latest: int) -> Iterator[_Body]:
    """Yield every start whose whole window is on the timeline: distinct (x, y) at each step, in order."""
    seconds: dict[object, list[_Event]] = defaultdict(list)
    for event in events[rule.body[-1]] if len(rule.body) == 2 else []:
        seconds[event.subject if rule.shape == "path" else (event.subject, event.object)].append(event)
    starts: dict[tuple[int, int, int], list[tuple[_Event, ...]]] = {}
    now = -1
    for first in events[rule.body[0]]:
        if first.time >= latest:
            break
        if first.time != now:
            yield from _at_one_step(starts)
            starts, now = {}, first.time
        key = first.object if rule.shape == "path" else (first.subject, first.object)
        ways = [(first, second) for second in _within(seconds[key], first.time, pattern.second_gap, window)]
        for way in ways if len(rule.body) == 2 else [(first,)]:
            starts.setdefault((first.time, first.subject, way[-1].object), []).append(way)
    yield from _at_one_step(starts)


def _at_one_step(starts: dict[tuple[int, int, int], list[tuple[_Event, ...]]]) -> Iterator[_Body]:
    for (_, subject, object_), ways in sorted(starts.items()):
        yield _Body(subject, object_, sorted(ways))


def _within(events: list[_Event], time: int, gap: int, window: int) -> list[_Event]:
    """Return the events that a gap after a time allows."""
    low, high = gap_steps(gap, window)
    begin = bisect_left(events, (time + low,))
    return events[begin : bisect_left(events, (time + high + 1,))]


def _with_head(body: _Body, heads: list[_Event], pattern: Pattern, window: int, dataset: Dataset) -> Grounding:
    """Return the first way in which the body holds and its head comes, or the first one without a head."""
    for way in body.ways:
        came = _within(heads, way[-1].time, pattern.head_gap, window)
        if came:
            return Grounding((*_named(way, "body", dataset), *_named(came[:1], "head", dataset)), True)
    return Grounding(_named(body.ways[0], "body", dataset), False)


def _named(events: tuple[_Event, ...] | list[_Event], role: str, dataset: Dataset) -> tuple[GroundedEvent, ...]:
    """Return events in names, inverses turned round."""
    named, count = [], len(dataset.predicates)
    for time, subject, predicate, object_ in events:
        if predicate >= count:
            subject, predicate, object_ = object_, inverse(predicate, count), subject
        who, whom = dataset.entities.name(subject), dataset.entities.name(object_)
        when = dataset.timeline.label(time)
        named.append(GroundedEvent(role, who, dataset.predicates.name(predicate), whom, when))
    return tuple(named)
