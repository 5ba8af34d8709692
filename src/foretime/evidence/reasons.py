"""Reasons: every grounded feature of one candidate, with its weights and the events that ground it.

The walk that scores a candidate also records what it has added up; here the records are read. The contributions of all
reasons add up to the candidate's evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from foretime.data.facts import UNKNOWN, inverse
from foretime.evidence.events import Ints
from foretime.evidence.families import FAMILIES, FEATURES, RULED, Family, FeatureGroup
from foretime.evidence.index import EvidenceIndex, Floats
from foretime.evidence.visibility import is_hidden, is_watched

EVENTS_KEPT = 10
"""How many events a reason names at the most, the nearest in time first."""
_GROUPS = [(family, group) for family in FAMILIES for group in family.groups for _ in range(group.size)]
"""The family and the group of each feature."""


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

    family: str
    """The name of its group of features, such as `pair_offset`."""
    kind: str
    """The name of its family: `pair`, `object`, `active`, `affinity` or `path`."""
    body: tuple[int, ...]
    """The predicates of the rule's body, inverses too; none where the feature is of no rule."""
    value: float
    """The signed distance in steps, the count, or the affinity."""
    weights: Weights
    events: tuple[Event, ...]
    """Events that ground it, the nearest first; of a path and of shared partners they come in twos."""
    count: int
    """How many groundings there are in all: events, partners, or paths."""
    partners: tuple[int, ...] = ()
    """The partners that candidate and subject share, those with the largest share first; for `affinity` only."""
    end: str = ""
    """`start` or `end` where a fact with two ends is asked about: the end that it belongs to."""
    share: float = 1.0
    """One half where a fact has two ends, whose scores are averaged."""

    @property
    def contribution(self) -> float:
        """What it adds to the candidate's evidence."""
        return self.share * self.weights.total


class _Asked(NamedTuple):
    x: int
    p: int
    y: int
    t: int


class _Found(NamedTuple):
    """What grounds a feature."""

    body: tuple[int, ...]
    events: tuple[Event, ...]
    groundings: int
    partners: tuple[int, ...] = ()


