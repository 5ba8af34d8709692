"""The columns of intervals by plain loops over a list of facts, each from its name and its definition."""

from math import sqrt
from typing import NamedTuple

from evidence_oracle import Fact

from foretime.data.facts import UNKNOWN, inverse

FAR = 10_000.0


class Asked(NamedTuple):
    """(subject, predicate, ?, start, end)."""

    subject: int
    predicate: int
    start: int
    end: int


class Span(NamedTuple):
    """A fact read in one direction, with the ends that the question may know."""

    subject: int
    predicate: int
    object: int
    start: int
    end: int

    @property
    def steps(self) -> list[int]:
        return [t for t in (self.start, self.end) if t != UNKNOWN]

    @property
    def is_known(self) -> bool:
        return bool(self.steps)

    def apart(self, other: "Span") -> int:
        return max(min(self.steps), min(other.steps)) - min(max(self.steps), max(other.steps))


def spans_of(facts: list[Fact], asked: Asked, past_only: bool, predicates: int) -> list[Span]:
    """All facts and their inverses but the question's own, with unknown ends where only the past counts."""
    until = min(t for t in (asked.start, asked.end) if t != UNKNOWN)
    found = []
    for s, p, o, start, end in facts:
        for subject, predicate, object_ in ((s, p, o), (o, inverse(p, predicates), s)):
            mine = (subject, predicate) == asked[:2] or (object_, inverse(predicate, predicates)) == asked[:2]
            if mine and (start, end) == asked[2:]:
                continue
            ends = [t if not past_only or t < until else UNKNOWN for t in (start, end)]
            found.append(Span(subject, predicate, object_, *ends))
    return [span for span in found if span.is_known]


def columns_of(asked: Asked, y: int, spans: list[Span], predicates: int, hub: int) -> dict[str, float]:
    question = Span(asked.subject, asked.predicate, y, asked.start, asked.end)
    others = [span for span in spans if span.object == y != asked.subject != span.subject]
    same = [span for span in others if span.predicate == asked.predicate]
    whole = UNKNOWN not in (asked.start, asked.end)
    return {
        **{f"object_{name}": value for name, value in of_facts(question, same).items()},
        **{f"active_{name}": value for name, value in of_facts(question, others).items()},
        **company(question, spans, predicates, hub),
        "span_length": abs(asked.end - asked.start) if whole else -1,
    }


def of_facts(question: Span, spans: list[Span]) -> dict[str, float]:
    first, last = min(question.steps), max(question.steps)
    start, end = question.start, question.end
    ended = [first - s.end for s in spans if UNKNOWN != s.end <= first]
    begun = [s.start - last for s in spans if s.start >= last]
    alike = [
        (min(last, max(s.steps)) - max(first, min(s.steps)) + 1) / (max(last, *s.steps) - min(first, *s.steps) + 1)
        for s in spans
        if s.apart(question) <= 0
    ]
    return {
        "gap_before": min(ended, default=FAR),
        "gap_after": min(begun, default=FAR),
        "overlapping": sum(s.apart(question) < 0 for s in spans),
        "covering": sum(min(s.steps) <= first and max(s.steps) >= last for s in spans),
        "within": sum(min(s.steps) >= first and max(s.steps) <= last for s in spans),
        "same_span": sum((s.start, s.end) == (start, end) for s in spans),
        "same_start": sum(s.start == start for s in spans if start != UNKNOWN),
        "same_end": sum(s.end == end for s in spans if end != UNKNOWN),
        "following": sum(s.start == end for s in spans if end != UNKNOWN),
        "preceding": sum(s.end == start for s in spans if start != UNKNOWN),
        "likeness": max(alike, default=0.0),
        "born_after": min((min(s.steps) - first for s in spans), default=FAR),
        "gone_before": min((last - max(s.steps) for s in spans), default=FAR),
    }


def company(question: Span, spans: list[Span], predicates: int, hub: int) -> dict[str, float]:
    """Every path subject → third ← one of the company → candidate, one after the other."""
    x, p, y = question.subject, question.predicate, question.object
    names = (
        "shared_neighbours",
        "shared_neighbours_now",
        "shared_neighbours_same",
        "shared_neighbours_same_now",
        "shared_neighbours_same_together",
        "shared_neighbours_same_near",
    )
    found = dict.fromkeys(names, 0.0)
    for to_third in (s for s in spans if s.subject == x and s.object != x):
        third = to_third.object
        for back in (s for s in spans if (s.predicate, s.object) == (to_third.predicate, third) and s.subject != x):
            z = back.subject
            sizes = [facts_without(x, third, spans), facts_without(x, z, spans)]
            for on in (s for s in spans if (s.subject, s.predicate, s.object) == (z, p, y) and y not in (x, third)):
                if max(sizes) > hub:
                    continue
                same, apart = to_third.predicate == p, on.apart(question)
                weight = 1 / sqrt(sizes[0] * sizes[1])
                found["shared_neighbours"] += weight
                found["shared_neighbours_now"] += weight * (apart <= 0)
                found["shared_neighbours_same"] += weight * same
                found["shared_neighbours_same_now"] += weight * (same and apart <= 0)
                found["shared_neighbours_same_together"] += weight * (same and apart <= 0 and to_third.apart(back) <= 0)
                found["shared_neighbours_same_near"] += weight * (same and apart <= 1 and to_third.apart(question) <= 1)
    return found


def facts_without(x: int, entity: int, spans: list[Span]) -> int:
    return sum(span.object == entity and span.subject != x for span in spans)
