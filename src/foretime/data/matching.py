"""Two graphs matched by name: which id a name had in the earlier one, and which facts both have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.data.graph import Graph


class EarlierIds(NamedTuple):
    """The id that each name had in an earlier graph, −1 for a new one; predicates with their inverses.

    `predicates_before` is how many predicates there were, with inverses. Steps are matched by their labels.
    """

    entities: Ids
    predicates: Ids
    times: Ids
    predicates_before: int

    @classmethod
    def of(cls, graph: Graph, before: Graph) -> EarlierIds:
        """Return the ids that the names of a graph had before."""
        predicates, count = _places(graph.predicates.names, before.predicates.names), len(before.predicates)
        both = np.concatenate([predicates, np.where(predicates < 0, -1, predicates + count)])
        times = _places(_labels(graph), _labels(before))
        return cls(_places(graph.entities.names, before.entities.names), both, times, 2 * count)

    def earlier(self, facts: Facts) -> Facts:
        """Return those of the facts whose names and times were there before, under the ids of then."""
        start, end = (np.where(steps == UNKNOWN, UNKNOWN, self.times[steps]) for steps in (facts.start, facts.end))
        moved = Facts(
            self.entities[facts.subject], self.predicates[facts.predicate], self.entities[facts.object], start, end
        )
        kept = np.minimum(np.minimum(moved.subject, moved.object), moved.predicate) >= 0
        kept &= ((start >= 0) == (facts.start >= 0)) & ((end >= 0) == (facts.end >= 0))
        return moved.take(kept)


def are_among(facts: Facts, others: Facts) -> NDArray[np.bool_]:
    """Return which facts are among others, (facts,); the ids of both must mean the same."""
    rows = np.concatenate([np.stack(part.columns(), axis=1) for part in (facts, others)])
    _, same = np.unique(rows, axis=0, return_inverse=True)
    same = same.reshape(-1)
    return np.isin(same[: len(facts)], same[len(facts) :])


def _labels(graph: Graph) -> list[str]:
    return [graph.timeline.label(step) for step in range(len(graph.timeline))]


def _places(names: Sequence[str], among: Sequence[str]) -> Ids:
    """Return the place of each name among others, −1 for one that is not there."""
    place = {name: i for i, name in enumerate(among)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)
