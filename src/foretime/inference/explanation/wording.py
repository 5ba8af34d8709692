"""Reasons in words: ids become names, the features of one rule body one sentence, and rules their text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from foretime.data.facts import UNKNOWN
from foretime.data.graph import Graph
from foretime.evidence.buckets import affinity_words, count_words, offset_words
from foretime.evidence.families import GROUPS
from foretime.evidence.reasons import Event, Reason
from foretime.inference.explanation.events import CoNeighbour, DatedEvent, Mark, SharedNeighbours
from foretime.inference.explanation.explanation import IN_TWOS, ReasonPart, ShownReason
from foretime.reranker.features.shared_neighbours import SharedNeighbourPath, SpanFact, steps_apart
from foretime.rules.rule import STATIC, Atom, Rule, RuleIds, Shape, named_rule

_NAMED = 3
"""How many common neighbours a sentence names."""


class FactIds(NamedTuple):
    """The candidate that reasons are of, as ids: as the object of a question, whose predicate may be an inverse.

    `times` is the step asked about, or those of the ends `start` and `end`.
    """

    subject: int
    predicate: int
    object: int
    times: dict[str, int]
    past_only: bool = False


class Wording:
    """Puts the reasons of candidates into the words of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._predicates, self._name, self._label = graph.predicates, graph.entities.name, graph.timeline.label
        # where steps are left out or of several lengths, a step is not a day
        self._unit = graph.timeline.unit if graph.timeline.regular else "step"

    def show(self, asked: FactIds, reasons: Iterable[Reason]) -> list[ShownReason]:
        """Return the reasons with those of one rule body merged, the largest contribution first."""
        groups: dict[tuple[str | int, ...], list[Reason]] = {}
        for reason in reasons:
            body = () if reason.kind == "object" else reason.body  # its body is the predicate asked about
            groups.setdefault((reason.kind, *body), []).append(reason)
        shown = [self._show(asked, key, group) for key, group in groups.items()]
        return sorted(shown, key=lambda reason: -abs(reason.contribution))

    def _show(self, asked: FactIds, key: tuple[str | int, ...], group: list[Reason]) -> ShownReason:
        kind = group[0].kind
        title, statement, example = getattr(self, f"_{kind}")(asked, group)  # each family has its own sentence
        rule = self._rule(asked, kind, group[0].body)
        parts = tuple(self._part(asked, reason, rule) for reason in group)
        dated = [part for part in parts if part.statement is not None]
        strongest = max(dated, key=lambda part: abs(part.contribution)).statement if dated else None
        return ShownReason(
            kind=kind,
            title=title,
            sentence=f"{statement}: {self._when(asked, group)} ({example})",
            rule=strongest if rule is None or strongest is not None else rule.statement,
            parts=parts,
            events=self._events(asked, group),
            groundings=_groundings(group),
            key=key,
        )

    def _part(self, asked: FactIds, reason: Reason, rule: Rule | None) -> ReasonPart:
        dated = rule is not None and GROUPS[reason.family].kind == "offset"
        statement = _dated(rule, int(reason.value)).statement if rule is not None and dated else None
        says = self._says(asked, reason)
        return ReasonPart(reason.family, reason.value, says, reason.end, reason.share, *reason.weights, statement)

    def _says(self, asked: FactIds, reason: Reason, bucket: bool = True) -> str:
        """Return what one feature says, with its bucket if that is wanted."""
        kind = GROUPS[reason.family].kind
        if kind == "affinity":
            return affinity_words(reason.value, bucket)
        if kind in ("now", "total"):
            among = f"the same {self._unit}" if kind == "now" else "so far" if asked.past_only else "in all"
            return f"{count_words(int(reason.value), bucket)} {among}"
        when = offset_words(int(reason.value), self._unit, bucket)
        return f"the farther event {when}" if kind == "farther" else when

    def _when(self, asked: FactIds, group: list[Reason]) -> str:
        """Return what all features of a reason say: `the same day, 3 days after, 37 times in all`."""
        words = []
        for end in dict.fromkeys(reason.end for reason in group):
            ordered = sorted(
                (r for r in group if r.end == end), key=lambda r: GROUPS[r.family].kind in ("now", "total")
            )
            said = ", ".join(self._says(asked, reason, bucket=False) for reason in ordered)
            words.append(f"at the {end} {said}" if end else said)
        return "; ".join(words)

    def _pair(self, asked: FactIds, group: list[Reason]) -> tuple[str, str, str]:
        q, event = group[0].body[0], self._nearest(asked, group)
        inverse = ", inverse" if self._is_inverse(q) != self._is_inverse(asked.predicate) else ""
        title, near = f"{self._quoted(q)} between the two{inverse}", _nearest_of(group)
        return title, self._happens(event), f"{near}{self._label(event.time)}"

    def _object(self, asked: FactIds, group: list[Reason]) -> tuple[str, str, str]:
        name, predicate, event = self._name(asked.object), self._quoted(asked.predicate), self._nearest(asked, group)
        if self._is_inverse(asked.predicate):
            who, title, statement = event.object, f"{predicate} with others", f"{name} {predicate} others"
        else:
            who, title, statement = event.subject, f"{predicate} by others", f"others {predicate} {name}"
        return title, statement, f"{_nearest_of(group)}{self._name(who)}, {self._label(event.time)}"

    def _active(self, asked: FactIds, group: list[Reason]) -> tuple[str, str, str]:
        title, nearest = "active with others", self._dated_words(self._nearest(asked, group))
        return title, f"{self._name(asked.object)} is {title}", f"{_nearest_of(group)}{nearest}"

    def _affinity(self, asked: FactIds, group: list[Reason]) -> tuple[str, str, str]:
        found = group[0].partners
        names = ", ".join(self._name(one) for one in found[:_NAMED])
        more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
        both = f"{self._name(asked.subject)} and {self._name(asked.object)}"
        return "common neighbours", f"{both} have common neighbours", f"{names}{more}"

    def _path(self, asked: FactIds, group: list[Reason]) -> tuple[str, str, str]:
        rule = named_rule(RuleIds(STATIC, "path", asked.predicate, group[0].body), self._predicates)
        first, second = group[0].events[:2]
        via = first.object if first.subject == asked.subject else first.subject
        events = f"{self._dated_words(first)}; {self._dated_words(second)}"
        return " ∧ ".join(map(str, rule.body)), f"via {self._name(via)}", events

    def _is_inverse(self, predicate: int) -> bool:
        return predicate >= len(self._predicates)

    def _predicate(self, predicate: int) -> str:
        """Return the name of a predicate, that of an inverse too."""
        return self._predicates.name(predicate % len(self._predicates))

    def _quoted(self, predicate: int) -> str:
        return f'"{self._predicate(predicate)}"'

    def _nearest(self, asked: FactIds, group: list[Reason]) -> Event:
        events = [(abs(event.time - asked.times[reason.end]), event) for reason in group for event in reason.events]
        return min(events)[1]

    def _happens(self, event: Event) -> str:
        return f"{self._name(event.subject)} {self._quoted(event.predicate)} {self._name(event.object)}"

    def _dated_words(self, event: Event) -> str:
        return f"{self._happens(event)}, {self._label(event.time)}"

    def _events(self, asked: FactIds, group: list[Reason]) -> tuple[DatedEvent, ...]:
        """Return the events of all features, each once, the nearest first; those that come in twos stay together."""
        found = [(abs(event.time - asked.times[r.end]), event, r.end) for r in group for event in r.events]
        if group[0].kind not in IN_TWOS:
            found = sorted(set(found))
        return tuple(self._event(event, asked.times[end], end) for _, event, end in found)

    def _event(self, event: Event, time: int, end: str) -> DatedEvent:
        who, what, whom = self._name(event.subject), self._predicate(event.predicate), self._name(event.object)
        return DatedEvent(_mark((event.time,), (time,)), who, what, whom, self._label(event.time), end)

    def shared_neighbours(self, asked: SpanFact, paths: list[SharedNeighbourPath], reported: float) -> SharedNeighbours:
        """Return the co-neighbours that support an answer, the object of the fact asked about, in words."""
        groups: dict[tuple[int, int], list[SharedNeighbourPath]] = {}
        for path in paths:
            groups.setdefault((path.of_co_neighbour.subject, path.of_co_neighbour.object), []).append(path)
        found = sorted((self._co_neighbour(asked, group) for group in groups.values()), key=lambda one: -one.weight)
        return SharedNeighbours(tuple(found), reported)

    def _co_neighbour(self, asked: SpanFact, group: list[SharedNeighbourPath]) -> CoNeighbour:
        """Return a co-neighbour by all paths via one neighbour."""
        steps = zip(*((path.of_subject, path.of_co_neighbour, path.to_candidate) for path in group), strict=True)
        nearest = (sorted(set(step), key=lambda fact: (steps_apart(asked, fact), fact)) for step in steps)
        facts = [fact for three in zip_longest(*nearest) for fact in three if fact is not None]
        own = group[0].of_co_neighbour
        return CoNeighbour(
            name=self._name(own.subject),
            via=self._name(own.object),
            paths=len(group),
            weight=math.fsum(path.weight for path in group),
            events=tuple(self._span(fact, asked) for fact in facts),
        )

    def _span(self, fact: SpanFact, asked: SpanFact) -> DatedEvent:
        """Return a fact with the times that are known of it, its subject and object in the order of the graph."""
        ends = (fact.object, fact.subject) if self._is_inverse(fact.predicate) else (fact.subject, fact.object)
        start, end = ("?" if step == UNKNOWN else self._label(step) for step in (fact.start, fact.end))
        time = start if start == end else f"{start} – {end}"
        who, whom = map(self._name, ends)
        return DatedEvent(_mark(fact.known, asked.known), who, self._predicate(fact.predicate), whom, time)

    def _rule(self, asked: FactIds, kind: str, body: tuple[int, ...]) -> Rule | None:
        """Return the rule behind a reason, without times."""
        if kind == "object":
            inverse, name = self._is_inverse(asked.predicate), self._predicate(asked.predicate)
            head, atom = (Atom(name, *(("y", who) if inverse else (who, "y"))) for who in ("x", "z"))
            return Rule(head, (atom,))
        shape: Shape = "path" if kind == "path" else "pair"
        return named_rule(RuleIds(STATIC, shape, asked.predicate, body), self._predicates) if body else None


def _mark(times: tuple[int, ...], asked: tuple[int, ...]) -> Mark:
    """Return where the times of a fact lie from those asked about."""
    return "before" if max(times) < min(asked) else "after" if min(times) > max(asked) else "same time"


def _dated(rule: Rule, distance: int) -> Rule:
    """Return a rule of one body atom with the times of a distance: what comes first is at t."""
    head, body = ("t", "t") if distance == 0 else ("t+t1", "t") if distance < 0 else ("t", "t+t1")
    return Rule(rule.head._replace(time=head), (rule.body[0]._replace(time=body),))


def _nearest_of(group: list[Reason]) -> str:
    """Return the word before the event that is named, where there are others."""
    return "nearest " if _groundings(group) > 1 else ""


def _groundings(group: list[Reason]) -> int:
    """Return how many events (neighbours, paths) ground a reason at the end that has most."""
    ends = {reason.end for reason in group}
    by_end = [[reason.count for reason in group if reason.end == end] for end in ends]
    # what a candidate does at other steps is not among what it does now; all other counts hold what is nearest
    return max(sum(counts) if group[0].kind == "active" else max(counts) for counts in by_end)
