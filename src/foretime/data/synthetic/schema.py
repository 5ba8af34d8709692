"""Who there is in the generated world, what each may do to whom, and the rules that are planted: three tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Tie = Literal["own", "ally", "rival", "member"]
Origin = Literal["background", "head", "filler", "summit"]

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
    origin: Origin
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


class PlantedAtom(NamedTuple):
    """`predicate(subject, object)` with the names of two variables."""

    predicate: str
    subject: str
    object: str


TIMES = ("t", "t+t1", "t+t1+t2")
LAGS: dict[str, tuple[int, ...]] = {
    "follows": (0, 1),
    "accompanies": (0, 0),
    "chain_then": (0, 1, 2),
    "joint_then": (0, 0, 1),
    "joint_now": (0, 0, 0),
}
"""How many lags after `t` each body atom and, last, the head come."""


@dataclass(frozen=True)
class PlantedRule:
    """A rule that holds in the generated world with a known probability."""

    pattern: str
    probability: float
    head: PlantedAtom
    body: tuple[PlantedAtom, ...]
    window: int = 5
    """The steps within which the head follows; each lag of the pattern is from 1 to `window`."""
    bodies: int = 0
    """Distinct `(x, y)` of the body at each time, summed over the times whose windows end within the timeline."""
    support: int = 0
    """How many of them are followed, or accompanied, by the head."""

    def __str__(self) -> str:
        *body, head = (
            f"{atom.predicate}({atom.subject}, {atom.object}, {TIMES[lag]})"
            for atom, lag in zip((*self.body, self.head), LAGS[self.pattern], strict=True)
        )
        source = f"[planted {self.probability:.2f}, window {self.window}, {self.pattern}]"
        return f"{head} <= {' ∧ '.join(body)}  {source}"


def _rule(pattern: str, probability: float, head: str, *body: str) -> PlantedRule:
    """Return a rule of atoms that are written as `subject predicate object`, the variables one letter each."""
    atoms = [PlantedAtom(text[2:-2], text[0], text[-1]) for text in (head, *body)]
    return PlantedRule(pattern, probability, atoms[0], tuple(atoms[1:]))


RULES: tuple[PlantedRule, ...] = (
    # In this order: no head is in the body of a rule above it, and no two rules have the same head.
    _rule("accompanies", 0.90, "y Host a visit x", "x Make a visit y"),
    _rule("follows", 0.60, "x Hold consultations with y", "x Express intent to meet y"),
    _rule("accompanies", 0.70, "x Criticise y", "x Accuse y"),
    _rule("joint_then", 0.50, "x Recall ambassador from y", "x Accuse y", "x Criticise y"),
    _rule("follows", 0.30, "x Impose sanctions on y", "x Threaten y"),
    _rule("follows", 0.45, "y Impose curfew on x", "x Demonstrate against y"),
    _rule("chain_then", 0.65, "x Arrest y", "x Report unrest to z", "z Impose curfew on y"),
    _rule("chain_then", 0.40, "x Mobilise against y", "x Supply arms to z", "z Attack y"),
    _rule("joint_now", 0.80, "x Meet at a summit y", "x Attend summit of z", "y Host summit of z"),
    _rule("joint_then", 0.35, "x Provide aid to y", "x Attend summit of z", "z Pledge support to y"),
)
