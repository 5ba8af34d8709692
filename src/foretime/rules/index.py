"""A graph as sorted arrays that the counting kernels walk through.

Every event stands here twice, as itself and as its inverse, so that walking from an entity sees all its events.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Events, Facts

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


class StaticIndex(NamedTuple):
    """Distinct triples without time, grouped by ordered pairs of entities.

    Node x has the pairs `node[x] … node[x+1]`, sorted by `other`; pair k has the predicates `pair[k] … pair[k+1]`.
    """

    predicates: int
    node: Offsets
    other: Ints
    pair: Offsets
    predicate: Ints


class EventIndex(NamedTuple):
    """Distinct events, grouped by ordered pairs and, once more, by steps.

    By pair: node x has the pairs `node[x] … node[x+1]`, sorted by `other`; pair k has the events `pair[k] … pair[k+1]`,
    sorted by `time`, each with its `predicate`. By node: node x has the events `around[x] … around[x+1]`, sorted by
    `around_time`, each with `around_predicate` and `around_other`.
    """

    predicates: int
    steps: int
    node: Offsets
    other: Ints
    pair: Offsets
    time: Ints
    predicate: Ints
    around: Offsets
    around_time: Ints
    around_predicate: Ints
    around_other: Ints


def static_index(facts: Facts, entities: int, predicates: int) -> StaticIndex:
    """Return the index of the facts without their times."""
    both = facts.with_inverses(predicates)
    subject, object_, predicate = distinct_rows([both.subject, both.object, both.predicate])
    pair, other_subject, other = _pairs(subject, object_)
    return StaticIndex(
        predicates, _offsets(other_subject, entities), other.astype(np.int32), pair, predicate.astype(np.int32)
    )


def event_index(facts: Facts, entities: int, predicates: int, steps: int) -> EventIndex:
    """Return the index of the events of the facts: one at each known end."""
    events: Events = facts.with_inverses(predicates).events()
    subject, object_, time, predicate = distinct_rows([events.subject, events.object, events.time, events.predicate])
    pair, pair_subject, other = _pairs(subject, object_)
    order = np.lexsort([predicate, object_, time, subject])
    small = np.int32
    return EventIndex(
        predicates=predicates,
        steps=steps,
        node=_offsets(pair_subject, entities),
        other=other.astype(small),
        pair=pair,
        time=time.astype(small),
        predicate=predicate.astype(small),
        around=_offsets(subject, entities),
        around_time=time[order].astype(small),
        around_predicate=predicate[order].astype(small),
        around_other=object_[order].astype(small),
    )


def distinct_rows(columns: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Return the distinct rows, sorted by the columns from left to right."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for column in ordered:
        new[1:] |= np.diff(column) != 0
    return [column[new] for column in ordered]


def _pairs(
    subject: NDArray[np.int64], object_: NDArray[np.int64]
) -> tuple[Offsets, NDArray[np.int64], NDArray[np.int64]]:
    """Return where each run of equal pairs begins (and the last ends), and the pairs themselves."""
    new = np.ones(len(subject), dtype=bool)
    new[1:] = (np.diff(subject) != 0) | (np.diff(object_) != 0)
    first = np.flatnonzero(new)
    return np.append(first, len(subject)), subject[first], object_[first]


def _offsets(ids: NDArray[np.int64], count: int) -> Offsets:
    """Return where each id's run begins in the sorted ids, and where the last one ends."""
    return np.searchsorted(ids, np.arange(count + 1))
