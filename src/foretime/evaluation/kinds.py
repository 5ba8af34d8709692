"""Kinds of questions by how near in time training has an event between the subject and the true answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph

KINDS = ("same step", "within 1 step", "within 7 steps", "within 30 steps", "farther", "never")
"""How near the nearest event of the pair is, whatever its predicate and direction."""
_EDGES = np.array([0, 1, 7, 30])
_FAR = np.iinfo(np.int64).max


def kinds_of(questions: Facts, graph: Graph) -> NDArray[np.int64]:
    """Return the kind of each question as its place in `KINDS`; for an interval, by the nearer of its two ends."""
    distance = np.minimum(*(_nearest(questions, end, graph) for end in questions.known_ends()))
    return np.where(distance == _FAR, len(KINDS) - 1, np.searchsorted(_EDGES, distance))


def _nearest(questions: Facts, time: Ids, graph: Graph) -> Ids:
    """Return how many steps the nearest training event between subject and answer is from the time."""
    events = graph.train.with_inverses(len(graph.predicates)).events()
    entities, span = len(graph.entities), 4 * len(graph.timeline)
    keys = np.sort((events.subject * entities + events.object) * span + events.time + len(graph.timeline))
    pair = questions.subject * entities + questions.object
    wanted = pair * span + time + len(graph.timeline)
    place = np.searchsorted(keys, wanted)
    nearest = np.full(len(questions), _FAR)
    for neighbour in (place - 1, place):
        inside = np.clip(neighbour, 0, max(len(keys) - 1, 0))
        if len(keys) == 0:
            continue
        found = (neighbour >= 0) & (neighbour < len(keys)) & (keys[inside] // span == pair)
        nearest = np.where(found, np.minimum(nearest, np.abs(keys[inside] - wanted)), nearest)
    return nearest
