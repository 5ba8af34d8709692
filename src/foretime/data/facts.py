"""Facts as aligned integer columns, and the one place where inverse predicates get their ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1
"""The step of an end of an interval that is not known."""

Ids = NDArray[np.int64]
Predicates = TypeVar("Predicates")


def inverse(predicate: Predicates, predicates: int) -> Predicates:
    """Return the id of the inverse of each predicate; the inverse of an inverse is the predicate.

    `predicates` counts the predicates of the graph without inverses: ids below it are predicates, ids from it on are
    their inverses, in the same order. Works on numbers, NumPy arrays and tensors alike.
    """
    return (predicate + predicates) % (2 * predicates)  # type: ignore[operator, return-value]


class Events(NamedTuple):
    """Facts at single steps of the timeline: what models train on. Each column is (events,)."""

    subject: Ids
    predicate: Ids
    object: Ids
    time: Ids


@dataclass(frozen=True)
class Facts:
    """Facts of a graph as ids. Each column is (facts,); `start` equals `end` for an event at one time.

    At most one of `start` and `end` is `UNKNOWN` in a row; facts without a time (`Graph.background`) have neither.
    Start may follow end: real data has such rows, and they are kept as they are.
    """

    subject: Ids
    predicate: Ids
    object: Ids
    start: Ids
    end: Ids

    def __len__(self) -> int:
        return len(self.subject)

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Facts:
        """Return the chosen rows, in the order given."""
        start = self.start[rows]
        end = start if self.end is self.start else self.end[rows]  # one column for both where all are events
        return Facts(self.subject[rows], self.predicate[rows], self.object[rows], start, end)

    def columns(self) -> tuple[Ids, Ids, Ids, Ids, Ids]:
        """Return the five columns: subject, predicate, object, start, end."""
        return self.subject, self.predicate, self.object, self.start, self.end

    @property
    def has_intervals(self) -> bool:
        """Whether any fact has two different ends, or one that is not known."""
        return bool((self.start != self.end).any())

    def known_ends(self) -> tuple[Ids, Ids]:
        """Return start and end of each fact, the known one for both where the other is not known."""
        start = np.where(self.start == UNKNOWN, self.end, self.start)
        return start, np.where(self.end == UNKNOWN, self.start, self.end)

    def events(self, end_offset: int = 0) -> Events:
        """Return the facts as events: one at each known end, one only where both ends are the same.

        With an offset, ends have predicates of their own, that much higher, and are events even if both are the same.
        """
        at_start = self.start != UNKNOWN
        at_end = (self.end != UNKNOWN) & ((self.end != self.start) | (end_offset > 0))
        rows = np.concatenate([np.flatnonzero(at_start), np.flatnonzero(at_end)])
        time = np.concatenate([self.start[at_start], self.end[at_end]])
        predicate = np.concatenate([self.predicate[at_start], self.predicate[at_end] + end_offset])
        return Events(self.subject[rows], predicate, self.object[rows], time)

    def with_inverses(self, predicates: int) -> Facts:
        """Return the facts followed by their inverses, `(o, p⁻¹, s)`: both questions that each fact asks."""
        return concatenate(
            [self, Facts(self.object, inverse(self.predicate, predicates), self.subject, self.start, self.end)]
        )


def concatenate(parts: list[Facts]) -> Facts:
    """Return all facts of the parts, one part after the other."""
    return Facts(*(np.concatenate(columns) for columns in zip(*(part.columns() for part in parts), strict=True)))


def empty_facts() -> Facts:
    """Return a table of facts without rows."""
    return Facts(*(np.empty(0, dtype=np.int64) for _ in range(5)))
