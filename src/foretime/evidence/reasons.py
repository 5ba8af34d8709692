"""Reasons: every grounded feature of one candidate, with its weights and the events that ground it.

What `kernels.walk` adds up for all candidates at once is taken apart here for one, in plain Python, by the same rules:
a question `(x, p, ?, t)` never sees its own facts, and the windows and caps are those of the walk. The contributions of
all reasons add up to the candidate's evidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from foretime.data.facts import UNKNOWN, inverse
from foretime.evidence.buckets import affinity_bucket, count_bucket, offset_bucket
from foretime.evidence.families import (
    ACTIVE_COUNT,
    ACTIVE_OFFSET,
    AFFINITY,
    FEATURES,
    OBJECT_COUNT,
    OBJECT_OFFSET,
    PAIR_COUNT,
    PAIR_OFFSET,
    PATH,
    RULED,
    Family,
)
from foretime.evidence.grounds import Floats, Grounds
from foretime.evidence.index import Ints, Offsets
from foretime.evidence.paths import GroundedPath, grounded_paths

EVENTS_KEPT = 10
"""How many events a reason names at the most, the nearest in time first."""


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
    """The name of its family, such as `pair_offset`."""
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
    def kind(self) -> str:
        """What it is of: `pair`, `object`, `active`, `affinity` or `path`."""
        return self.family.partition("_")[0]

    @property
    def contribution(self) -> float:
        """What it adds to the candidate's evidence."""
        return self.share * self.weights.total


class _Question(NamedTuple):
    x: int
    p: int
    y: int
    t: int


