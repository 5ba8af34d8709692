"""The company that speaks for an answer: who is to a third what the subject is, and what it has with the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from foretime.explaining.events import GroundedEvent

PATHS_KEPT = 10
"""How many paths an explanation names at the most, the heaviest first."""


class ShownPath(NamedTuple):
    """A companion by way of a third: the subject's facts with the third, then the companion's, then with the answer."""

    companion: str
    third: str
    weight: float
    events: tuple[GroundedEvent, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the path as plain values for JSON."""
        return {**self._asdict(), "events": [event._asdict() for event in self.events]}


@dataclass(frozen=True)
class Company:
    """All paths of an answer: how many there are, what they weigh together, and the heaviest of them."""

    count: int
    weight: float
    paths: tuple[ShownPath, ...]

    def to_dict(self, top: int | None) -> dict[str, Any]:
        """Return the company as plain values for JSON, with the first `top` paths."""
        return {"count": self.count, "weight": self.weight, "paths": [path.to_dict() for path in self.paths[:top]]}
