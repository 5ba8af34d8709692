"""The events that may support an answer, sorted in the five ways in which evidence looks them up.

Every event stands here twice, as itself and as its inverse. An interval is two events, one at each known end, and each
knows its `twin`, the step of the other end, because a fact asked about must not be its own evidence by either end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Facts, Ids
from foretime.evidence.buckets import count_bucket

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


class EventLists(NamedTuple):
    """Events with inverses. An offset column has one entry more than it has owners: owner k has `o[k] … o[k+1]`.

    By pair: subject x has the pairs `node[x] …`, sorted by `other`; a pair has the groups `pair[k] …`, one for each
    `group_predicate`; a group has the events `group[g] …`, sorted by `time`. `first_met` is the first step of a pair,
    and `met` the same numbers sorted within each subject: how many partners it had at a step is a binary search.
    By object of a predicate: predicate p has the objects `objects[p] …`, sorted by `object`; each has the events
    `by_object[j] …`, sorted by time; `object_bucket` is the feature of how many they are.
    By predicate: p has the events `by_predicate[p] …`, sorted by time.
    By step: step t has the active entities `step[t] …`, each once as `step_object`; such an entity has the events
    `active[e] …`, and `step_sole` is the one partner that it has in all of them, −1 if it has several.
    By entity: y is the object of the events `by_entity[y] …`, sorted by time.
    """

    predicates: int
    steps: int
    node: Offsets
    other: Ints
    pair: Offsets
    first_met: Ints
    met: Ints
    group_predicate: Ints
    group: Offsets
    time: Ints
    twin: Ints
    objects: Offsets
    object: Ints
    by_object: Offsets
    object_bucket: NDArray[np.int8]
    by_object_time: Ints
    by_object_subject: Ints
    by_predicate: Offsets
    by_predicate_time: Ints
    by_predicate_object: Ints
    by_predicate_subject: Ints
    step: Offsets
    step_object: Ints
    step_sole: Ints
    active: Offsets
    active_subject: Ints
    by_entity: Offsets
    by_entity_time: Ints
    by_entity_other: Ints
    by_entity_predicate: Ints
    by_entity_twin: Ints


class _Rows(NamedTuple):
    subject: Ids
    predicate: Ids
    object: Ids
    time: Ids
    twin: Ids


def event_lists(facts: Facts, entities: int, predicates: int, steps: int) -> EventLists:
    """Return the events of the facts; `predicates` counts them without inverses."""
    rows = _rows(facts.with_inverses(predicates))
    by_pair = _sorted(rows, [rows.twin, rows.time, rows.predicate, rows.object, rows.subject])
    pair_begin = _begins(by_pair.subject, by_pair.object)
    group_begin = _begins(by_pair.subject, by_pair.object, by_pair.predicate)
    first_met = np.minimum.reduceat(by_pair.time, pair_begin) if len(pair_begin) else np.empty(0, dtype=np.int64)
    by_object = _sorted(rows, [rows.time, rows.object, rows.predicate])
    object_begin = _begins(by_object.predicate, by_object.object)
    lists = _closed(object_begin, len(by_object.time))
    by_predicate = _sorted(rows, [rows.time, rows.predicate])
    by_step = _sorted(rows, [rows.subject, rows.object, rows.time])
    active_begin = _begins(by_step.time, by_step.object)
    active = _closed(active_begin, len(by_step.time))
    sole = by_step.subject[active_begin]
    by_entity = _sorted(rows, [rows.time, rows.object])
    return EventLists(
        predicates=predicates,
        steps=steps,
        node=_offsets(by_pair.subject[pair_begin], entities),
        other=_small(by_pair.object[pair_begin]),
        pair=_closed(np.searchsorted(group_begin, pair_begin), len(group_begin)),
        first_met=_small(first_met),
        met=_small(first_met[np.lexsort([first_met, by_pair.subject[pair_begin]])]),
        group_predicate=_small(by_pair.predicate[group_begin]),
        group=_closed(group_begin, len(by_pair.time)),
        time=_small(by_pair.time),
        twin=_small(by_pair.twin),
        objects=_offsets(by_object.predicate[object_begin], 2 * predicates),
        object=_small(by_object.object[object_begin]),
        by_object=lists,
        object_bucket=_bucket_of(np.diff(lists)),
        by_object_time=_small(by_object.time),
        by_object_subject=_small(by_object.subject),
        by_predicate=_offsets(by_predicate.predicate, 2 * predicates),
        by_predicate_time=_small(by_predicate.time),
        by_predicate_object=_small(by_predicate.object),
        by_predicate_subject=_small(by_predicate.subject),
        step=_offsets(by_step.time[active_begin], steps),
        step_object=_small(by_step.object[active_begin]),
        step_sole=_small(np.where(sole == by_step.subject[active[1:] - 1], sole, -1)),
        active=active,
        active_subject=_small(by_step.subject),
        by_entity=_offsets(by_entity.object, entities),
        by_entity_time=_small(by_entity.time),
        by_entity_other=_small(by_entity.subject),
        by_entity_predicate=_small(by_entity.predicate),
        by_entity_twin=_small(by_entity.twin),
    )


def _rows(facts: Facts) -> _Rows:
    """Return one row for each known end of each fact, with the other end as its twin (itself if there is none)."""
    first, second = facts.known_ends()
    two = np.flatnonzero(first != second)

    def twice(column: Ids) -> Ids:
        return np.concatenate([column, column[two]])

    return _Rows(
        twice(facts.subject),
        twice(facts.predicate),
        twice(facts.object),
        np.concatenate([first, second[two]]),
        np.concatenate([second, first[two]]),
    )


def _sorted(rows: _Rows, keys: list[Ids]) -> _Rows:
    """Return the rows sorted by the keys, the last key first."""
    order = np.lexsort(keys)
    return _Rows(*(column[order] for column in rows))


def _begins(*columns: Ids) -> Offsets:
    """Return where each run of equal values begins in sorted columns."""
    new = np.zeros(len(columns[0]), dtype=bool)
    new[:1] = True
    for column in columns:
        new[1:] |= np.diff(column) != 0
    return np.flatnonzero(new)


def _closed(begins: Offsets, end: int) -> Offsets:
    return np.append(begins, end).astype(np.int64)


def _offsets(ids: Ids, count: int) -> Offsets:
    """Return where each id's run begins in the sorted ids, and where the last one ends."""
    return np.searchsorted(ids, np.arange(count + 1)).astype(np.int64)


def _bucket_of(counts: Offsets) -> NDArray[np.int8]:
    distinct, place = np.unique(counts, return_inverse=True)
    return np.array([count_bucket(count) for count in distinct.tolist()], dtype=np.int8)[place]


def _small(column: Ids) -> Ints:
    return column.astype(np.int32)
