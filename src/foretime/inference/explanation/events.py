"""The dated events that explanations show."""

from __future__ import annotations

from typing import Literal, NamedTuple

Mark = Literal["cause", "companion", "effect"]


class GroundedEvent(NamedTuple):
    """A dated event that grounds a reason, or a fact of the company.

    `mark` says where it lies from the time asked about: a `cause` before, a `companion` at the same step, an `effect`
    after it; a fact with an interval is a companion if it has a step in common with the one asked about. `time` is the
    label of a step, or of an interval: both ends with ` – ` between them, `?` for one that the question does not know.
    `end` is `start` or `end` where a fact with two ends is asked about.
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
