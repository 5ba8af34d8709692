"""Reasons: every grounded feature of one candidate, with its weights and the events that ground it.

The walk that scores a candidate also records what it has added up; here the records are read. The contributions of all
reasons add up to the candidate's evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from foretime.data.facts import UNKNOWN, inverse
from foretime.evidence.background_facts import BackgroundFact, facts_behind
from foretime.evidence.families import (
    BACKGROUND_FAMILY,
    BACKGROUND_FEATURES,
    FAMILIES,
    FEATURES,
    RATED,
    RULED,
)
from foretime.evidence.index import EvidenceIndex, Floats
from foretime.evidence.visibility import is_hidden, is_watched

Asked = tuple[int, int, int, int]
"""Subject, predicate, candidate, step."""
Grounding = tuple[int, int, float]
"""Where two events lie that ground a feature together, and their share or the distance of the farther one."""
EVENTS_KEPT = 10
"""How many events a reason names at the most, the nearest in time first."""
_GROUPS = [(family, group) for family in FAMILIES for group in family.groups for _ in range(group.size)]
"""The family and the group of each feature."""
_BACKGROUND_GROUPS = [group for group in BACKGROUND_FAMILY.groups for _ in range(group.size)]
"""The group of each feature of facts without a time."""


class Event(NamedTuple):
    """A dated event as ids; its predicate is never an inverse."""

    subject: int
    predicate: int
    object: int
    time: int


class Weights(NamedTuple):
    """The learned weights of a feature: the one that all predicates share, the predicate's own, and the rule's."""

    shared: float
    predicate: float
    rule: float

    @property
    def total(self) -> float:
        """The sum of the three."""
        return math.fsum(self)


@dataclass(frozen=True)
class Reason:
    """One grounded feature of a candidate."""

    group: str
    """The name of its group of features, such as `pair_offset`."""
    family: str
    """The name of its family, such as `pair`."""
    body: tuple[int, ...]
    """The predicates of the rule's body, inverses too; none where the feature is of no rule."""
    value: float
    """The signed distance in steps, the count, the affinity, or the sum of fading events."""
    weights: Weights
    events: tuple[Event, ...]
    """Events that ground it, the nearest first; of a path and of shared partners they come in twos."""
    count: int
    """How many groundings there are in all: events, partners, or paths."""
    partners: tuple[int, ...] = ()
    """The partners that candidate and subject share, those with the largest share first; for `affinity` only."""
    end: str = ""
    """`start` or `end` where a fact with two ends is asked about: the end that it belongs to."""
    facts: tuple[BackgroundFact, ...] = ()
    """Facts without a time that ground it; for `background` only, which has no events."""
    share: float = 1.0
    """One half where a fact has two ends, whose scores are averaged."""

    @property
    def contribution(self) -> float:
        """What it adds to the candidate's evidence."""
        return self.share * self.weights.total


