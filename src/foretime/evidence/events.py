"""The events that may support an answer, sorted in the five ways in which evidence looks them up.

Every event stands here twice, as itself and as its inverse. An interval is two events, one at each known end, and each
knows its `twin`, the step of the other end, because a fact asked about must not be its own evidence by either end.
"""

from __future__ import annotations

import math
from copy import copy
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Events, Facts
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
    Between a pair: pair k has the events `group[pair[k]] …` of all predicates, sorted by time, as `between_time`.
    Where sums of events that fade with time are wanted, five of the lists have them, (events, rates), and only then is
    there what is between a pair; `by_object_subjects` is how many different subjects there were up to each event.
    `intervals` is whether any event has a twin at another step.
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
    intervals: bool
    between_time: Ints
    between_predicate: Ints
    between_twin: Ints
    by_object_subjects: Ints
    between_fading: NDArray[np.float32]
    fading: NDArray[np.float32]
    by_object_fading: NDArray[np.float32]
    by_predicate_fading: NDArray[np.float32]
    by_entity_fading: NDArray[np.float32]


class _Rows(NamedTuple):
    subject: Ints
    predicate: Ints
    object: Ints
    time: Ints
    twin: Ints

    def order(self, *names: str) -> Offsets:
        """Return the places of the rows sorted by columns, the first one first; equal rows stay as they are."""
        columns, count = self.columns(*names), max(len(self.subject), 1)
        widths = [int(column.max(initial=0)) + 1 for column in columns]
        if math.prod(widths) > _MOST:
            return np.lexsort(columns[::-1])
        # one number for each row sorts several times faster than column after column
        key = np.zeros(len(self.subject), dtype=np.int64)
        for column, width in zip(columns, widths, strict=True):
            key = key * width + column
        if math.prod(widths) > _MOST // count:
            return np.argsort(key, kind="stable")
        return np.sort(key * count + np.arange(len(key))) % count  # with the row in it, no two are equal

    def take(self, places: Offsets) -> _Rows:
        """Return the chosen rows, in the order given."""
        return _Rows(*(np.take(column, places) for column in self))

    def columns(self, *names: str) -> tuple[Ints, ...]:
        """Return some columns."""
        return tuple(getattr(self, name) for name in names)


_ORDERS: Final = {
    "pair": ("subject", "object", "predicate", "time", "twin"),
    "object": ("predicate", "object", "time"),
    "predicate": ("predicate", "time"),
    "step": ("time", "object", "subject"),
    "entity": ("object", "time"),
}
"""The five ways in which events are sorted."""
_MOST: Final = int(np.iinfo(np.int64).max)
_OF_FACT: Final = 40
"""Bits of a fact's number in the origin of a row; above them is whether it is an inverse, and a second end."""


class SortedEvents:
    """The events of some facts, sorted once: lists without some facts, or with more, follow without sorting again."""

    def __init__(self, facts: Facts, entities: int, predicates: int, steps: int, fading: bool = False) -> None:
        """Sort the events; `predicates` counts them without inverses, `fading` is whether sums of them are wanted."""
        self._sizes, self._fading = (entities, predicates, steps), fading
        self._rows, self._origin = _rows_of(facts, predicates, 0)
        self._facts = len(facts)
        self._orders = {name: self._rows.order(*columns) for name, columns in _ORDERS.items()}

    def lists(self, kept: NDArray[np.bool_] | None = None) -> EventLists:
        """Return the events as lists, those of the facts that are `kept`, (facts,), if it is given.

        They are the lists of these facts alone: rows that are equal stay in the order of the facts.
        """
        orders = self._orders
        if kept is not None:
            rows = kept[self._origin & ((1 << _OF_FACT) - 1)]
            orders = {name: order[rows[order]] for name, order in orders.items()}
        taken = {name: self._rows.take(order) for name, order in orders.items()}
        return _listed(taken, *self._sizes, self._fading)

    def grown(self, facts: Facts, entities: int, predicates: int, steps: int) -> SortedEvents:
        """Return the events with those of more facts, merged in: the same as if all had been sorted together.

        The sizes are the new ones, none smaller than before: new names have the ids after the old ones.
        """
        from foretime.evidence.merging import places_among  # numba is slow to load

        old, shift = self._rows, predicates - self._sizes[1]
        if shift:  # inverses are numbered after all predicates; their order stays
            moved = np.where(old.predicate >= self._sizes[1], old.predicate + np.int32(shift), old.predicate)
            old = old._replace(predicate=moved)
        new, origin = _rows_of(facts, predicates, self._facts)
        other = copy(self)
        other._sizes, other._facts = (entities, predicates, steps), self._facts + len(facts)
        other._rows = _Rows(*(np.concatenate(columns) for columns in zip(old, new, strict=True)))
        other._origin = np.concatenate([self._origin, origin])
        other._orders = {}
        for name, columns in _ORDERS.items():
            order = new.order(*columns)
            sorted_before = (old.columns(*columns), self._origin, self._orders[name])
            places = places_among(*sorted_before, new.columns(*columns), origin, order)
            other._orders[name] = np.insert(self._orders[name], places, len(self._origin) + order)
        return other


def event_lists(facts: Facts, entities: int, predicates: int, steps: int, fading: bool = False) -> EventLists:
    """Return the events of the facts; `predicates` counts them without inverses."""
    return SortedEvents(facts, entities, predicates, steps, fading).lists()


