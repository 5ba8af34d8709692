"""The company behind one candidate of a graph of intervals: every path that the columns of `spans` add up.

What `spans` adds up for all candidates at once is taken apart here for one, in plain Python, by the same rules: a
question `(x, p, ?, start, end)` never sees its own facts, nor with `past_only` what is not known before it. Only the
end of a search after too many facts is not repeated, so that of such a subject there may be more paths here than added.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

from foretime.data.facts import UNKNOWN, inverse
from foretime.evidence.spans import HUB, NEVER, SpanIndex


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
    of_companion: SpanFact
    to_candidate: SpanFact
    weight: float


def company_paths(index: SpanIndex, past_only: bool, asked: SpanFact) -> list[CompanyPath]:
    """Return the paths that speak for the object of a fact asked about, the heaviest and then the nearest first."""
    x, p, y = asked[:3]
    until = min(asked.known) if past_only else NEVER

    @cache
    def facts(entity: int) -> list[SpanFact]:
        return [fact for fact in _facts_from(index, entity, until) if fact.object != x]

    thirds: dict[tuple[int, int], list[SpanFact]] = {}
    for fact in _facts_from(index, x, until):
        own = fact.predicate == p and fact[3:] == asked[3:]
        if not own and fact.object not in (x, y) and len(facts(fact.object)) <= HUB:
            thirds.setdefault((fact.predicate, fact.object), []).append(fact)
    found = []
    for on in facts(y) if y != x else ():
        companion = on.object
        if on.predicate != inverse(p, index.predicates) or len(facts(companion)) > HUB:
            continue
        to_candidate = SpanFact(companion, p, y, on.start, on.end)
        for back in facts(companion):
            for fact in thirds.get((back.predicate, back.object), ()):
                weight = 1.0 / math.sqrt(len(facts(fact.object)) * len(facts(companion)))
                found.append(CompanyPath(fact, back, to_candidate, weight))
    return sorted(found, key=lambda path: (-path.weight, steps_apart(asked, path.to_candidate)))


def steps_apart(one: SpanFact, other: SpanFact) -> int:
    """Return how many steps lie between two facts, 0 if they have one in common."""
    return max(0, max(min(one.known), min(other.known)) - min(max(one.known), max(other.known)))


def _facts_from(index: SpanIndex, entity: int, until: int) -> list[SpanFact]:
    """Return the facts of an entity that are known before a step, each read from the entity to the other."""
    rows = slice(index.of[entity], index.of[entity + 1])
    columns = (column[rows].tolist() for column in (index.predicate, index.other, index.start, index.end))
    found = []
    for predicate, other, *ends in zip(*columns, strict=True):
        start, end = (step if step < until else UNKNOWN for step in ends)
        found.append(SpanFact(entity, inverse(predicate, index.predicates), other, start, end))
    return [fact for fact in found if fact.known]
