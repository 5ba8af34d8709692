"""The shared neighbours behind one candidate of a graph of intervals: the paths that `intervals` adds up.

The search that adds them up for all candidates records those of one; here the records are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foretime.data.facts import UNKNOWN, inverse

if TYPE_CHECKING:
    from foretime.reranker.features.intervals import SpanIndex

ROOM = 4096
"""Room for paths at first; more is made where it is not enough."""


class SpanFact(NamedTuple):
    """A fact as ids, with the ends that are known to the question; its predicate may be an inverse."""

    subject: int
    predicate: int
    object: int
    start: int
    end: int

    @property
    def known(self) -> tuple[int, ...]:
        """The ends that are known."""
        return tuple(end for end in (self.start, self.end) if end != UNKNOWN)


class SharedNeighbourPath(NamedTuple):
    """From the subject to a neighbour, from a co-neighbour to the same neighbour, and on to the candidate."""

    of_subject: SpanFact
    of_co_neighbour: SpanFact
    to_candidate: SpanFact
    weight: float


def shared_neighbour_paths(index: SpanIndex, past_only: bool, asked: SpanFact) -> list[SharedNeighbourPath]:
    """Return the paths that support the object of a fact asked about, the heaviest and then the nearest first."""
    from foretime.reranker.features.intervals import record_paths

    paths = np.empty((ROOM, 4))
    size = record_paths(index, past_only, *asked, paths)
    if size > len(paths):
        paths = np.empty((size, 4))
        record_paths(index, past_only, *asked, paths)
    until = min(asked.known) if past_only else None

    def fact(row: int, turned: bool) -> SpanFact:
        subject, object_ = int(index.other[row]), int(np.searchsorted(index.of, row, side="right")) - 1
        start, end = (
            UNKNOWN if until is not None and end >= until else end
            for end in (int(index.start[row]), int(index.end[row]))
        )
        predicate = int(index.predicate[row])
        if turned:
            return SpanFact(object_, inverse(predicate, index.predicates), subject, start, end)
        return SpanFact(subject, predicate, object_, start, end)

    found = [
        SharedNeighbourPath(fact(int(i), True), fact(int(j), False), fact(int(k), True), weight)
        for i, j, k, weight in paths[:size].tolist()
    ]
    return sorted(found, key=lambda path: (-path.weight, steps_apart(asked, path.to_candidate)))


def steps_apart(one: SpanFact, other: SpanFact) -> int:
    """Return how many steps lie between two facts, 0 if they have one in common."""
    return max(0, max(min(one.known), min(other.known)) - min(max(one.known), max(other.known)))