def events_in(lists: EventLists) -> Events:
    """Return the events of lists as columns, inverses among them, sorted by subject and object."""
    subject = np.repeat(np.arange(len(lists.node) - 1), np.diff(lists.node))  # (pairs,)
    per_pair = np.diff(lists.group[lists.pair])
    predicate = np.repeat(lists.group_predicate.astype(np.int64), np.diff(lists.group))
    object_ = np.repeat(lists.other.astype(np.int64), per_pair)
    return Events(np.repeat(subject, per_pair), predicate, object_, lists.time.astype(np.int64))


def _listed(rows: dict[str, _Rows], entities: int, predicates: int, steps: int, fading: bool) -> EventLists:
    by_pair, by_object, by_predicate, by_step, by_entity = (rows[name] for name in _ORDERS)
    pair_begin = _begins(by_pair.subject, by_pair.object)
    group_begin = _begins(by_pair.subject, by_pair.object, by_pair.predicate)
    first_met = np.minimum.reduceat(by_pair.time, pair_begin) if len(pair_begin) else by_pair.time
    object_begin = _begins(by_object.predicate, by_object.object)
    lists = np.append(object_begin, len(by_object.time))
    active_begin = _begins(by_step.time, by_step.object)
    active = np.append(active_begin, len(by_step.time))
    sole = by_step.subject[active_begin]
    group, entity = np.append(group_begin, len(by_pair.time)), offsets_of(by_entity.object, entities)
    predicate = offsets_of(by_predicate.predicate, 2 * predicates)
    pair_first = np.append(pair_begin, len(by_pair.time))
    between = _by_time(by_pair, pair_first) if fading else by_pair.take(np.empty(0, dtype=np.int64))
    return EventLists(
        predicates=predicates,
        steps=steps,
        node=offsets_of(by_pair.subject[pair_begin], entities),
        other=by_pair.object[pair_begin],
        pair=np.append(np.searchsorted(group_begin, pair_begin), len(group_begin)),
        first_met=first_met,
        met=first_met[np.lexsort([first_met, by_pair.subject[pair_begin]])],
        group_predicate=by_pair.predicate[group_begin],
        group=group,
        time=by_pair.time,
        twin=by_pair.twin,
        objects=offsets_of(by_object.predicate[object_begin], 2 * predicates),
        object=by_object.object[object_begin],
        by_object=lists,
        object_bucket=_bucket_of(np.diff(lists)),
        by_object_time=by_object.time,
        by_object_subject=by_object.subject,
        by_predicate=predicate,
        by_predicate_time=by_predicate.time,
        by_predicate_object=by_predicate.object,
        by_predicate_subject=by_predicate.subject,
        step=offsets_of(by_step.time[active_begin], steps),
        step_object=by_step.object[active_begin],
        step_sole=np.where(sole == by_step.subject[active[1:] - 1], sole, np.int32(-1)),
        active=active,
        active_subject=by_step.subject,
        by_entity=entity,
        by_entity_time=by_entity.time,
        by_entity_other=by_entity.subject,
        by_entity_predicate=by_entity.predicate,
        by_entity_twin=by_entity.twin,
        intervals=bool((by_pair.time != by_pair.twin).any()),
        between_time=between.time,
        between_predicate=between.predicate,
        between_twin=between.twin,
        by_object_subjects=_distinct(fading, by_object.subject, lists, entities),
        between_fading=_sums(fading, between.time, pair_first),
        fading=_sums(fading, by_pair.time, group),
        by_object_fading=_sums(fading, by_object.time, lists),
        by_predicate_fading=_sums(fading, by_predicate.time, predicate),
        by_entity_fading=_sums(fading, by_entity.time, entity),
    )


def _by_time(rows: _Rows, first: Offsets) -> _Rows:
    """Return the rows of each pair sorted by time, whatever their predicates; pair k has `first[k]` to the next."""
    pair = np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))
    return rows.take(rows._replace(subject=pair).order("subject", "time"))


def _distinct(wanted: bool, owners: Ints, first: Offsets, count: int) -> Ints:
    """Return how many different owners the events of each list have up to each, none where they are not wanted."""
    if not wanted:
        return owners[:0]
    from foretime.evidence.rates import distinct_so_far  # numba is slow to load

    found: Ints = distinct_so_far(owners, first, count)
    return found


def _sums(wanted: bool, times: Ints, first: Offsets) -> NDArray[np.float32]:
    """Return the fading sums of lists, none where they are not wanted."""
    if not wanted:
        return np.empty((0, 0), dtype=np.float32)
    from foretime.evidence.rates import fading_sums  # numba is slow to load

    found: NDArray[np.float32] = fading_sums(times, first)
    return found


def _rows_of(facts: Facts, predicates: int, first: int) -> tuple[_Rows, Offsets]:
    """Return a row for each known end of each fact and of its inverse, and the origin of each row.

    A row has the other end as its twin, itself if there is none. Rows that are sorted by their origins are in the order
    in which the facts have them: first ends before second ones, inverses after the others. `first` is the number of
    the first fact.
    """
    both = facts.with_inverses(predicates)
    start, end = both.known_ends()
    two = np.flatnonzero(start != end)
    columns = [(ids, ids) for ids in (both.subject, both.predicate, both.object)]
    columns += [(start, end), (end, start)]
    rows = _Rows(*(np.concatenate([one, other[two]]).astype(np.int32) for one, other in columns))
    inverse, fact = np.divmod(np.arange(len(both)), max(len(facts), 1))
    origin = (inverse << _OF_FACT) + first + fact
    return rows, np.append(origin, origin[two] + (2 << _OF_FACT))


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
