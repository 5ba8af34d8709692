"""Who there is in the generated world, what each may do to whom, and the rules that are planted: three tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Tie = Literal["own", "ally", "rival", "member"]
Part = Literal["background", "head", "filler", "summit"]

PER_STATE: dict[str, int] = {
    "state": 1,
    "head of state": 1,
    "minister": 3,
    "party": 2,
    "armed group": 2,
    "company": 2,
    "city": 2,
    "police": 1,
    "citizens": 3,
}
"""How many entities of each type belong to one state; organisations belong to several states and are not listed."""

ORGANISATION = "organisation"


class PredicateRow(NamedTuple):
    """What one predicate needs: who does it to whom, how the other side is found, and how often.

    `share` is the share of all events that is drawn for a background predicate, the share of noise beside the planted
    events for a head, and a weight among the fillers. The events of a summit are drawn together, not by share.
    """

    name: str
    part: Part
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    tie: Tie
    share: float = 0.0


PREDICATES: tuple[PredicateRow, ...] = (
    # what rules start from
    PredicateRow("Make a visit", "background", ("head of state", "minister"), ("state",), "ally", 0.08),
    PredicateRow("Express intent to meet", "background", ("state",), ("state",), "ally", 0.045),
    PredicateRow("Accuse", "background", ("state",), ("state",), "rival", 0.05),
    PredicateRow("Threaten", "background", ("state",), ("state",), "rival", 0.04),
    PredicateRow("Demonstrate against", "background", ("citizens",), ("state",), "own", 0.06),
    PredicateRow("Report unrest to", "background", ("police",), ("state",), "own", 0.04),
    PredicateRow("Supply arms to", "background", ("state",), ("armed group",), "rival", 0.045),
    PredicateRow("Attack", "background", ("armed group",), ("state",), "own", 0.06),
    PredicateRow("Host summit of", "summit", ("state",), (ORGANISATION,), "member"),
    PredicateRow("Attend summit of", "summit", ("state",), (ORGANISATION,), "member"),
    PredicateRow("Pledge support to", "summit", (ORGANISATION,), ("state",), "member"),
    # what rules lead to; the share is noise that no rule explains
    PredicateRow("Host a visit", "head", ("state",), ("head of state", "minister"), "ally", 0.006),
    PredicateRow("Hold consultations with", "head", ("state",), ("state",), "ally", 0.005),
    PredicateRow("Criticise", "head", ("state",), ("state",), "rival", 0.006),
    PredicateRow("Recall ambassador from", "head", ("state",), ("state",), "rival", 0.002),
    PredicateRow("Impose curfew on", "head", ("state",), ("citizens",), "own", 0.003),
    PredicateRow("Arrest", "head", ("police",), ("citizens",), "own", 0.002),
    PredicateRow("Mobilise against", "head", ("state",), ("state",), "rival", 0.001),
    PredicateRow("Meet at a summit", "head", ("state",), ("state",), "ally", 0.003),
    PredicateRow("Provide aid to", "head", ("state",), ("state",), "ally", 0.001),
    PredicateRow("Impose sanctions on", "head", ("state",), ("state",), "rival", 0.002),
    # everything else, which fills the world up to the number of events that was asked for
    PredicateRow("Make statement about", "filler", ("head of state", "minister"), ("state",), "ally", 10),
    PredicateRow("Consult by telephone", "filler", ("head of state",), ("head of state",), "ally", 5),
    PredicateRow("Trade with", "filler", ("company",), ("state", "company"), "ally", 3.3),
    PredicateRow("Praise", "filler", ("minister",), ("minister", "head of state"), "ally", 2.5),
    PredicateRow("Fight with", "filler", ("armed group",), ("police", "armed group"), "rival", 2),
    PredicateRow("Appeal to", "filler", ("citizens",), ("minister", "head of state"), "own", 1.6),
    PredicateRow("Campaign in", "filler", ("party",), ("city",), "own", 1.4),
    PredicateRow("Investigate", "filler", ("police",), ("company", "party"), "own", 1.2),
    PredicateRow("Speak at", "filler", ("minister",), (ORGANISATION,), "member", 1.1),
)


class Atom(NamedTuple):
    """`predicate(subject, object)` with the names of two variables."""

    predicate: str
    subject: str
    object: str


class Pattern(NamedTuple):
    """The times of a pattern: one for each body atom and one for the head, as (text, number of lags after `t`)."""

    body: tuple[tuple[str, int], ...]
    head: tuple[str, int]


NOW, THEN, LAST = ("t", 0), ("t+t1", 1), ("t+t1+t2", 2)
PATTERNS: dict[str, Pattern] = {
    "follows": Pattern((NOW,), THEN),
    "accompanies": Pattern((NOW,), NOW),
    "chain_then": Pattern((NOW, THEN), LAST),
    "joint_then": Pattern((NOW, NOW), THEN),
    "joint_now": Pattern((NOW, NOW), NOW),
}


@dataclass(frozen=True)
class PlantedRule:
    """A rule that holds in the generated world with a known probability."""

    pattern: str
    probability: float
    head: Atom
    body: tuple[Atom, ...]
    window: int = 5
    """The steps within which the head follows; each lag of the pattern is from 1 to `window`."""
    bodies: int = 0
    """Distinct `(x, y)` of the body at each time, summed over the times whose windows end within the timeline."""
    support: int = 0
    """How many of them are followed, or accompanied, by the head."""

    @property
    def lags(self) -> Pattern:
        """The times of the pattern."""
        return PATTERNS[self.pattern]

    def __str__(self) -> str:
        times = self.lags
        body = " ∧ ".join(_written(atom, time) for atom, (time, _) in zip(self.body, times.body, strict=True))
        source = f"[planted {self.probability:.2f}, window {self.window}, {self.pattern}]"
        return f"{_written(self.head, times.head[0])} <= {body}  {source}"


def _written(atom: Atom, time: str) -> str:
    return f"{atom.predicate}({atom.subject}, {atom.object}, {time})"


RULES: tuple[PlantedRule, ...] = (
    # In this order: no head is in the body of a rule above it, and no two rules have the same head.
    PlantedRule("accompanies", 0.90, Atom("Host a visit", "y", "x"), (Atom("Make a visit", "x", "y"),)),
    PlantedRule(
        "follows", 0.60, Atom("Hold consultations with", "x", "y"), (Atom("Express intent to meet", "x", "y"),)
    ),
    PlantedRule("accompanies", 0.70, Atom("Criticise", "x", "y"), (Atom("Accuse", "x", "y"),)),
    PlantedRule(
        "joint_then",
        0.50,
        Atom("Recall ambassador from", "x", "y"),
        (Atom("Accuse", "x", "y"), Atom("Criticise", "x", "y")),
    ),
    PlantedRule("follows", 0.30, Atom("Impose sanctions on", "x", "y"), (Atom("Threaten", "x", "y"),)),
    PlantedRule("follows", 0.45, Atom("Impose curfew on", "y", "x"), (Atom("Demonstrate against", "x", "y"),)),
    PlantedRule(
        "chain_then",
        0.65,
        Atom("Arrest", "x", "y"),
        (Atom("Report unrest to", "x", "z"), Atom("Impose curfew on", "z", "y")),
    ),
    PlantedRule(
        "chain_then",
        0.40,
        Atom("Mobilise against", "x", "y"),
        (Atom("Supply arms to", "x", "z"), Atom("Attack", "z", "y")),
    ),
    PlantedRule(
        "joint_now",
        0.80,
        Atom("Meet at a summit", "x", "y"),
        (Atom("Attend summit of", "x", "z"), Atom("Host summit of", "y", "z")),
    ),
    PlantedRule(
        "joint_then",
        0.35,
        Atom("Provide aid to", "x", "y"),
        (Atom("Attend summit of", "x", "z"), Atom("Pledge support to", "z", "y")),
    ),
)
