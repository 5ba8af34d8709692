"""The dated events that explanations show."""

from __future__ import annotations

from typing import Literal, NamedTuple

Mark = Literal["cause", "companion", "effect"]


class GroundedEvent(NamedTuple):
    """A dated event that grounds a reason.

    `mark` says where it lies from the time asked about: a `cause` before, a `companion` at the same step, an `effect`
    after it. `end` is `start` or `end` where a fact with two ends is asked about.
    """

    mark: Mark
    subject: str
    predicate: str
    object: str
    time: str
    end: str = ""

    def __str__(self) -> str:
        """Return the fact as it is printed."""
        return f"({self.subject}, {self.predicate}, {self.object}, {self.time})"
