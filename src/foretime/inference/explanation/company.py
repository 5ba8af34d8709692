"""The company that speaks for an answer: who is to a third what the given entity is, and has the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from foretime.inference.explanation.events import GroundedEvent


class Peer(NamedTuple):
    """One of the company, by what it shares with the given entity at one third.

    There is a path for every combination of a fact of the given entity with the third, one of the peer with the third,
    and one of the peer with the answer; `events` are these facts, the nearest of each first, and `weight` is that of
    all paths together.
    """

    name: str
    third: str
    paths: int
    weight: float
    events: tuple[GroundedEvent, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the peer as plain values for JSON."""
        return {**self._asdict(), "events": [event._asdict() for event in self.events]}


@dataclass(frozen=True)
class Company:
    """Everyone who speaks for an answer, the heaviest first; `told` is the weight that the second stage was told.

    It is that of all, unless there are so many that the search for the second stage has ended before.
    """

    peers: tuple[Peer, ...]
    told: float

    @property
    def weight(self) -> float:
        """What all weigh together."""
        return math.fsum(peer.weight for peer in self.peers)

    @property
    def paths(self) -> int:
        """How many paths there are."""
        return sum(peer.paths for peer in self.peers)

    def to_dict(self, top: int | None) -> dict[str, Any]:
        """Return the company as plain values for JSON, with the first `top` peers."""
        return {
            "weight": self.weight,
            "told": self.told,
            "paths": self.paths,
            "count": len(self.peers),
            "peers": [peer.to_dict() for peer in self.peers[:top]],
        }
