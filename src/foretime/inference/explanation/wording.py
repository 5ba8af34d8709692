"""Reasons in words: ids become names, the features of one rule body one sentence, and rules their text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import NamedTuple

from foretime.data.facts import UNKNOWN
from foretime.data.graph import Graph
from foretime.evidence.buckets import affinity_words, count_words, offset_words
from foretime.evidence.reasons import Event, Reason
from foretime.inference.explanation.company import Company, Peer
from foretime.inference.explanation.events import GroundedEvent, Mark
from foretime.inference.explanation.explanation import IN_TWOS, ReasonPart, ShownReason
from foretime.reranker.features.shared_neighbours import SharedNeighbourPath, SpanFact, steps_apart
from foretime.rules.rule import STATIC, Rule
from foretime.rules.text import Atom, WrittenRule
from foretime.rules.text import written as written_rule

_NAMED = 3
"""How many shared partners a sentence names."""


class Asked(NamedTuple):
    """The candidate that reasons are of, as ids: as the object of a question, whose predicate may be an inverse.

    `times` is the step asked about, or those of the ends `start` and `end`.
    """

    subject: int
    predicate: int
    object: int
    times: dict[str, int]
    past_only: bool = False


class Wording:
    """Puts the reasons of candidates into the words of a data set."""

    def __init__(self, graph: Graph) -> None:
        self._dataset = graph
        timeline = graph.timeline
        # where steps are left out or of several lengths, a step is not a day
        self._unit = timeline.unit if timeline.regular else "step"
        self._sentences: dict[str, Callable[[Asked, list[Reason]], tuple[str, str]]] = {
            "pair": self._pair,
            "object": self._object,
            "active": self._active,
            "affinity": self._affinity,
            "path": self._path,
        }

    def show(self, asked: Asked, reasons: Iterable[Reason]) -> list[ShownReason]:
        """Return the reasons with those of one rule body merged, the largest contribution first."""
        groups: dict[tuple[str | int, ...], list[Reason]] = {}
        for reason in reasons:
            body = () if reason.kind == "object" else reason.body  # its body is the predicate asked about
            groups.setdefault((reason.kind, *body), []).append(reason)
        shown = [self._show(asked, key, group) for key, group in groups.items()]
        return sorted(shown, key=lambda reason: -abs(reason.contribution))

    def _show(self, asked: Asked, key: tuple[str | int, ...], group: list[Reason]) -> ShownReason:
        kind = group[0].kind
        title, sentence = self._sentences[kind](asked, group)
        rule = self._rule(asked, kind, group[0].body)
        parts = tuple(self._part(asked, reason, rule) for reason in group)
        dated = [part for part in parts if part.statement is not None]
        strongest = max(dated, key=lambda part: abs(part.contribution)).statement if dated else None
        return ShownReason(
            kind=kind,
            title=title,
            sentence=sentence,
            rule=strongest if rule is None or strongest is not None else rule.statement,
            parts=parts,
            events=self._events(asked, group),
            groundings=_groundings(kind, group),
            key=key,
        )

    def _part(self, asked: Asked, reason: Reason, rule: WrittenRule | None) -> ReasonPart:
        statement = None
        if rule is not None and reason.family in ("pair_offset", "object_offset"):
            statement = _dated(rule, int(reason.value)).statement
        return ReasonPart(
            family=reason.family,
            value=reason.value,
            says=self._says(asked, reason),
            end=reason.end,
            share=reason.share,
            shared=reason.weights.shared,
            predicate=reason.weights.predicate,
            rule=reason.weights.rule,
            statement=statement,
        )

    def _says(self, asked: Asked, reason: Reason, bucket: bool = True) -> str:
        """Return what one feature says, with its bucket if that is wanted."""
        if reason.family == "affinity":
            return affinity_words(reason.value, bucket)
        if reason.family == "active_count":
            return f"{count_words(int(reason.value), bucket)} the same {self._unit}"
        if reason.family.endswith("count"):
            return f"{count_words(int(reason.value), bucket)} {'so far' if asked.past_only else 'in all'}"
        when = offset_words(int(reason.value), self._unit, bucket)
        return f"the farther event {when}" if reason.family == "path" else when

    def _when(self, asked: Asked, group: list[Reason]) -> str:
        """Return what all features of a reason say: `, the same day, 3 days after, 37 times in all`."""
        words = []
        for end in dict.fromkeys(reason.end for reason in group):
            ordered = sorted((r for r in group if r.end == end), key=lambda r: r.family.endswith("count"))
            said = [self._says(asked, reason, bucket=False) for reason in ordered]
            words += [f"at the {end} {said[0]}", *said[1:]] if end else said
        return "".join(f", {word}" for word in words)

    def _pair(self, asked: Asked, group: list[Reason]) -> tuple[str, str]:
        count, q = len(self._dataset.predicates), group[0].body[0]
        turned = ", turned round" if (q < count) != (asked.predicate < count) else ""
        title = f"«{self._predicate(q)}» between the same two{turned}"
        return title, f"{title}{self._when(asked, group)}: {self._event_words(self._nearest(asked, group))}"

    def _object(self, asked: Asked, group: list[Reason]) -> tuple[str, str]:
        name, predicate = self._dataset.entities.name(asked.object), self._predicate(asked.predicate)
        forward = asked.predicate < len(self._dataset.predicates)
        title = f"«{predicate}» by others" if forward else f"«{predicate}» to others"
        whom = f"«{predicate}» by others to {name}" if forward else f"«{predicate}» by {name} to others"
        return title, f"{whom}{self._when(asked, group)}: {self._event_words(self._nearest(asked, group))}"

    def _active(self, asked: Asked, group: list[Reason]) -> tuple[str, str]:
        title, event = "active with others", self._nearest(asked, group)
        what = f"«{self._predicate(event.predicate)}» {self._event_words(event)}"
        return title, f"{self._dataset.entities.name(asked.object)} {title}{self._when(asked, group)}: {what}"

    def _affinity(self, asked: Asked, group: list[Reason]) -> tuple[str, str]:
        title, partners = "partners in common", group[0].partners
        names = [self._dataset.entities.name(partner) for partner in partners[:_NAMED]]
        more = f" and {len(partners) - _NAMED:,} more" if len(partners) > _NAMED else ""
        return title, f"{title}{self._when(asked, group)}: {', '.join(names)}{more}"

    def _path(self, asked: Asked, group: list[Reason]) -> tuple[str, str]:
        rule = written_rule(Rule(STATIC, "path", asked.predicate, group[0].body), self._dataset.predicates)
        names = [self._predicate(predicate) for predicate in group[0].body]
        events = [self._event_words(event) for event in group[0].events[:2]]
        steps = " and ".join(f"«{name}» {event}" for name, event in zip(names, events, strict=True))
        return " ∧ ".join(map(str, rule.body)), f"by way of a third{self._when(asked, group)}: {steps}"

    def _predicate(self, predicate: int) -> str:
        """Return the name of a predicate, that of an inverse too."""
        return self._dataset.predicates.name(predicate % len(self._dataset.predicates))

    def _nearest(self, asked: Asked, group: list[Reason]) -> Event:
        events = [(abs(event.time - asked.times[reason.end]), event) for reason in group for event in reason.events]
        return min(events)[1]

    def _event_words(self, event: Event) -> str:
        entities, timeline = self._dataset.entities, self._dataset.timeline
        return f"{entities.name(event.subject)} → {entities.name(event.object)}, {timeline.label(event.time)}"

    def _events(self, asked: Asked, group: list[Reason]) -> tuple[GroundedEvent, ...]:
        """Return the events of all features, each once, the nearest first; those that come in twos stay together."""
        found = [(abs(event.time - asked.times[r.end]), event, r.end) for r in group for event in r.events]
        if group[0].kind not in IN_TWOS:
            found = sorted(set(found))
        return tuple(self._grounded(event, asked.times[end], end) for _, event, end in found)

    def _grounded(self, event: Event, time: int, end: str) -> GroundedEvent:
        names, timeline = self._dataset.entities, self._dataset.timeline
        mark: Mark = "cause" if event.time < time else "effect" if event.time > time else "companion"
        who, whom = names.name(event.subject), names.name(event.object)
        return GroundedEvent(mark, who, self._predicate(event.predicate), whom, timeline.label(event.time), end)

    def company(self, asked: SpanFact, paths: list[SharedNeighbourPath], told: float) -> Company:
        """Return the company behind an answer, the object of the fact asked about, in words."""
        groups: dict[tuple[int, int], list[SharedNeighbourPath]] = {}
        for path in paths:
            groups.setdefault((path.of_co_neighbour.subject, path.of_co_neighbour.object), []).append(path)
        peers = sorted((self._peer(asked, group) for group in groups.values()), key=lambda peer: -peer.weight)
        return Company(tuple(peers), told)

    def _peer(self, asked: SpanFact, group: list[SharedNeighbourPath]) -> Peer:
        """Return all that one of the company says by what it shares with the given entity at one third."""
        steps = zip(*((path.of_subject, path.of_co_neighbour, path.to_candidate) for path in group), strict=True)
        nearest = (sorted(set(step), key=lambda fact: (steps_apart(asked, fact), fact)) for step in steps)
        facts = [fact for three in zip_longest(*nearest) for fact in three if fact is not None]
        name, of_peer = self._dataset.entities.name, group[0].of_co_neighbour
        return Peer(
            name=name(of_peer.subject),
            third=name(of_peer.object),
            paths=len(group),
            weight=math.fsum(path.weight for path in group),
            events=tuple(self._grounded_span(fact, asked) for fact in facts),
        )

    def _grounded_span(self, fact: SpanFact, asked: SpanFact) -> GroundedEvent:
        """Return a fact with the times that are known of it, its subject and object in the order of the graph."""
        name, label = self._dataset.entities.name, self._dataset.timeline.label
        before = max(fact.known) < min(asked.known)
        mark: Mark = "cause" if before else "effect" if min(fact.known) > max(asked.known) else "companion"
        who, whom = (name(entity) for entity in (fact.subject, fact.object))
        if fact.predicate >= len(self._dataset.predicates):
            who, whom = whom, who
        ends = ["?" if end == UNKNOWN else label(end) for end in (fact.start, fact.end)]
        time = ends[0] if ends[0] == ends[1] else " – ".join(ends)
        return GroundedEvent(mark, who, self._predicate(fact.predicate), whom, time)

    def _rule(self, asked: Asked, kind: str, body: tuple[int, ...]) -> WrittenRule | None:
        """Return the rule behind a reason, without times."""
        predicates = self._dataset.predicates
        if kind == "object":
            turned, name = asked.predicate >= len(predicates), self._predicate(asked.predicate)
            head, atom = (Atom(name, *(("y", who) if turned else (who, "y"))) for who in ("x", "z"))
            return WrittenRule(head, (atom,))
        if kind in ("pair", "path"):
            return written_rule(Rule(STATIC, "pair" if kind == "pair" else "path", asked.predicate, body), predicates)
        return None


def _dated(rule: WrittenRule, distance: int) -> WrittenRule:
    """Return a rule of one body atom with the times of a distance: what comes first is at t."""
    head, body = ("t", "t") if distance == 0 else ("t+t1", "t") if distance < 0 else ("t", "t+t1")
    return WrittenRule(rule.head._replace(time=head), (rule.body[0]._replace(time=body),))


def _groundings(kind: str, group: list[Reason]) -> int:
    """Return how many events (partners, paths) ground a reason at the end that has most."""
    ends = {reason.end for reason in group}
    by_end = [[reason.count for reason in group if reason.end == end] for end in ends]
    # what a candidate does at other steps is not among what it does now; all other counts hold what is nearest
    return max(sum(counts) if kind == "active" else max(counts) for counts in by_end)
