"""A graph as sorted arrays that the counting kernels walk through.

Every event stands here twice, as itself and as its inverse, so that walking from an entity sees all its events.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Facts

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


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


def event_index(facts: Facts, entities: int, predicates: int, steps: int) -> EventIndex:
    """Return the index of the events of the facts: one at each known end."""
    events = facts.with_inverses(predicates).events()
    subject, object_, time, predicate = distinct_rows([events.subject, events.object, events.time, events.predicate])
    first = np.flatnonzero(run_starts(subject, object_))
    order = np.lexsort([predicate, object_, time, subject])
    nodes, small = np.arange(entities + 1), np.int32
    return EventIndex(
        predicates=predicates,
        steps=steps,
        node=np.searchsorted(subject[first], nodes),
        other=object_[first].astype(small),
        pair=np.append(first, len(subject)),
        time=time.astype(small),
        predicate=predicate.astype(small),
        around=np.searchsorted(subject, nodes),
        around_time=time[order].astype(small),
        around_predicate=predicate[order].astype(small),
        around_other=object_[order].astype(small),
    )


def distinct_rows(columns: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Return the distinct rows, sorted by the columns from left to right."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    new = run_starts(*ordered)
    return [column[new] for column in ordered]


def run_starts(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows of sorted columns differ from the row before."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return new
