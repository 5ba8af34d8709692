"""Counting, the baseline of every slot: what has happened most often in train is expected again.

Nothing is learned. Counts stand in levels: a later one decides only where all earlier ones are equal. A question never
counts its own fact.

    object     (s, p, o) at any time; how near in time the nearest is; (s, o) under any predicate; o under p
    predicate  (s, p, o) at any time; (o, p, s); p of s; p at all
    time       events between the two at the step; events of either at the step
    interval   the most common start of the subject's facts, or of the predicate's; the predicate's most common length
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph
from foretime.evaluation.slots import Slot, at_single_times, inverted

Row = tuple[int, int, int, int]
Numbers = NDArray[np.float64]


def counting_scores(graph: Graph, slot: Slot, facts: Facts) -> Tensor:
    """Return the score of every candidate for the open slot of each fact by counting, (facts, candidates)."""
    return Counting(graph).score_slot(slot, facts)


class Counting:
    """The events of train, looked up by subject, object, predicate and pair."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.predicates, self.entities, self.steps = len(graph.predicates), len(graph.entities), len(graph.timeline)

    def score_slot(self, slot: Slot, facts: Facts) -> Tensor:
        """Return the score of every candidate for the open slot of each fact, (facts, candidates)."""
        if slot == "subject":
            return self.score_slot("object", inverted(facts, self.graph))
        count = {"object": self._objects, "predicate": self._predicates, "time": self._steps}[slot]
        columns = (facts.subject, facts.predicate, facts.object, facts.known_ends()[0])
        rows = [_in_levels(count(row)) for row in zip(*(column.tolist() for column in columns), strict=True)]
        width = {"object": self.entities, "predicate": self.predicates, "time": self.steps}[slot]
        return torch.from_numpy(np.stack(rows) if rows else np.empty((0, width)))

    @cached_property
    def _events(self) -> Facts:
        """Train in both directions, one row for each known end."""
        return at_single_times(self.graph.train).with_inverses(self.predicates)

    @cached_property
    def _by_subject(self) -> _Lookup:
        return _Lookup(self._events.subject, self.entities)

    @cached_property
    def _by_predicate(self) -> _Lookup:
        return _Lookup(self._events.predicate, 2 * self.predicates)

    def _of(self, lookup: _Lookup, key: int, own: Row) -> Facts:
        """Return the events of a key without the one asked about, in either direction."""
        found = self._events.take(lookup.rows(key))
        subject, predicate, object_, time = own
        mirror = (predicate + self.predicates) % (2 * self.predicates)
        is_own = (found.subject == subject) & (found.predicate == predicate) & (found.object == object_)
        is_own |= (found.subject == object_) & (found.predicate == mirror) & (found.object == subject)
        return found.take(~(is_own & (found.start == time)))

    def _objects(self, asked: Row) -> Iterator[Numbers]:
        subject, predicate, _, time = asked
        of_subject = self._of(self._by_subject, subject, asked)
        same = of_subject.take(of_subject.predicate == predicate)
        yield _count(same.object, self.entities)
        nearness = np.zeros(self.entities)
        np.maximum.at(nearness, same.object, self.steps - np.minimum(np.abs(same.start - time), self.steps))
        yield nearness
        yield _count(of_subject.object, self.entities)
        yield _count(self._of(self._by_predicate, predicate, asked).object, self.entities)

    def _predicates(self, asked: Row) -> Iterator[Numbers]:
        subject, _, object_, _ = asked
        of_subject = self._of(self._by_subject, subject, asked)
        between = _count(of_subject.predicate[of_subject.object == object_], 2 * self.predicates)
        yield between[: self.predicates]
        yield between[self.predicates :]
        yield _count(of_subject.predicate, 2 * self.predicates)[: self.predicates]
        yield np.diff(self._by_predicate.first)[: self.predicates].astype(np.float64)

    def _steps(self, asked: Row) -> Iterator[Numbers]:
        of_subject = self._of(self._by_subject, asked[0], asked)
        of_object = self._of(self._by_subject, asked[2], asked)
        yield _count(of_subject.start[of_subject.object == asked[2]], self.steps)
        yield _count(np.concatenate([of_subject.start, of_object.start]), self.steps)


class _Lookup:
    """Rows by the value that they have in a column."""

    def __init__(self, column: Ids, values: int) -> None:
        self.order = np.argsort(column, kind="stable")
        self.first = np.searchsorted(column[self.order], np.arange(values + 1))

    def rows(self, value: int) -> Ids:
        """Return the rows that have a value."""
        return self.order[self.first[value] : self.first[value + 1]]


def _count(ids: Ids, values: int) -> Numbers:
    return np.bincount(ids, minlength=values).astype(np.float64)


def _in_levels(levels: Iterator[Numbers]) -> Numbers:
    """Return one number for each candidate, in whose order a later level decides only where earlier ones are equal."""
    score: Numbers | None = None
    for level in levels:
        _, place = np.unique(level, return_inverse=True)  # their order is enough, and keeps the numbers small
        score = place.astype(np.float64) if score is None else score * (place.max() + 1) + place
    assert score is not None
    return score
