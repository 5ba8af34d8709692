"""What a reason is: one rule body or one statement, with what it adds to the score and its dated events."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from foretime.evidence.families import FAMILIES
from foretime.inference.explanation.events import DatedEvent
from foretime.inference.explanation.rounding import units_of, written

IN_TWOS = tuple(family.name for family in FAMILIES if family.in_twos)
"""The families whose events come in twos: from the subject to a neighbour, and from there to the answer."""
OWN_PART = 0.25
"""Which part of a weight must be the rule's own for the reason to be told as that rule."""
SAME_FOR_ALL = ("usual", "place", "behind")
"""The kinds of statements that say nothing of the answer itself."""


@dataclass(frozen=True)
class ReasonPart:
    """One feature of the evidence behind a reason: what it says, and its learned weights in the base score.

    Its base contribution is `share` · (`shared` + `predicate` + `rule`): the weight that all predicates share, the
    predicate's own and the rule's own. `support` of `body_count` events of the body have the head at this distance.
    """

    group: str
    value: float
    """The signed distance in steps, the count, or the affinity; `says` has it in words."""
    says: str
    end: str
    share: float
    shared: float
    predicate: float
    rule: float
    statement: str | None = None
    support: int | None = None
    body_count: int | None = None

    @property
    def contribution(self) -> float:
        """What it adds to the base score."""
        return self.share * math.fsum((self.shared, self.predicate, self.rule))

    @property
    def confidence(self) -> float | None:
        """The share of the body's events that have the head, where it was counted."""
        return self.support / self.body_count if self.support is not None and self.body_count else None

    @property
    def is_of_rule(self) -> bool:
        """Whether a good part of the weight is the rule's own, and the rule has come true where it was counted."""
        own = self.share * self.rule * math.copysign(1.0, self.contribution)
        return self.support != 0 and own >= OWN_PART * abs(self.contribution) and own > 0

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain values for JSON."""
        return {**asdict(self), "confidence": self.confidence, "contribution": self.contribution}


@dataclass(frozen=True)
class ShownReason:
    """Everything that one rule body, or one statement, adds to the score of an answer."""

    family: str
    """A family of evidence (`pair`, `object`, `active`, `affinity`, `path`), or the kind of the statement."""
    topic: str
    title: str
    """What it is, for any answer to the question; `sentence` says it of this one."""
    sentence: str
    clause: str
    """The same as a part of a sentence, after "because"."""
    rule: str | None = None
    """The rule in the notation of `foretime rules`, with the times of its strongest part; None if it is of no rule."""
    counted: str | None = None
    """How often the rule has come true, or that the contribution is that of such events in general."""
    parts: tuple[ReasonPart, ...] = ()
    events: tuple[DatedEvent, ...] = ()
    rest: float = 0.0
    """What it adds that belongs to none of the events that are named."""
    groundings: int = 0
    """How many events (neighbours, paths) there are in all; `events` are the nearest."""
    key: tuple[str | int, ...] = ()
    """What makes it the same reason for another answer."""

    @cached_property
    def contribution(self) -> float:
        """What it adds to the score: the sum of its events and the rest."""
        return math.fsum([*(event.contribution for event in self.events), self.rest])

    @property
    def is_of_answer(self) -> bool:
        """Whether it says something of the answer itself, and not of all answers to such questions."""
        return self.family not in SAME_FOR_ALL

    @property
    def brief(self) -> str:
        """The contribution and the sentence in one line."""
        return f"{written(units_of(self.contribution), sign=True)} {self.sentence}"

    def to_dict(self, full: bool = False) -> dict[str, Any]:
        """Return the reason as plain values for JSON; `full` adds its learned weights."""
        names = ("family", "title", "sentence", "contribution", "rule", "counted", "groundings", "rest")
        shown = {**{name: getattr(self, name) for name in names}, "events": [one._asdict() for one in self.events]}
        return shown | ({"parts": [part.to_dict() for part in self.parts]} if full else {})
