"""The co-neighbours that support an answer in a graph of intervals, in the names of the graph."""

from __future__ import annotations

import math
from itertools import zip_longest

from foretime.data.facts import UNKNOWN
from foretime.data.graph import Graph
from foretime.inference.explanation.events import CoNeighbour, DatedEvent, SharedNeighbours
from foretime.inference.explanation.vocabulary import mark_of
from foretime.reranker.features.shared_neighbours import SharedNeighbourPath, SpanFact, steps_apart


class CoNeighbourWords:
    """Puts paths via shared neighbours into the names of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._predicates, self._name, self._label = graph.predicates, graph.entities.name, graph.timeline.label

    def show(self, asked: SpanFact, paths: list[SharedNeighbourPath], reported: float) -> SharedNeighbours:
        """Return the co-neighbours that support an answer, the object of the fact asked about."""
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
        inverse = fact.predicate >= len(self._predicates)
        who, whom = map(self._name, (fact.object, fact.subject) if inverse else (fact.subject, fact.object))
        start, end = ("?" if step == UNKNOWN else self._label(step) for step in (fact.start, fact.end))
        time, what = start if start == end else f"{start} – {end}", fact.predicate % len(self._predicates)
        return DatedEvent(mark_of(fact.known, asked.known), who, self._predicates.name(what), whom, time)