class ReasonFinder:
    """Finds the reasons of candidates, given the learned weights."""

    def __init__(self, index: EvidenceIndex, weights: Floats) -> None:
        self.index, self.events, self.reach = index, index.events, index.reach
        self._weights = weights

    def find(self, subject: int, predicate: int, object_: int, start: int, end: int) -> list[Reason]:
        """Return the reasons of a fact, those of both its ends if it has two; an unknown end counts as the other."""
        first, second = end if start == UNKNOWN else start, start if end == UNKNOWN else end
        if first == second:
            return self.find_at(subject, predicate, object_, first)
        return [
            replace(reason, end=name, share=0.5)
            for name, time in (("start", first), ("end", second))
            for reason in self.find_at(subject, predicate, object_, time)
        ]

    def find_at(self, subject: int, predicate: int, object_: int, time: int) -> list[Reason]:
        """Return the reasons of an object at one step."""
        time = int(self.index.as_of(np.array([time]))[0])
        asked = (subject, predicate, object_, time)
        found: list[Reason] = []
        groundings: dict[int, list[Grounding]] = {}
        for *row, value in self.index.record(*asked).tolist():
            feature, rule, first, second = map(int, row)
            if feature < 0:
                groundings.setdefault(rule, []).append((first, second, value))
                continue
            family, group = _GROUPS[feature]
            places = (feature, FEATURES * (1 + predicate) + feature, rule)
            weights = Weights(*(float(self._weights[place]) if place >= 0 else 0.0 for place in places))
            if family.events == "meetings":
                what = self._meetings(asked, groundings[rule])
            elif family.events == "paths":
                what = self._paths(subject, groundings[rule], rule)
            elif family.events == "between":
                events = self._between(*asked, past_only=True)
                what = {"body": (), "events": tuple(events[:EVENTS_KEPT]), "count": len(events)}
            else:
                step = None if group.kind in ("total", "rate") else time + (int(value) if group.kind == "offset" else 0)
                past_only = self.reach.past_only or family.name in RATED
                what = self._listed(asked, family.events, first, step, past_only)
            value = value if group.kind in ("affinity", "rate") else int(value)
            # what is at the very step comes before what is nearest to it
            swap = value == 0 and bool(found) and found[-1].group == group.name
            found.insert(len(found) - swap, Reason(group.name, family.name, value=value, weights=weights, **what))
        return found + self._of_background(asked)

    def _of_background(self, asked: Asked) -> list[Reason]:
        """Return the reasons of an object by facts without a time."""
        background, (x, p, y, t) = self.index.background, asked
        if background is None:
            return []
        first, every, found = self.index.event_weights, 2 * self.events.predicates, []
        for feature, rule, value in self.index.record_background(x, p, y, t).tolist():
            group = _BACKGROUND_GROUPS[int(feature)]
            of_rule = first + BACKGROUND_FEATURES * (1 + every) + int(rule) if rule >= 0 else -1
            places = (first + int(feature), first + BACKGROUND_FEATURES * (1 + p) + int(feature), of_rule)
            weights = Weights(*(float(self._weights[place]) if place >= 0 else 0.0 for place in places))
            body = (int(value),) if group.kind == "fact" else ()
            facts = tuple(facts_behind(background.lists, group.name, x, p, y, body))
            what: dict[str, Any] = {"body": body, "events": (), "count": max(len(facts), 1)}
            what["facts"] = facts[:EVENTS_KEPT]
            value = value if group.kind == "affinity" else int(value)
            found.append(Reason(group.name, BACKGROUND_FAMILY.name, value=value, weights=weights, **what))
        return found

    def between(self, subject: int, predicate: int, object_: int, time: int) -> list[Event]:
        """Return all events between the two that the question may see, each once, the nearest first."""
        return list(dict.fromkeys(self._between(subject, predicate, object_, time, self.reach.past_only)))

    def _between(self, subject: int, predicate: int, object_: int, time: int, past_only: bool) -> list[Event]:
        lists = self.events
        first, last = lists.node[subject : subject + 2]
        place = int(first + np.searchsorted(lists.other[first:last], object_))
        if place >= last or lists.other[place] != object_:
            return []
        found: list[Event] = []
        for group in range(*lists.pair[place : place + 2]):
            q, own = int(lists.group_predicate[group]), slice(*lists.group[group : group + 2])
            watched = is_watched(q, predicate, inverse(predicate, lists.predicates), subject == object_)
            times = lists.time[own]
            hidden = is_hidden(watched, times, lists.twin[own], time, past_only)
            found += [self._event(subject, q, object_, when) for when in times[~hidden].tolist()]
        return sorted(found, key=lambda event: (abs(event.time - time), event.time, event))

    def _listed(self, asked: Asked, events: str, owner: int, step: int | None, past_only: bool) -> dict[str, Any]:
        """Return the events of a group, of an object of the predicate or of an entity, at one step or at any."""
        lists, (x, p, y, t) = self.events, asked
        own = slice(*{"by_pair": lists.group, "by_object": lists.by_object}.get(events, lists.by_entity)[owner:][:2])
        body: tuple[int, ...] = (p,)
        if events == "by_pair":
            body, time = (int(lists.group_predicate[owner]),), lists.time[own]
            subjects, predicates = np.full(len(time), x), np.full(len(time), body[0])
            watched = is_watched(body[0], p, inverse(p, lists.predicates), x == y)
            hidden = is_hidden(watched, time, lists.twin[own], t, past_only)
        else:
            if events == "by_object":
                time, subjects = lists.by_object_time[own], lists.by_object_subject[own]
                predicates = np.full(len(time), p)
            else:
                time, subjects, body = lists.by_entity_time[own], lists.by_entity_other[own], ()
                predicates = lists.by_entity_predicate[own]
            hidden = (subjects == x) | is_hidden(False, time, time, t, past_only)
        places = np.flatnonzero(~hidden if step is None else ~hidden & (time == step))
        count = len(places)
        if count > EVENTS_KEPT:
            far = np.abs(time[places].astype(np.int64) - t)
            places = places[far <= np.partition(far, EVENTS_KEPT - 1)[EVENTS_KEPT - 1]]
        rows = zip(*(column[places].tolist() for column in (subjects, predicates, time)), strict=True)
        found = [self._event(z, q, y, when) for z, q, when in rows]
        found.sort(key=lambda event: (abs(event.time - t), event.time, event))
        return {"body": body, "events": tuple(found[:EVENTS_KEPT]), "count": count}

    def _meetings(self, asked: Asked, groundings: list[Grounding]) -> dict[str, Any]:
        """Return the partners that subject and candidate share, and the nearest events with the foremost of them."""
        x, p, y, t = asked
        partners = {int(self.events.other[found[0]]): found for found in groundings}
        order = tuple(sorted(partners, key=lambda z: (-partners[z][2], z)))
        events = []
        for z in order[: EVENTS_KEPT // 2]:
            first, second, _ = partners[z]
            events += [self._meeting(x, z, first, t, p), self._meeting(z, y, second, t, -1)]
        return {"body": (), "events": tuple(events), "count": len(groundings), "partners": order}

    def _meeting(self, one: int, other: int, pair: int, t: int, watched: int) -> Event:
        """Return the nearest event of a pair that the question may see; only the subject's own can be its own."""
        first, last = self.events.pair[pair : pair + 2]
        groups = self.events.group[first : last + 1]
        own = slice(groups[0], groups[-1])
        predicate, time = np.repeat(self.events.group_predicate[first:last], np.diff(groups)), self.events.time[own]
        hidden = is_hidden(predicate == watched, time, self.events.twin[own], t, self.reach.past_only)
        far = np.abs(time.astype(np.int64) - t)
        nearest = ~hidden & (far == far[~hidden].min())
        step, q = min(zip(time[nearest].tolist(), predicate[nearest].tolist(), strict=True))
        return self._event(one, q, other, step)

    def _paths(self, x: int, groundings: list[Grounding], rule: int) -> dict[str, Any]:
        """Return the body of a path rule and the events of its nearest paths."""
        lists, every = self.events, 2 * self.events.predicates
        nearest = sorted(groundings, key=lambda found: (abs(found[2]), found[2]))
        events = []
        for first, second, _ in nearest[: EVENTS_KEPT // 2]:
            for e, whom in ((first, x), (second, lists.by_entity_other[first])):
                ids = (lists.by_entity_other[e], lists.by_entity_predicate[e], whom, lists.by_entity_time[e])
                events.append(self._event(*map(int, ids)))
        place = rule - FEATURES * (1 + every) - RULED * len(self.index.rules.pair_body)
        body = divmod(int(self.index.rules.path_body[place]), every)
        return {"body": body, "events": tuple(events), "count": len(groundings)}

    def _event(self, subject: int, predicate: int, object_: int, time: int) -> Event:
        """Return an event; one of an inverse predicate as it happened."""
        if predicate < self.events.predicates:
            return Event(subject, predicate, object_, time)
        return Event(object_, inverse(predicate, self.events.predicates), subject, time)
