"""The dated events behind an explanation, and the shared neighbours that support an answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from foretime.inference.explanation.phrases import isolated

Mark = Literal["before", "same time", "after"]


class DatedEvent(NamedTuple):
    """A dated event behind a reason, or a fact of a co-neighbour.

    `mark` says where it lies from the time asked about; a fact with an interval is of the same time if it has a step
    in common with the one asked about. `time` is the label of a step, or of an interval: both ends with ` – ` between
    them, `?` for one that the question does not know. `end` is `start` or `end` where the fact asked about has both.
    `contribution` is its share of what the reason adds to the score.
    """

    mark: Mark
    subject: str
    predicate: str
    object: str
    time: str
    end: str = ""
    contribution: float = 0.0

    def __str__(self) -> str:
        return f"({isolated(self.subject)}, {isolated(self.predicate)}, {isolated(self.object)}, {self.time})"


class CoNeighbour(NamedTuple):
    """An entity that shares a neighbour with the given entity, and that has the answer itself.

    `via` is the neighbour. There is a path for every combination of a fact of the given entity with it, one of the
    co-neighbour with it, and one of the co-neighbour with the answer; `events` are these facts, the nearest of each
    first, and `weight` is that of all paths together.
    """

    name: str
    via: str
    paths: int
    weight: float
    events: tuple[DatedEvent, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the co-neighbour as plain values for JSON."""
        return {**self._asdict(), "events": [event._asdict() for event in self.events]}


@dataclass(frozen=True)
class SharedNeighbours:
    """The co-neighbours that support an answer, the heaviest first.

    `reported` is the weight that the re-ranker was given: that of all, unless the search for it stopped early.
    """

    co_neighbours: tuple[CoNeighbour, ...]
    reported: float

    @property
    def weight(self) -> float:
        """The weight of all paths together."""
        return math.fsum(one.weight for one in self.co_neighbours)

    @property
    def paths(self) -> int:
        """How many paths there are."""
        return sum(one.paths for one in self.co_neighbours)

    def to_dict(self, top: int | None) -> dict[str, Any]:
        """Return plain values for JSON, with the first `top` co-neighbours."""
        return {
            "weight": self.weight,
            "reported": self.reported,
            "paths": self.paths,
            "count": len(self.co_neighbours),
            "co_neighbours": [one.to_dict() for one in self.co_neighbours[:top]],
        }
