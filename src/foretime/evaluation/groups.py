"""Groups of questions: by direction, by entities seen in train, by distance in time, by horizon, by predicate."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Events, Facts, Ids
from foretime.data.graph import Graph
from foretime.evidence.gap import looked_at_from

Rows = NDArray[np.bool_]
KINDS = ("same step", "within 1 step", "within 7 steps", "within 30 steps", "farther", "never")
"""How far in time the nearest training event of subject and answer is, whatever its predicate and direction.

In forecasts it is the last event that the question may see."""
HORIZONS = ("1 step", "2–3 steps", "4–7 steps", "8–14 steps", "15–30 steps", "31–90 steps", "more than 90 steps")
"""How far after the last evidence a question is."""
COUNT_KINDS = ("no event", "1 event", "up to 4 events", "up to 15 events", "up to 60 events", "more events")
"""How many training events a subject and an object have, where the time is asked for."""
_EDGES = np.array([0, 1, 7, 30])
_HORIZON_EDGES = np.array([1, 3, 7, 14, 30, 90])
_COUNTS = np.array([0, 1, 4, 15, 60])
_FAR = np.iinfo(np.int64).max


def by_direction(questions: Facts, graph: Graph) -> dict[str, Rows]:
    """Return which questions ask for an object and which for a subject."""
    objects = questions.predicate < len(graph.predicates)
    return {"objects": objects, "subjects": ~objects}


def by_entities(questions: Facts, graph: Graph) -> dict[str, Rows]:
    """Return which questions have a subject and an answer that train has seen, and which have one that it has not."""
    in_train = np.zeros(len(graph.entities), dtype=bool)
    in_train[graph.train.subject] = in_train[graph.train.object] = True
    seen = in_train[questions.subject] & in_train[questions.object]
    return {"seen": seen, "unseen": ~seen}


def by_kind(questions: Facts, history: PairHistory) -> dict[str, Rows]:
    """Return which questions are of each of `KINDS`, by the history that they may see."""
    kind = history.kinds_by_distance(questions)
    return {name: kind == place for place, name in enumerate(KINDS)}


def by_horizon(questions: Facts, last_step: int) -> dict[str, Rows]:
    """Return which questions are of each of `HORIZONS`: by how many steps they are after the last one with evidence."""
    place = np.searchsorted(_HORIZON_EDGES, questions.known_ends()[0] - last_step)
    return {name: place == at for at, name in enumerate(HORIZONS)}


def by_predicate(questions: Facts, graph: Graph) -> dict[str, Ids]:
    """Return the rows of the questions about each predicate, in either direction, the most frequent first."""
    predicate = questions.predicate % len(graph.predicates)
    order = np.argsort(predicate, kind="stable")
    present, first = np.unique(predicate[order], return_index=True)
    rows = np.split(order, first[1:])
    by_size = sorted(range(len(present)), key=lambda place: -len(rows[place]))
    return {graph.predicates.name(int(present[place])): rows[place] for place in by_size}


class PairHistory:
    """The events of every two entities in train and updates, or other events, whatever their predicate and direction.

    With `past_only` nothing counts as near that is not before the time asked about. `events` have inverses too. With a
    `max_gap`, distances are counted from where the evidence of a question is looked at.
    """

    def __init__(
        self, graph: Graph, past_only: bool = False, events: Events | None = None, max_gap: int | None = None
    ) -> None:
        self.past_only, self._max_gap = past_only, max_gap
        events = graph.seen.with_inverses(len(graph.predicates)).events() if events is None else events
        self._entities, self._steps = len(graph.entities), len(graph.timeline)
        self._keys = np.sort(self._key(events.subject, events.object, events.time))
        self._eventful = np.flatnonzero(np.bincount(events.time))  # the steps with events

    def grown(self, graph: Graph, added: Facts) -> PairHistory:
        """Return the history of a graph that has grown from this one: the events of more facts are merged in."""
        other = copy(self)
        other._entities, other._steps = len(graph.entities), len(graph.timeline)
        pair, time = np.divmod(self._keys, 4 * self._steps)
        subject, object_ = np.divmod(pair, self._entities)
        old = other._key(subject, object_, time - self._steps)
        events = added.with_inverses(len(graph.predicates)).events()
        new = np.sort(other._key(events.subject, events.object, events.time))
        other._keys = np.insert(old, np.searchsorted(old, new), new)
        other._eventful = np.union1d(self._eventful, events.time)
        return other

    def _key(self, subject: Ids, object_: Ids, time: Ids) -> Ids:
        return (subject * self._entities + object_) * 4 * self._steps + time + self._steps

    def kinds_by_distance(self, facts: Facts) -> Ids:
        """Return the place in `KINDS` of each fact's subject and object at its time; the nearer end of an interval."""
        pair = facts.subject * self._entities + facts.object
        distance = np.minimum(*(self._nearest(pair, self._as_of(end)) for end in facts.known_ends()))
        return np.where(distance == _FAR, len(KINDS) - 1, np.searchsorted(_EDGES, distance))

    def kinds_by_count(self, facts: Facts) -> Ids:
        """Return the place in `COUNT_KINDS` of each fact's subject and object."""
        pair = (facts.subject * self._entities + facts.object) * 4 * self._steps
        first, last = (np.searchsorted(self._keys, pair + side * 4 * self._steps) for side in (0, 1))
        return np.searchsorted(_COUNTS, last - first)

    def _as_of(self, time: Ids) -> Ids:
        return time if self._max_gap is None else looked_at_from(time, self._eventful, self._max_gap)

    def _nearest(self, pair: Ids, time: Ids) -> Ids:
        """Return how many steps the nearest event of each pair is from the time."""
        keys, steps = self._keys, self._steps
        begin = pair * 4 * steps + steps  # the key of the pair at step 0
        place = np.searchsorted(keys, begin + np.clip(time, -steps, 2 * steps))  # a time may be beyond the timeline
        nearest = np.full(len(pair), _FAR)
        if len(keys) == 0:
            return nearest
        for neighbour in (place - 1,) if self.past_only else (place - 1, place):
            key = keys[np.clip(neighbour, 0, len(keys) - 1)]
            found = (neighbour >= 0) & (neighbour < len(keys)) & (key // (4 * steps) == pair)
            nearest = np.where(found, np.minimum(nearest, np.abs(key - begin - time)), nearest)
        return nearest


def kinds_of(questions: Facts, graph: Graph) -> Ids:
    """Return the kind of each question as its place in `KINDS`, by its answer and the events of train."""
    return PairHistory(graph).kinds_by_distance(questions)
