"""A graph that grows: events that came after it was made, with names and times that it did not have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

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
        names = (tuple(column[row] for row in rows.tolist()) for column in (self.subject, self.predicate, self.object))
        return NewEvents(*names, self.start[rows], self.end[rows], self.known[rows])


def join_events(parts: Iterable[NewEvents]) -> NewEvents:
    """Return the events of all parts, one part after the other."""
    nothing = np.empty(0, dtype=np.int64)
    columns = list(zip(*((p.subject, p.predicate, p.object, p.start, p.end, p.known) for p in parts), strict=True))
    if not columns:
        return NewEvents((), (), (), nothing, nothing, nothing)
    names = (tuple(name for part in column for name in part) for column in columns[:3])
    return NewEvents(*names, *(np.concatenate(column) for column in columns[3:]))


@dataclass(frozen=True, repr=False)
class GrownGraph(Graph):
    """A graph with facts that were added: names and steps keep their ids, and new ones come after them."""

    update: Facts
    known_at: Ids
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
    """Return the graph as it was before a tick: facts that ended before it, and those that had begun, without an end.

    With `by_known`, an added fact that says when it was known is there as a whole if that was before the tick.
    """
    steps = graph.timeline.steps_before(tick)
    left = {split: before(graph.facts(split), steps) for split in SPLITS}
    if not isinstance(graph, GrownGraph):
        return replace(graph, **left)
    if not by_known:
        kept = _happened(graph.update, steps)
        return replace(graph, **left, update=before(graph.update, steps), known_at=graph.known_at[kept])
    said = graph.known_at != NO_TICK
    kept = np.where(said, graph.known_at < tick, _happened(graph.update, steps))
    cut = _cut(graph.update, steps)
    columns = (np.where(said, own, other) for own, other in zip(graph.update.columns(), cut.columns(), strict=True))
    return replace(graph, **left, update=Facts(*columns).take(kept), known_at=graph.known_at[kept])


def before(facts: Facts, step: int) -> Facts:
    """Return the facts with an end before a step; an end that is not before it is not known."""
    return _cut(facts, step).take(_happened(facts, step))


def _happened(facts: Facts, step: int) -> NDArray[np.bool_]:
    return np.asarray(np.minimum(*facts.known_ends()) < step)


def _cut(facts: Facts, step: int) -> Facts:
    start, end = (np.where(ticks < step, ticks, UNKNOWN) for ticks in (facts.start, facts.end))
    return replace(facts, start=start, end=end)


def _grown(vocabulary: Vocabulary, names: Iterable[str]) -> Vocabulary:
    """Return the names with new ones after them, in the order in which they come."""
    new = dict.fromkeys(name for name in dict.fromkeys(names) if name not in vocabulary)
    return Vocabulary(vocabulary.kind, (*vocabulary.names, *new)) if new else vocabulary


def _ids(vocabulary: Vocabulary, names: Iterable[str]) -> Ids:
    return np.array([vocabulary.id(name) for name in names], dtype=np.int64)
