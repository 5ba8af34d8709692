"""Reasons of the evidence in words: ids become names, the features of one rule body one sentence and one clause."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from foretime.evidence.buckets import affinity_words, count_words, offset_words, rate_words
from foretime.evidence.families import BACKGROUND_GROUPS
from foretime.evidence.families import GROUPS as EVENT_GROUPS
from foretime.evidence.reasons import Event, Reason
from foretime.inference.explanation.attribution import Key, topic_of_key
from foretime.inference.explanation.events import DatedEvent
from foretime.inference.explanation.phrases import listed, times_words
from foretime.inference.explanation.reasons import IN_TWOS, ReasonPart, ShownReason
from foretime.inference.explanation.vocabulary import FactIds, GraphWords
from foretime.rules.rule import STATIC, Atom, Rule, RuleIds, Shape, named_rule

GROUPS = {**EVENT_GROUPS, **BACKGROUND_GROUPS}
_NAMED = 3
"""How many common neighbours a sentence names."""
_OFTEN = 3
"""From how many events on a clause says how many there are."""
_OF_OTHERS = ("object", "popularity")
"""The families of events that others have under the predicate asked about."""
_AROUND = {
    "background_object": "others have {name} under this predicate",
    "background_affinity": "{both} have neighbours in common",
    "background_path": "{both} are connected by a rule over two facts",
}
"""What facts without a time say of a candidate beside those between the two."""
Groups = dict[Key, list[Reason]]
"""The grounded features of each rule body."""


class _Said(NamedTuple):
    title: str
    statement: str
    example: str
    clause: str


def by_body(reasons: Iterable[Reason]) -> Groups:
    """Return the grounded features by family and rule body."""
    groups: Groups = {}
    for reason in reasons:
        body = () if reason.family in _OF_OTHERS else reason.body  # their body is the predicate asked about
        groups.setdefault((reason.family, *body), []).append(reason)
    return groups


class Wording:
    """Puts the evidence of candidates into the words of a graph."""

    def __init__(self, words: GraphWords) -> None:
        self._words = words

    def show(self, asked: FactIds, key: Key, group: list[Reason], amount: float) -> ShownReason:
        """Return the reason of one rule body that adds an amount to the score."""
        family = group[0].family
        said: _Said = getattr(self, f"_{family}")(asked, group)  # each family has its own sentence
        rule = self._rule(asked, family, group[0].body)
        parts = tuple(self._part(asked, reason, rule) for reason in group)
        dated = [part for part in parts if part.statement is not None]
        strongest = max(dated, key=lambda part: abs(part.contribution)).statement if dated else None
        own = any(part.rule for part in parts)
        events = self._events(asked, group, amount)
        return ShownReason(
            family=family,
            topic=topic_of_key(key),
            title=said.title,
            sentence=f"{said.statement}{self._whens(asked, group)} ({said.example})",
            clause=said.clause,
            rule=None if rule is None or not own else strongest or rule.statement,
            parts=parts,
            events=events,
            rest=amount - math.fsum(event.contribution for event in events),
            groundings=_groundings(group),
            key=key,
        )

    def _part(self, asked: FactIds, reason: Reason, rule: Rule | None) -> ReasonPart:
        dated = rule is not None and GROUPS[reason.group].kind == "offset"
        statement = _dated(rule, int(reason.value)).statement if rule is not None and dated else None
        says = self._says(asked, reason)
        return ReasonPart(reason.group, reason.value, says, reason.end, reason.share, *reason.weights, statement)

    def _says(self, asked: FactIds, reason: Reason, bucket: bool = True) -> str:
        """Return what one feature says, with its bucket if that is wanted."""
        kind, unit = GROUPS[reason.group].kind, self._words.unit
        if reason.group in BACKGROUND_GROUPS:
            return self._says_background(asked, reason, bucket)
        if kind == "affinity":
            return affinity_words(reason.value, bucket)
        if kind == "rate":
            return rate_words(reason.value, bucket)
        if kind in ("now", "total"):
            among = f"the same {unit}" if kind == "now" else "so far" if asked.past_only else "in all"
            return f"{count_words(int(reason.value), bucket)} {among}"
        when = offset_words(int(reason.value), unit, bucket)
        return f"the farther event {when}" if kind == "farther" else when

    def _whens(self, asked: FactIds, group: list[Reason]) -> str:
        """Return what all features of a reason say: `: the same day, 3 days after, 37 times in all`."""
        if group[0].family in ("affinity", "background"):
            return ""  # the neighbours, and the facts, say more than their number on a scale
        words = []
        for end in dict.fromkeys(reason.end for reason in group):
            shown = (
                r for r in group if r.end == end and GROUPS[r.group].kind != "rate"
            )  # a number on a scale says little
            ordered = sorted(shown, key=lambda r: GROUPS[r.group].kind in ("now", "total"))
            said = ", ".join(self._says(asked, reason, bucket=False) for reason in ordered)
            words.append(f"at the {end} {said}" if end else said)
        return f": {'; '.join(words)}" if any(words) else ""

    def _pair(self, asked: FactIds, group: list[Reason]) -> _Said:
        words, q, event = self._words, group[0].body[0], _nearest(asked, group)
        inverse = ", the other way" if words.is_inverse(q) != words.is_inverse(asked.predicate) else ""
        what = words.event(event)
        clause = f"there was {what} {self._nearest_when(asked, group)}{self._often(asked, group)}"
        title = f"{words.quoted(q)} between the two{inverse}"
        return _Said(title, what, f"{_nearest_of(group)}{words.label(event.time)}", clause)

    def _object(self, asked: FactIds, group: list[Reason]) -> _Said:
        words, event = self._words, _nearest(asked, group)
        inverse = words.is_inverse(asked.predicate)
        what = words.directed(asked.predicate, "others", words.name(asked.object))
        who = words.name(event.object if inverse else event.subject)
        title = f"{words.quoted(asked.predicate)} {'with' if inverse else 'by'} others"
        clause = f"there was {what} {self._nearest_when(asked, group)} ({who}){self._often(asked, group)}"
        return _Said(title, what, f"{_nearest_of(group)}{who}, {words.label(event.time)}", clause)

    _recurrence, _popularity = _pair, _object  # the same events, and how often and how lately they came

    def _contact(self, asked: FactIds, group: list[Reason]) -> _Said:
        words, event = self._words, _nearest(asked, group)
        both = f"{words.name(asked.subject)} and {words.name(asked.object)}"
        last = f"{words.event(event)}, {words.label(event.time)}"
        many = f", {times_words(group[0].count)} so far" if group[0].count >= _OFTEN else ""
        clause = f"{both} had dealings with each other {words.when(event.time - asked.times[group[0].end])}{many}"
        return _Said(
            "events between the two", f"{both} had dealings with each other", f"{_nearest_of(group)}{last}", clause
        )

    def _active(self, asked: FactIds, group: list[Reason]) -> _Said:
        words, event = self._words, _nearest(asked, group)
        who = words.name(asked.object)
        nearest = f"{_nearest_of(group)}{words.event(event)}, {words.label(event.time)}"
        clause = f"{who} was active with others {self._nearest_when(asked, group)}"
        return _Said("active with others", f"{who} is active with others", nearest, clause)

    def _affinity(self, asked: FactIds, group: list[Reason]) -> _Said:
        found = group[0].partners
        names = [self._words.name(one) for one in found[:_NAMED]]
        more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
        both = f"{self._words.name(asked.subject)} and {self._words.name(asked.object)}"
        such = listed(names) if len(found) <= 2 else f"{len(found):,} others, such as {listed(names[:2])}"
        clause = f"{both} both had dealings with {such}"
        many = "one neighbour" if len(found) == 1 else f"{len(found):,} neighbours"
        return _Said("common neighbours", f"{both} have {many} in common", f"{', '.join(names)}{more}", clause)

    def _background(self, asked: FactIds, group: list[Reason]) -> _Said:
        """Return what facts without a time say: between the two, or of what both have around them."""
        words, both = self._words, f"{self._words.name(asked.subject)} and {self._words.name(asked.object)}"
        facts = list(dict.fromkeys(fact for reason in group for fact in reason.facts))
        named = "; ".join(words.fact(*fact) for fact in facts[:_NAMED]) or "by way of dated events"
        if group[0].body:
            fact = words.fact(*facts[0])
            title = f"{words.quoted(group[0].body[0])} between the two, without a time"
            return _Said(title, f"background: {fact}", "no date", f"{fact} is known without a time")
        told = "; ".join(dict.fromkeys(_AROUND[reason.group] for reason in group))
        said = told.format(both=both, name=words.name(asked.object))
        title = "what is known without a time"
        return _Said(title, f"background: {said}", named, f"without a time, {said} ({named})")

    def _says_background(self, asked: FactIds, reason: Reason, bucket: bool) -> str:
        if reason.group == "background_pair":
            same = "the predicate asked about" if reason.body == (asked.predicate,) else "another predicate"
            return f"a fact without a time, of {same}"
        if reason.group == "background_affinity":
            return f"{affinity_words(reason.value, bucket)} by way of facts without a time"
        what = "others without a time" if reason.group == "background_object" else "paths with a fact without a time"
        return f"{what}: {count_words(int(reason.value), bucket)}"

    def _path(self, asked: FactIds, group: list[Reason]) -> _Said:
        words, (first, second) = self._words, group[0].events[:2]
        rule = named_rule(RuleIds(STATIC, "path", asked.predicate, group[0].body), words.predicates)
        via = first.object if first.subject == asked.subject else first.subject
        time = asked.times[group[0].end]
        events = "; ".join(f"{words.event(event)}, {words.label(event.time)}" for event in (first, second))
        each = [f"{words.event(event)} {words.when(event.time - time)}" for event in (first, second)]
        title = " ∧ ".join(map(str, rule.body))
        return _Said(title, f"via {words.name(via)}", events, f"there was {each[0]} and {each[1]}")

    def _nearest_when(self, asked: FactIds, group: list[Reason]) -> str:
        """Return when the nearest event was, and the nearest on the other side if that is not much farther."""
        steps = {
            int(r.value): r for r in sorted(group, key=lambda r: -abs(r.value)) if GROUPS[r.group].kind == "offset"
        }
        counts = [r for r in group if GROUPS[r.group].kind == "now"]
        if counts and 0 not in steps:
            steps[0] = counts[0]
        near = sorted(steps, key=abs)
        if not near:
            event, end = _nearest(asked, group), group[0].end
            return self._words.when(event.time - asked.times[end]) + (f", counted from the {end}" if end else "")
        both = [step for step in near[1:] if step * near[0] < 0 and abs(step) <= 2 * abs(near[0])]
        end = steps[near[0]].end
        when = listed([self._words.when(step) for step in (near[0], *both[:1])])
        return f"{when}, counted from the {end}" if end else when

    def _often(self, asked: FactIds, group: list[Reason]) -> str:
        counts = [int(reason.value) for reason in group if GROUPS[reason.group].kind == "total"]
        counts += [reason.count for reason in group if GROUPS[reason.group].kind == "rate"]
        many = max(counts, default=0)
        return f", {times_words(many)} {'so far' if asked.past_only else 'in all'}" if many >= _OFTEN else ""

    def _events(self, asked: FactIds, group: list[Reason], amount: float) -> tuple[DatedEvent, ...]:
        """Return the events of all features with their shares of an amount, the nearest first.

        A feature has a part of the amount by the size of its weight, and each of its groundings the same part of that.
        Events that come in twos stay together.
        """
        sizes = [abs(reason.contribution) for reason in group]
        whole, twos = math.fsum(sizes) or 1.0, group[0].family in IN_TWOS
        found: dict[tuple[int, Event, str] | tuple[int, int], tuple[Event, str, float]] = {}
        for number, (reason, size) in enumerate(zip(group, sizes, strict=True)):
            share = amount * (size / whole) / max(reason.count, 1) / (2 if twos else 1)
            for place, event in enumerate(reason.events):
                far = abs(event.time - asked.times[reason.end])
                key = (number, place) if twos else (far, event, reason.end)
                before = found[key][2] if key in found else 0.0
                found[key] = event, reason.end, before + share
        ordered = found.values() if twos else (found[key] for key in sorted(found))
        return tuple(self._words.dated(event, asked.times[end], end, share) for event, end, share in ordered)

    def _rule(self, asked: FactIds, family: str, body: tuple[int, ...]) -> Rule | None:
        """Return the rule behind a reason, without times."""
        words = self._words
        if family in _OF_OTHERS:
            inverse, name = words.is_inverse(asked.predicate), words.predicate(asked.predicate)
            head, atom = (Atom(name, *(("y", who) if inverse else (who, "y"))) for who in ("x", "z"))
            return Rule(head, (atom,))
        shape: Shape = "path" if family == "path" else "pair"
        return named_rule(RuleIds(STATIC, shape, asked.predicate, body), words.predicates) if body else None


def _nearest(asked: FactIds, group: list[Reason]) -> Event:
    events = [(abs(event.time - asked.times[reason.end]), event) for reason in group for event in reason.events]
    return min(events)[1]


def _dated(rule: Rule, distance: int) -> Rule:
    """Return a rule of one body atom with the times of a distance: what comes first is at t."""
    head, body = ("t", "t") if distance == 0 else ("t+t1", "t") if distance < 0 else ("t", "t+t1")
    return Rule(rule.head._replace(time=head), (rule.body[0]._replace(time=body),))


def _nearest_of(group: list[Reason]) -> str:
    """Return the word before the event that is named, where there are others."""
    return "nearest " if _groundings(group) > 1 else ""


def _groundings(group: list[Reason]) -> int:
    """Return how many events (neighbours, paths) ground a reason at the end that has most."""
    if group[0].family == "background":
        return 0  # its facts are no events
    ends = {reason.end for reason in group}
    by_end = [[reason.count for reason in group if reason.end == end] for end in ends]
    # what a candidate does at other steps is not among what it does now; all other counts hold what is nearest
    return max(sum(counts) if group[0].family == "active" else max(counts) for counts in by_end)
