"""The events that may support an answer, sorted in the five ways in which evidence looks them up.

Every event stands here twice, as itself and as its inverse. An interval is two events, one at each known end, and each
knows its `twin`, the step of the other end, because a fact asked about must not be its own evidence by either end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Facts
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
    subject: Ints
    predicate: Ints
    object: Ints
    time: Ints
    twin: Ints

    def by(self, *names: str) -> _Rows:
        """Return the rows sorted by columns, the first one first."""
        order = np.lexsort([getattr(self, name) for name in reversed(names)])
        return _Rows(*(column[order] for column in self))


def event_lists(facts: Facts, entities: int, predicates: int, steps: int) -> EventLists:
    """Return the events of the facts; `predicates` counts them without inverses."""
    rows = _rows(facts.with_inverses(predicates))
    by_pair = rows.by("subject", "object", "predicate", "time", "twin")
    pair_begin = _begins(by_pair.subject, by_pair.object)
    group_begin = _begins(by_pair.subject, by_pair.object, by_pair.predicate)
    first_met = np.minimum.reduceat(by_pair.time, pair_begin) if len(pair_begin) else by_pair.time
    by_object = rows.by("predicate", "object", "time")
    object_begin = _begins(by_object.predicate, by_object.object)
    lists = np.append(object_begin, len(by_object.time))
    by_predicate = rows.by("predicate", "time")
    by_step = rows.by("time", "object", "subject")
    active_begin = _begins(by_step.time, by_step.object)
    active = np.append(active_begin, len(by_step.time))
    sole = by_step.subject[active_begin]
    by_entity = rows.by("object", "time")
    return EventLists(
        predicates=predicates,
        steps=steps,
        node=offsets_of(by_pair.subject[pair_begin], entities),
        other=by_pair.object[pair_begin],
        pair=np.append(np.searchsorted(group_begin, pair_begin), len(group_begin)),
        first_met=first_met,
        met=first_met[np.lexsort([first_met, by_pair.subject[pair_begin]])],
        group_predicate=by_pair.predicate[group_begin],
        group=np.append(group_begin, len(by_pair.time)),
        time=by_pair.time,
        twin=by_pair.twin,
        objects=offsets_of(by_object.predicate[object_begin], 2 * predicates),
        object=by_object.object[object_begin],
        by_object=lists,
        object_bucket=_bucket_of(np.diff(lists)),
        by_object_time=by_object.time,
        by_object_subject=by_object.subject,
        by_predicate=offsets_of(by_predicate.predicate, 2 * predicates),
        by_predicate_time=by_predicate.time,
        by_predicate_object=by_predicate.object,
        by_predicate_subject=by_predicate.subject,
        step=offsets_of(by_step.time[active_begin], steps),
        step_object=by_step.object[active_begin],
        step_sole=np.where(sole == by_step.subject[active[1:] - 1], sole, np.int32(-1)),
        active=active,
        active_subject=by_step.subject,
        by_entity=offsets_of(by_entity.object, entities),
        by_entity_time=by_entity.time,
        by_entity_other=by_entity.subject,
        by_entity_predicate=by_entity.predicate,
        by_entity_twin=by_entity.twin,
    )


def _rows(facts: Facts) -> _Rows:
    """Return one row for each known end of each fact, with the other end as its twin (itself if there is none)."""
    first, second = facts.known_ends()
    two = np.flatnonzero(first != second)
    columns = [(ids, ids) for ids in (facts.subject, facts.predicate, facts.object)]
    columns += [(first, second), (second, first)]
    return _Rows(*(np.concatenate([one, other[two]]).astype(np.int32) for one, other in columns))


def _begins(*columns: Ints) -> Offsets:
    """Return where each run of equal values begins in sorted columns."""
    new = np.zeros(len(columns[0]), dtype=bool)
    new[:1] = True
    for column in columns:
        new[1:] |= np.diff(column) != 0
    return np.flatnonzero(new)


def offsets_of(ids: Ints | Offsets, count: int) -> Offsets:
    """Return where each id's run begins in the sorted ids, and where the last one ends."""
    return np.searchsorted(ids, np.arange(count + 1)).astype(np.int64)


def _bucket_of(counts: Offsets) -> NDArray[np.int8]:
    distinct, place = np.unique(counts, return_inverse=True)
    return np.array([count_bucket(count) for count in distinct.tolist()], dtype=np.int8)[place]
