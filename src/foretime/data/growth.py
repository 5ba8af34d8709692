"""A graph that grows: events that came after it was made, with names and times that it did not have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, Facts, Ids, concatenate, empty_facts
from foretime.data.graph import Graph
from foretime.data.splitting import SPLITS
from foretime.data.times import NO_TICK
from foretime.data.vocabulary import Vocabulary

UPDATE = "update"
"""The split of the facts that were added."""


@dataclass(frozen=True)
class NewEvents:
    """Events in names; `start`, `end` and `known` are ticks, (events,) each, `NO_TICK` where they are not given."""

    subject: tuple[str, ...]
    predicate: tuple[str, ...]
    object: tuple[str, ...]
    start: Ids
    end: Ids
    known: Ids

    def __len__(self) -> int:
        return len(self.subject)

    def take(self, rows: Ids) -> NewEvents:
        """Return the chosen events, in the order given."""
        subject, predicate, object_ = (
            tuple(column[row] for row in rows.tolist()) for column in (self.subject, self.predicate, self.object)
        )
        return NewEvents(subject, predicate, object_, self.start[rows], self.end[rows], self.known[rows])


def join_events(parts: Iterable[NewEvents]) -> NewEvents:
    """Return the events of all parts, one part after the other."""
    nothing = np.empty(0, dtype=np.int64)
    columns = list(zip(*((p.subject, p.predicate, p.object, p.start, p.end, p.known) for p in parts), strict=True))
    if not columns:
        return NewEvents((), (), (), nothing, nothing, nothing)
    subject, predicate, object_ = (tuple(name for part in column for name in part) for column in columns[:3])
    return NewEvents(subject, predicate, object_, *(np.concatenate(column) for column in columns[3:]))


@dataclass(frozen=True, repr=False)
class GrownGraph(Graph):
    """A graph with facts that were added: names and steps keep their ids, and new ones come after them."""

    update: Facts = field(kw_only=True)
    known_at: Ids = field(kw_only=True)
    """When each added fact was known, as a tick; `NO_TICK`: when it happened."""

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of its splits."""
        return (*SPLITS, UPDATE)

    @property
    def seen(self) -> Facts:
        """Train, and what was added."""
        return concatenate([self.train, self.update])

    def facts(self, split: str | None = None) -> Facts:
        """Return the facts of a split by its name; of all, those that were added last, without one."""
        if split is None:
            return concatenate([super().facts(), self.update])
        return self.update if split == UPDATE else super().facts(split)


def grow(graph: Graph, events: NewEvents) -> GrownGraph:
    """Return the graph with more events, whose times must fit its timeline."""
    ends = [name for pair in zip(events.subject, events.object, strict=True) for name in pair]
    entities, predicates = _grown(graph.entities, ends), _grown(graph.predicates, events.predicate)
    known = [ticks[ticks != NO_TICK] for ticks in (events.start, events.end)]
    timeline = graph.timeline.until(int(max(ticks.max(initial=graph.timeline.last) for ticks in known)))
    subject, object_ = (_ids(entities, names) for names in (events.subject, events.object))
    steps = timeline.steps(events.start), timeline.steps(events.end)
    added = Facts(subject, _ids(predicates, events.predicate), object_, *steps)
    own = {one.name: getattr(graph, one.name) for one in fields(Graph)}
    own |= {"entities": entities, "predicates": predicates, "timeline": timeline}
    before, known_before = (
        (graph.update, graph.known_at) if isinstance(graph, GrownGraph) else (empty_facts(), events.known[:0])
    )
    return GrownGraph(**own, update=concatenate([before, added]), known_at=np.concatenate([known_before, events.known]))


def until(graph: Graph, tick: int, by_known: bool) -> Graph:
    """Return the graph as it was before a tick; of a fact that had begun, an end that is not before it is not known.

    With `by_known`, an added fact that says when it was known is there as a whole if that was before the tick.
    """
    steps = graph.timeline.steps_before(tick)
    left: dict[str, Any] = {
        split: before(graph.facts(split), steps).take(happened(graph, split, tick, by_known)) for split in graph.splits
    }
    if not isinstance(graph, GrownGraph):
        return replace(graph, **left)
    kept = happened(graph, UPDATE, tick, by_known)
    if by_known:
        said = (graph.known_at != NO_TICK)[kept]
        pairs = zip(graph.update.take(kept).columns(), left[UPDATE].columns(), strict=True)
        left[UPDATE] = Facts(*(np.where(said, whole, cut) for whole, cut in pairs))
    return replace(graph, **left, known_at=graph.known_at[kept])


def happened(graph: Graph, split: str, tick: int, by_known: bool) -> NDArray[np.bool_]:
    """Return which facts of a split had begun before a tick, or were known then, (facts,)."""
    begun = np.minimum(*graph.facts(split).known_ends()) < graph.timeline.steps_before(tick)
    if not by_known or not isinstance(graph, GrownGraph) or split != UPDATE:
        return np.asarray(begun)
    return np.where(graph.known_at == NO_TICK, begun, graph.known_at < tick)


def before(facts: Facts, step: int) -> Facts:
    """Return the facts with ends that are not before a step as not known."""
    start, end = (np.where(steps < step, steps, UNKNOWN) for steps in (facts.start, facts.end))
    return replace(facts, start=start, end=end)


def _grown(vocabulary: Vocabulary, names: Iterable[str]) -> Vocabulary:
    """Return the names with new ones after them, in the order in which they come."""
    new = dict.fromkeys(name for name in dict.fromkeys(names) if name not in vocabulary)
    return Vocabulary(vocabulary.kind, (*vocabulary.names, *new)) if new else vocabulary


def _ids(vocabulary: Vocabulary, names: Iterable[str]) -> Ids:
    return np.array(vocabulary.ids(names), dtype=np.int64)
