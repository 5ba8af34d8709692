"""What is known around two entities at a time, as rows of a table of weights: the input of the softmax over predicates.

Three groups of rows, and each is about something: the events *between* the two, what both do with *others* near that
time, and what holds in *general*: who they are, and the words of their names.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from foretime.data.facts import Facts, Ids
from foretime.evidence.events import EventLists
from foretime.evidence.families import COUNTS, OFFSET_EDGES
from foretime.evidence.lookups import (
    compiled,
    count_bucket,
    find,
    is_hidden,
    is_watched,
    lower_bound,
    nearest,
    offset_bucket,
)
from foretime.reranker.features.names import NameWords
from foretime.reranker.slots.softmax import Traces
from foretime.reranker.slots.words import TRACE_TOPICS

OFFSETS: Final = 2 * (len(OFFSET_EDGES) + 1) + 1
BETWEEN: Final = OFFSETS + COUNTS
"""Rows of each predicate between the two: how near in time on either side, and how many."""
OTHERS: Final = 4
"""Rows of each predicate with others: the subject's at the same step, within a week; the object's likewise."""
WEEK: Final = 7
NO_PREDICATE: Final = -1
OWN_WEIGHTS: Final = 50_000_000
"""Weights of single entities at most: 100 MB in a file."""


def table_size(events: EventLists, names: NameWords) -> int:
    """Return how many rows the table has."""
    return 2 * events.predicates * (BETWEEN + OTHERS) + 1 + 2 * _own_rows(events) + 2 * len(names.rarity)


def own_rows(entities: int, predicates: int) -> int:
    """Return how many entities have rows of their own: the first ones, if all would take too much room."""
    return min(entities, OWN_WEIGHTS // (2 * predicates))


def _own_rows(events: EventLists) -> int:
    return own_rows(len(events.node) - 1, events.predicates)


def traces_of(
    events: EventLists, names: NameWords, past_only: bool, facts: Facts, hidden: bool, own: Ids | None = None
) -> Traces:
    """Return the rows of facts; if `hidden`, without their events at their time, and without those at a step `own`."""
    time = facts.known_ends()[0]
    predicate = facts.predicate if hidden else np.full(len(facts), NO_PREDICATE)
    first = np.zeros(len(TRACE_TOPICS) * len(facts) + 1, dtype=np.int64)
    asked = (
        events,
        names,
        past_only,
        _own_rows(events),
        facts.subject,
        facts.object,
        time,
        predicate,
        time if own is None else own,
    )
    trace_all(*asked, first, np.empty(0, dtype=np.int64))
    np.cumsum(first, out=first)
    row = np.empty(first[-1], dtype=np.int64)
    trace_all(*asked, first, row)
    return Traces(first, row)


def first_rows(events: EventLists, names: NameWords) -> int:
    """Return how many rows of the table an entity may have where it alone is given; there are two such tables."""
    return 2 * events.predicates * BETWEEN + 1 + _own_rows(events) + len(names.rarity)


def first_traces_of(
    events: EventLists, names: NameWords, past_only: bool, facts: Facts, as_subject: bool, hidden: bool
) -> Traces:
    """Return the rows of the subjects of facts, or of the objects; if `hidden`, without the facts themselves."""
    entity, other = (facts.subject, facts.object) if as_subject else (facts.object, facts.subject)
    seen_as = facts.predicate + events.predicates if as_subject else facts.predicate
    own = seen_as if hidden else np.full(len(facts), NO_PREDICATE)
    table = 0 if as_subject else first_rows(events, names)
    first = np.zeros(len(facts) + 1, dtype=np.int64)
    asked = (events, names, past_only, _own_rows(events), table, entity, other, own, facts.known_ends()[0])
    trace_entities(*asked, first, np.empty(0, dtype=np.int64))
    np.cumsum(first, out=first)
    row = np.empty(first[-1], dtype=np.int64)
    trace_entities(*asked, first, row)
    return Traces(first, row)


@compiled
def _put(row, at, value):
    if len(row):
        row[at] = value
    return at + 1


@compiled
def _between(events, x, y, t, p, own, past_only, row, at):
    """Put the rows of the events between the two, without those of p at t and at `own`."""
    k = find(events.other, events.node[x], events.node[x + 1], y)
    if k < 0:
        return at
    mirror = (p + events.predicates) % (2 * events.predicates)
    for g in range(events.pair[k], events.pair[k + 1]):
        q = events.group_predicate[g]
        watched = p >= 0 and is_watched(q, p, mirror, x == y)
        begin, end = events.group[g], events.group[g + 1]
        before, now, after, count = nearest(events.time, events.twin, begin, end, watched, t, past_only, own)
        if count == 0:
            continue
        base = q * BETWEEN
        if now:
            at = _put(row, at, base)
        if before >= 0:
            at = _put(row, at, base + offset_bucket(before - t))
        if after >= 0:
            at = _put(row, at, base + offset_bucket(after - t))
        at = _put(row, at, base + OFFSETS + count_bucket(count))
    return at


@compiled
def _with_others(events, x, y, t, past_only, base, mark, stamp, row, at):
    """Put the rows of what x does with others than y within a week, each predicate once, and of the same step."""
    begin, end = events.by_entity[x], events.by_entity[x + 1]
    for e in range(lower_bound(events.by_entity_time, begin, end, t - WEEK), end):
        far = events.by_entity_time[e] - t
        if far > WEEK or (past_only and far >= 0):
            break
        q = events.by_entity_predicate[e]
        if events.by_entity_other[e] == y or events.by_entity_other[e] == x:
            continue
        if far == 0 and mark[2 * q] != stamp:
            mark[2 * q] = stamp
            at = _put(row, at, base + 2 * q)
        if mark[2 * q + 1] != stamp:
            mark[2 * q + 1] = stamp
            at = _put(row, at, base + 2 * q + 1)
    return at


@compiled
def _in_general(names, entities, x, y, base, row, at):
    """Put the rows of the two entities and of the words of their names."""
    at = _put(row, at, base)
    if x < entities:
        at = _put(row, at, base + 1 + x)
    if y < entities:
        at = _put(row, at, base + 1 + entities + y)
    base += 1 + 2 * entities
    for i in range(names.of[x], names.of[x + 1]):
        at = _put(row, at, base + names.word[i])
    for i in range(names.of[y], names.of[y + 1]):
        at = _put(row, at, base + len(names.rarity) + names.word[i])
    return at


@njit(cache=True, nogil=True)
def trace_all(events, names, past_only, entities, subject, object_, time, predicate, own, first, row):
    """Count the rows of each group into `first` if there is no room in `row`, else put them there."""
    mark = np.full(4 * events.predicates, -1, dtype=np.int64)
    others = 2 * events.predicates * BETWEEN
    general = others + 2 * events.predicates * OTHERS
    at = 0
    for k in range(len(subject)):
        x, y, t = subject[k], object_[k], time[k]
        begin = at
        at = _between(events, x, y, t, predicate[k], own[k], past_only, row, at)
        between = at
        at = _with_others(events, x, y, t, past_only, others, mark, 2 * k, row, at)
        at = _with_others(events, y, x, t, past_only, others + 4 * events.predicates, mark, 2 * k + 1, row, at)
        with_others = at
        at = _in_general(names, entities, x, y, general, row, at)
        if not len(row):
            first[3 * k + 1], first[3 * k + 2], first[3 * k + 3] = (
                between - begin,
                with_others - between,
                at - with_others,
            )


@compiled
def _nearest_by_predicate(events, x, other, own, t, past_only, near):
    """Fill `near` with the last step before, now, the first after and the count of each predicate of x."""
    near[:, 0], near[:, 1], near[:, 2], near[:, 3] = -1, 0, -1, 0
    for e in range(events.by_entity[x], events.by_entity[x + 1]):
        step, q = events.by_entity_time[e], events.by_entity_predicate[e]
        watched = q == own and events.by_entity_other[e] == other
        if is_hidden(watched, step, events.by_entity_twin[e], t, past_only):
            continue
        near[q, 3] += 1
        if step < t:
            near[q, 0] = step
        elif step == t:
            near[q, 1] = 1
        elif near[q, 2] < 0:
            near[q, 2] = step


@njit(cache=True, nogil=True)
def trace_entities(events, names, past_only, entities, table, entity, other, own, time, first, row):
    """Count the rows of each entity into `first` if there is no room in `row`, else put them there."""
    near = np.zeros((2 * events.predicates, 4), dtype=np.int64)
    general = table + 2 * events.predicates * BETWEEN
    at = 0
    for k in range(len(entity)):
        x, t, begin = entity[k], time[k], at
        _nearest_by_predicate(events, x, other[k], own[k], t, past_only, near)
        for q in range(len(near)):
            if near[q, 3] == 0:
                continue
            base = table + q * BETWEEN
            if near[q, 1]:
                at = _put(row, at, base)
            if near[q, 0] >= 0:
                at = _put(row, at, base + offset_bucket(near[q, 0] - t))
            if near[q, 2] >= 0:
                at = _put(row, at, base + offset_bucket(near[q, 2] - t))
            at = _put(row, at, base + OFFSETS + count_bucket(near[q, 3]))
        at = _put(row, at, general)
        if x < entities:
            at = _put(row, at, general + 1 + x)
        for i in range(names.of[x], names.of[x + 1]):
            at = _put(row, at, general + 1 + entities + names.word[i])
        if not len(row):
            first[k + 1] = at - begin