class ReasonFinder:
    """Finds the reasons of candidates, given the learned weights."""

    def __init__(self, grounds: Grounds, weights: Floats) -> None:
        self.grounds, self.index, self.reach = grounds, grounds.index, grounds.reach
        self._weights = weights
        self._rule_weights = FEATURES * (1 + 2 * self.index.predicates)
        self._paths: tuple[tuple[int, int, int], dict[int, list[GroundedPath]]] = ((-1, -1, -1), {})

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
        question = _Question(subject, predicate, object_, time)
        found: list[Reason] = []
        if self.reach.pair:
            found += self._pair(question)
        if object_ == subject:
            return found  # what an entity does with others says nothing about itself
        if self.reach.object:
            found += self._object(question)
        if self.reach.active:
            found += self._active(question)
        if self.reach.affinity:
            found += self._affinity(question)
        if self.reach.path:
            found += self._path(question)
        return found

    def _pair(self, question: _Question) -> Iterator[Reason]:
        """Yield what speaks from events between the pair."""
        index, (x, _, y, t) = self.index, question
        k = _place(index.other, *_bounds(index.node, x), y)
        for g in range(*_bounds(index.pair, k)) if k >= 0 else ():
            q = int(index.group_predicate[g])
            events = [self._event(x, q, y, step) for step in self._pair_steps(question, q, g)]
            for distance, there in _nearest(events, t):
                yield self._pair_reason(question, PAIR_OFFSET, offset_bucket(distance), distance, there, q)
            if events:
                yield self._pair_reason(question, PAIR_COUNT, count_bucket(len(events)), len(events), events, q)

    def _pair_reason(
        self, question: _Question, family: Family, bucket: int, value: int, events: list[Event], q: int
    ) -> Reason:
        vocabulary = self.grounds.vocabulary
        rule = _place(vocabulary.pair_body, *_bounds(vocabulary.pair, question.p), q)
        weight = self._rule_weights + RULED * rule + family.first + bucket if rule >= 0 else -1
        return self._reason(question, family, bucket, value, events, (q,), weight)

    def _pair_steps(self, question: _Question, q: int, g: int) -> list[int]:
        """Return the steps of a group of events between x and y that may speak: not those of the question itself."""
        index, (x, p, y, t) = self.index, question
        watched = q == p or (y == x and q == inverse(p, index.predicates))
        part = slice(*_bounds(index.group, g))
        return [
            step
            for step, twin in zip(index.time[part].tolist(), index.twin[part].tolist(), strict=True)
            if not (watched and t in (step, twin)) and not (self.reach.past_only and step >= t)
        ]

    def _object(self, question: _Question) -> Iterator[Reason]:
        """Yield what speaks from events of the predicate that others have with the candidate."""
        index, (x, p, y, t) = self.index, question
        j = _place(index.slot_object, *_bounds(index.head, p), y)
        part = slice(*_bounds(index.slot, j)) if j >= 0 else slice(0)
        events = [
            self._event(z, p, y, step)
            for z, step in zip(index.slot_subject[part].tolist(), index.slot_time[part].tolist(), strict=True)
            if z != x and not (self.reach.past_only and step >= t)
        ]
        if events:
            yield self._reason(question, OBJECT_COUNT, count_bucket(len(events)), len(events), events, (p,))
        for distance, there in _nearest(events, t):
            if abs(distance) <= self.reach.object_window:
                yield self._reason(question, OBJECT_OFFSET, offset_bucket(distance), distance, there, (p,))

    def _active(self, question: _Question) -> Iterator[Reason]:
        """Yield what speaks from anything that the candidate does with others."""
        index, (x, _, y, t) = self.index, question
        begin, end = _bounds(index.around, y)
        window = self.reach.active_window
        times = index.around_time[begin:end]
        low, high = np.searchsorted(times, [t - window, t if self.reach.past_only else t + window + 1]).tolist()
        events = [
            self._event(int(index.around_other[e]), int(index.around_predicate[e]), y, int(index.around_time[e]))
            for e in range(begin + low, begin + high)
            if index.around_other[e] != x
        ]
        for distance, there in _nearest(events, t):
            if distance == 0:
                yield self._reason(question, ACTIVE_COUNT, count_bucket(len(there)), len(there), there)
            else:
                yield self._reason(question, ACTIVE_OFFSET, offset_bucket(distance), distance, there)

    def _affinity(self, question: _Question) -> Iterator[Reason]:
        """Yield what speaks from partners that candidate and subject share (Adamic–Adar)."""
        index, (x, _, y, t) = self.index, question
        total, shares = np.float32(0), {}
        own, theirs = (index.other[slice(*_bounds(index.node, who))] for who in (x, y))
        for z in np.intersect1d(own, theirs).tolist():
            if z in (x, y) or not self._have_met(question, z):
                continue
            met = index.met[slice(*_bounds(index.node, z))]
            partners = int((met < t).sum()) if self.reach.past_only else len(met)
            shares[z] = np.float32(1.0 / np.log(1.0 + partners))
            total += shares[z]
        if shares:
            partners_ = tuple(sorted(shares, key=lambda z: (-shares[z], z)))
            events = [e for z in partners_[: EVENTS_KEPT // 2] for e in self._meetings(question, z)]
            reason = self._reason(question, AFFINITY, affinity_bucket(float(total)), float(total), [])
            yield replace(reason, events=tuple(events), count=len(shares), partners=partners_)

    def _have_met(self, question: _Question, z: int) -> bool:
        """Return whether z has met the candidate, and the subject in another event than the question's own."""
        index, (x, _, y, t) = self.index, question
        k = _place(index.other, *_bounds(index.node, y), z)
        if self.reach.past_only and index.first_met[k] >= t:
            return False
        return bool(self._steps_between(question, x, z))

    def _steps_between(self, question: _Question, x: int, z: int) -> list[tuple[int, int]]:
        """Return (step, predicate) of all events between two that may speak, the nearest first."""
        index = self.index
        k = _place(index.other, *_bounds(index.node, x), z)
        # only the subject's own events can be those of the question
        asked = question._replace(y=z) if x == question.x else _Question(x, -1, z, question.t)
        groups = [(g, int(index.group_predicate[g])) for g in range(*_bounds(index.pair, k))]
        steps = [(step, q) for g, q in groups for step in self._pair_steps(asked, q, g)]
        return sorted(steps, key=lambda found: (abs(found[0] - question.t), found))

    def _meetings(self, question: _Question, z: int) -> list[Event]:
        """Return the nearest event between the subject and z, and that between z and the candidate."""
        (step, q), (step_, q_) = (
            self._steps_between(question, *pair)[0] for pair in ((question.x, z), (z, question.y))
        )
        return [self._event(question.x, q, z, step), self._event(z, q_, question.y, step_)]

    def _path(self, question: _Question) -> Iterator[Reason]:
        """Yield what speaks from mined rules over two events."""
        x, p, y, t = question
        if self._paths[0] != (x, p, t):  # the candidates of one question share their walk
            self._paths = (x, p, t), grounded_paths(self.grounds, x, p, t)
        by_rule: dict[int, list[GroundedPath]] = {}
        for path in self._paths[1].get(y, []):
            by_rule.setdefault(path.rule, []).append(path)
        for rule, paths in by_rule.items():
            paths.sort(key=lambda path: (abs(path.farther), path.farther))
            events = [
                event
                for _, z, first, second in paths[: EVENTS_KEPT // 2]
                for event in (
                    self._event(x, first.predicate, z, t + first.distance),
                    self._event(z, second.predicate, y, t + second.distance),
                )
            ]
            body = divmod(int(self.grounds.vocabulary.path_body[rule]), 2 * self.index.predicates)
            nearest = paths[0].farther
            weight = self._rule_weights + RULED * len(self.grounds.vocabulary.pair_body) + rule
            reason = self._reason(question, PATH, offset_bucket(nearest), nearest, [], body, weight)
            yield replace(reason, events=tuple(events), count=len(paths))

    def _reason(
        self, question: _Question, family: Family, bucket: int, value: float, events: list[Event],
        body: tuple[int, ...] = (), rule: int = -1,
    ) -> Reason:  # fmt: skip
        """Return the reason of a feature; `rule` is the place of its rule's own weight, −1 where there is none."""
        feature = family.first + bucket
        places = (feature, FEATURES * (1 + question.p) + feature, rule)
        weights = Weights(*(float(self._weights[place]) if place >= 0 else 0.0 for place in places))
        near = sorted(events, key=lambda event: (abs(event.time - question.t), event.time, event))
        return Reason(family.name, body, value, weights, tuple(near[:EVENTS_KEPT]), len(events))

    def _event(self, subject: int, predicate: int, object_: int, time: int) -> Event:
        """Return an event, turned round if its predicate is an inverse."""
        if predicate < self.index.predicates:
            return Event(subject, predicate, object_, time)
        return Event(object_, inverse(predicate, self.index.predicates), subject, time)


def _nearest(events: list[Event], t: int) -> Iterator[tuple[int, list[Event]]]:
    """Yield those events that are at t, the nearest before and the nearest after, each with their signed distance."""
    distances = {event.time - t for event in events}
    before, after = [d for d in distances if d < 0], [d for d in distances if d > 0]
    for distance in (*(d for d in distances if d == 0), *sorted(before)[-1:], *sorted(after)[:1]):
        yield distance, [event for event in events if event.time - t == distance]


def _bounds(offsets: Offsets, owner: int) -> tuple[int, int]:
    return int(offsets[owner]), int(offsets[owner + 1])


def _place(sorted_ids: Ints, begin: int, end: int, wanted: int) -> int:
    """Return the place of an id in `sorted_ids[begin:end]`, −1 if it is not there."""
    place = begin + int(np.searchsorted(sorted_ids[begin:end], wanted))
    return place if place < end and sorted_ids[place] == wanted else -1
