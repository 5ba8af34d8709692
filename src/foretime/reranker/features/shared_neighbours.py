"""The company behind one candidate of a graph of intervals: every path that the columns of `spans` add up.

What `spans` adds up for all candidates at once is taken apart here for one, in plain Python, by the same rules: a
question `(x, p, ?, start, end)` never sees its own facts, nor with `past_only` what is not known before it. Only the
end of a search after too many facts is not repeated: of such a subject there may be more paths here than were added up.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, inverse

if TYPE_CHECKING:
    from foretime.reranker.features.intervals import SpanIndex

HUB: Final = 400
"""With more facts than this an entity brings no company together: too many share it."""
NEVER: Final = np.iinfo(np.int32).max


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


class CompanyPath(NamedTuple):
    """From the subject to a third, from one of its company to the same third, and on to the candidate."""

    of_subject: SpanFact
    of_peer: SpanFact
    to_candidate: SpanFact
    weight: float


def company_paths(index: SpanIndex, past_only: bool, asked: SpanFact) -> list[CompanyPath]:
    """Return the paths that speak for the object of a fact asked about, the heaviest and then the nearest first."""
    x, p, y = asked[:3]
    if x == y:
        return []
    view = _View(index, x, min(asked.known) if past_only else NEVER)
    to_candidate: dict[int, list[SpanFact]] = {}
    for fact in view.facts(y, p):
        to_candidate.setdefault(fact.subject, []).append(fact)
    peers = np.array([peer for peer in to_candidate if view.size(peer) <= HUB], dtype=np.int64)
    found = []
    for mine in view.facts(x, None):
        of_subject = SpanFact(x, inverse(mine.predicate, index.predicates), mine.subject, mine.start, mine.end)
        third = of_subject.object
        own = of_subject.predicate == p and of_subject[3:] == asked[3:]
        if own or third in (x, y) or view.size(third) > HUB:
            continue
        for of_peer in view.facts(third, of_subject.predicate, peers):
            weight = 1.0 / math.sqrt(view.size(third) * view.size(of_peer.subject))
            found += [CompanyPath(of_subject, of_peer, last, weight) for last in to_candidate[of_peer.subject]]
    return sorted(found, key=lambda path: (-path.weight, steps_apart(asked, path.to_candidate)))


def steps_apart(one: SpanFact, other: SpanFact) -> int:
    """Return how many steps lie between two facts, 0 if they have one in common."""
    return max(0, max(min(one.known), min(other.known)) - min(max(one.known), max(other.known)))


class _View:
    """What is known of the facts of an index before a step, by whoever asks about a subject."""

    def __init__(self, index: SpanIndex, subject: int, until: int) -> None:
        self._index, self._subject, self._until = index, subject, until
        self.size = cache(self._size)

    def facts(self, entity: int, predicate: int | None, others: NDArray[np.int64] | None = None) -> list[SpanFact]:
        """Return the facts whose object is an entity: under a predicate, of some others; none of the subject's own."""
        rows, index = self._rows(entity), self._index
        if predicate is not None:
            rows = rows[index.predicate[rows] == predicate]
        if others is not None:
            rows = rows[np.isin(index.other[rows], others)]
        columns = (column[rows].tolist() for column in (index.other, index.predicate, index.start, index.end))
        found = []
        for other, its_predicate, *ends in zip(*columns, strict=True):
            start, end = (step if step < self._until else UNKNOWN for step in ends)
            found.append(SpanFact(other, its_predicate, entity, start, end))
        return found

    def _size(self, entity: int) -> int:
        return len(self._rows(entity))

    def _rows(self, entity: int) -> NDArray[np.int64]:
        """Return the rows of an entity's known facts; another's than the subject without those with the subject."""
        index, rows = self._index, np.arange(self._index.of[entity], self._index.of[entity + 1])
        start, end, other = index.start[rows], index.end[rows], index.other[rows]
        known = ((start != UNKNOWN) & (start < self._until)) | ((end != UNKNOWN) & (end < self._until))
        return np.asarray(rows[known & ((other != self._subject) | (entity == self._subject))])
