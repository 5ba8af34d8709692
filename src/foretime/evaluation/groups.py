"""Groups of questions: by direction, by what train has seen of their entities, by distance in time, by predicate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph

Rows = NDArray[np.bool_]
KINDS = ("same step", "within 1 step", "within 7 steps", "within 30 steps", "farther", "never")
"""How far in time the nearest training event of subject and answer is, whatever its predicate and direction."""
_EDGES = np.array([0, 1, 7, 30])
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


def by_kind(questions: Facts, graph: Graph) -> dict[str, Rows]:
    """Return which questions are of each of `KINDS`."""
    kind = kinds_of(questions, graph)
    return {name: kind == place for place, name in enumerate(KINDS)}


def by_predicate(questions: Facts, graph: Graph) -> dict[str, Ids]:
    """Return the rows of the questions about each predicate, in either direction, the most frequent first."""
    predicate = questions.predicate % len(graph.predicates)
    order = np.argsort(predicate, kind="stable")
    present, first = np.unique(predicate[order], return_index=True)
    rows = np.split(order, first[1:])
    by_size = sorted(range(len(present)), key=lambda place: -len(rows[place]))
    return {graph.predicates.name(int(present[place])): rows[place] for place in by_size}


def kinds_of(questions: Facts, graph: Graph) -> Ids:
    """Return the kind of each question as its place in `KINDS`; for an interval, by the nearer of its two ends."""
    events = graph.train.with_inverses(len(graph.predicates)).events()
    entities, steps = len(graph.entities), len(graph.timeline)
    keys = np.sort((events.subject * entities + events.object) * 4 * steps + events.time + steps)
    pair = questions.subject * entities + questions.object
    distance = np.minimum(*(_nearest(keys, pair, end, steps) for end in questions.known_ends()))
    return np.where(distance == _FAR, len(KINDS) - 1, np.searchsorted(_EDGES, distance))


def _nearest(keys: Ids, pair: Ids, time: Ids, steps: int) -> Ids:
    """Return how many steps the nearest event of each pair is from the time; `keys` are those of pairs and times."""
    wanted = pair * 4 * steps + time + steps
    place, nearest = np.searchsorted(keys, wanted), np.full(len(pair), _FAR)
    if len(keys) == 0:
        return nearest
    for neighbour in (place - 1, place):
        key = keys[np.clip(neighbour, 0, len(keys) - 1)]
        found = (neighbour >= 0) & (neighbour < len(keys)) & (key // (4 * steps) == pair)
        nearest = np.where(found, np.minimum(nearest, np.abs(key - wanted)), nearest)
    return nearest