class _Grounding(NamedTuple):
    """Two events that ground a feature together: their places, and the share or the distance of the farther one."""

    first: int
    second: int
    amount: float


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
        asked = _Asked(subject, predicate, object_, time)
        found: list[Reason] = []
        groundings: dict[int, list[_Grounding]] = {}
        for *row, value in self.index.record(subject, predicate, object_, time).tolist():
            feature, rule, first, second = map(int, row)
            if feature < 0:
                groundings.setdefault(rule, []).append(_Grounding(first, second, value))
                continue
            family, group = _GROUPS[feature]
            places = (feature, FEATURES * (1 + predicate) + feature, rule)
            weights = Weights(*(float(self._weights[place]) if place >= 0 else 0.0 for place in places))
            what = self._ground(asked, family, group, value, rule, first, groundings)
            value = value if group.kind == "affinity" else int(value)
            reason = Reason(group.name, family.name, what.body, value, weights, *what[1:])
            # what is at the very step comes before what is nearest to it
            swap = value == 0 and bool(found) and found[-1].family == group.name
            found.insert(len(found) - swap, reason)
        return found

    def _ground(
        self, asked: _Asked, family: Family, group: FeatureGroup, value: float, rule: int, owner: int,
        groundings: dict[int, list[_Grounding]],
    ) -> _Found:  # fmt: skip
        """Return what grounds a recorded feature."""
        if family.events == "meetings":
            return self._meetings(asked, groundings[rule])
        if family.events == "paths":
            return self._paths(asked, groundings[rule], rule)
        step = None if group.kind == "total" else asked.t + (int(value) if group.kind == "offset" else 0)
        return self._listed(asked, family.events, owner, step)

    def _listed(self, asked: _Asked, events: str, owner: int, step: int | None) -> _Found:
        """Return the events of a group, of an object of the predicate or of an entity, at one step or at any."""
        lists, (x, p, y, t), past_only = self.events, asked, self.reach.past_only
        subjects: int | Ints
        predicates: int | Ints
        body: tuple[int, ...]
        if events == "by_pair":
            own = slice(*lists.group[owner : owner + 2])
            subjects, predicates, time = x, int(lists.group_predicate[owner]), lists.time[own]
            watched = is_watched(predicates, p, inverse(p, lists.predicates), x == y)
            hidden, body = is_hidden(watched, time, lists.twin[own], t, past_only), (predicates,)
        else:
            if events == "by_object":
                own = slice(*lists.by_object[owner : owner + 2])
                subjects, predicates, time, body = lists.by_object_subject[own], p, lists.by_object_time[own], (p,)
            else:
                own = slice(*lists.by_entity[owner : owner + 2])
                subjects, predicates, time = (
                    lists.by_entity_other[own],
                    lists.by_entity_predicate[own],
                    lists.by_entity_time[own],
                )
                body = ()
            hidden = (subjects == x) | is_hidden(False, time, time, t, past_only)
        places = np.flatnonzero(~hidden if step is None else ~hidden & (time == step))
        count = len(places)
        if count > EVENTS_KEPT:
            far = np.abs(time[places].astype(np.int64) - t)
            places = places[far <= np.partition(far, EVENTS_KEPT - 1)[EVENTS_KEPT - 1]]
        who, what = (
            [ids] * len(places) if isinstance(ids, int) else ids[places].tolist() for ids in (subjects, predicates)
        )
        found = [self._event(z, q, y, when) for z, q, when in zip(who, what, time[places].tolist(), strict=True)]
        found.sort(key=lambda event: (abs(event.time - t), event.time, event))
        return _Found(body, tuple(found[:EVENTS_KEPT]), count)

    def _meetings(self, asked: _Asked, groundings: list[_Grounding]) -> _Found:
        """Return the partners that subject and candidate share, and the nearest events with the foremost of them."""
        partners = {int(self.events.other[found.first]): found for found in groundings}
        order = tuple(sorted(partners, key=lambda z: (-partners[z].amount, z)))
        events = []
        for z in order[: EVENTS_KEPT // 2]:
            first, second, _ = partners[z]
            events += [self._meeting(asked.x, z, first, asked, asked.p), self._meeting(z, asked.y, second, asked, -1)]
        return _Found((), tuple(events), len(groundings), order)

    def _meeting(self, one: int, other: int, pair: int, asked: _Asked, watched: int) -> Event:
        """Return the nearest event of a pair that the question may see; only the subject's own can be its own."""
        first, last = self.events.pair[pair : pair + 2]
        groups = self.events.group[first : last + 1]
        own = slice(groups[0], groups[-1])
        predicate, time = np.repeat(self.events.group_predicate[first:last], np.diff(groups)), self.events.time[own]
        hidden = is_hidden(predicate == watched, time, self.events.twin[own], asked.t, self.reach.past_only)
        far = np.abs(time.astype(np.int64) - asked.t)
        nearest = ~hidden & (far == far[~hidden].min())
        step, q = min(zip(time[nearest].tolist(), predicate[nearest].tolist(), strict=True))
        return self._event(one, q, other, step)

    def _paths(self, asked: _Asked, groundings: list[_Grounding], rule: int) -> _Found:
        """Return the body of a path rule and the events of its nearest paths."""
        lists, every = self.events, 2 * self.events.predicates
        nearest = sorted(groundings, key=lambda found: (abs(found.amount), found.amount))
        events = []
        for first, second, _ in nearest[: EVENTS_KEPT // 2]:
            for e, whom in ((first, asked.x), (second, lists.by_entity_other[first])):
                ids = (lists.by_entity_other[e], lists.by_entity_predicate[e], whom, lists.by_entity_time[e])
                events.append(self._event(*map(int, ids)))
        place = rule - FEATURES * (1 + every) - RULED * len(self.index.rules.pair_body)
        return _Found(divmod(int(self.index.rules.path_body[place]), every), tuple(events), len(groundings))

    def _event(self, subject: int, predicate: int, object_: int, time: int) -> Event:
        """Return an event; one of an inverse predicate as it happened."""
        if predicate < self.events.predicates:
            return Event(subject, predicate, object_, time)
        return Event(object_, inverse(predicate, self.events.predicates), subject, time)
