"""A run that lives: new events enter its evidence, its names and its timeline without any training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.bad_rows import BadRows
from foretime.data.facts import Facts, concatenate
from foretime.data.graph import Graph
from foretime.data.growth import UPDATE, GrownGraph, grow, join_events
from foretime.data.new_events import read_events
from foretime.inference.evidence_source import EvidenceSource
from foretime.inference.predictor import Predictor
from foretime.reranker.carrying import carry_scorer
from foretime.reranker.other_evidence import EvidenceFilter, looks_up_events
from foretime.runs.updates import Update, UpdateLog


class UpdateReport(NamedTuple):
    """What an update has changed: how many rows were new, and how many were there already."""

    number: int | None
    """The number of the update; none if nothing was new, and so nothing was written."""
    new: int
    already_there: int
    new_entities: int
    new_predicates: int
    last: str
    """The last time on the timeline now."""
    alike: dict[str, str]
    """New names that differ from a name that was there only in their spelling, or are aliases of it."""
    bad_rows: BadRows = BadRows()
    """The rows that were skipped because they could not be read."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; of bad rows how many, and a line for each kind."""
        return {**self._asdict(), "bad_rows": len(self.bad_rows), "kinds_of_bad_rows": list(self.bad_rows.kinds)}

    @property
    def warnings(self) -> list[str]:
        """What may be wrong with the update, one sentence each."""
        return [
            *self.bad_rows.kinds,
            *(
                f"the new name {new!r} is nearly {old!r}, which was there, and is taken for another; if both are one, "
                "take the update back and write them alike"
                for new, old in self.alike.items()
            ),
        ]

    def __str__(self) -> str:
        if self.number is None:
            return f"nothing new: all {self.already_there:,} events are there already"
        return (
            f"update {self.number}: {self.new:,} new events, {self.already_there:,} already there, "
            f"{self.new_entities:,} new entities, {self.new_predicates:,} new predicates; the timeline ends {self.last}"
        )


class _State(NamedTuple):
    """What holds at one moment, replaced as a whole: who answers meanwhile has the one before, or the one after."""

    updates: tuple[Update, ...]
    graph: Graph
    predictor: Predictor | None = None
    """What answers, once it was needed."""
    sorted_: EvidenceFilter | None = None

    @property
    def stamp(self) -> tuple[str, ...]:
        return tuple(f"{update.number:06}.jsonl" for update in self.updates)


class LivingState:
    """The updates of a run folder, and the predictor that answers with them, opened when it is needed.

    Its graph is that of the training until an update adds to it. Events are merged into what is sorted and indexed
    already; only an update that was taken back has it built again.
    """

    def __init__(self, graph: Graph, splits: Sequence[str], run: Path, open_: Callable[[], Predictor]) -> None:
        self._graph, self._splits, self._open = graph, tuple(splits), open_
        self.log = UpdateLog(run, graph.timeline)
        self._state, self._lock = _State((), graph), RLock()
        self.refresh()

    @cached_property
    def trained(self) -> Predictor:
        """What answers without any update."""
        return self._open()

    @property
    def graph(self) -> Graph:
        """The graph with everything that was added."""
        return self._state.graph

    @property
    def updates(self) -> tuple[Update, ...]:
        """The updates that hold, in their order."""
        return self._state.updates

    @property
    def predictor(self) -> Predictor:
        """What answers."""
        return self._answering().predictor or self.trained

    @property
    def source(self) -> EvidenceSource:
        """Where the evidence is looked up, for what if."""
        state = self._answering()
        return EvidenceSource(state.predictor or self.trained, self._evidence(state.graph), state.sorted_)

    def refresh(self) -> bool:
        """Take in what was written or taken back since, by whomever; return whether anything was."""
        with self._lock:
            return self._refresh()

    def _refresh(self) -> bool:
        before = self._state
        if self.log.stamp() == before.stamp:
            return False
        found, done = self.log.read(), len(before.updates)
        if tuple(update for update, _ in found[:done]) != before.updates:
            before, done = _State((), self._graph), 0
        updates = tuple(update for update, _ in found)
        events = join_events(events for _, events in found[done:])
        self._state = self._grown(before, updates, grow(before.graph, events) if len(events) else before.graph)
        return True

    def add(self, source: Any, reading: Mapping[str, Any], known: str | int | None) -> UpdateReport:
        """Add the new ones among some events; bad rows are an error, and change nothing, unless they are skipped."""
        events, bad = read_events(source, self._graph.timeline, reading, known)
        with self._lock, self.log.held():
            self._refresh()
            before, number = self._state, None
            grown = grow(before.graph, events)
            wanted = grown.update.take(slice(len(grown.update) - len(events), None))
            facts = concatenate([before.graph.facts(split) for split in self._evidence(before.graph)])
            is_new = _is_new(wanted, facts, grown)
            new = events.take(np.flatnonzero(is_new))
            if len(new):
                name = Path(source).name if isinstance(source, str | Path) else "rows"
                update = self.log.append(new, name)
                # what is left out has no name and no time that what is kept, or the graph, does not have
                kept = np.append(np.ones(len(grown.update) - len(events), dtype=bool), is_new)
                grown = replace(grown, update=grown.update.take(kept), known_at=grown.known_at[kept])
                self._state, number = self._grown(before, (*before.updates, update), grown), update.number
        graph, there = self.graph, len(events) - len(new)
        names = len(graph.entities) - len(before.graph.entities), len(graph.predicates) - len(before.graph.predicates)
        last = graph.timeline.label(len(graph.timeline) - 1)
        return UpdateReport(number, len(new), there, *names, last, _alike(before.graph, graph), bad)

    def undo(self) -> Update | None:
        """Take back the last update, and return it; nothing if there is none."""
        with self._lock, self.log.held():
            found = self.log.undo()
        self.refresh()
        return found

    @property
    def note(self) -> str | None:
        """How many events were added, and until when; nothing without any."""
        updates = self._state.updates
        if not updates:
            return None
        count = sum(update.events for update in updates)
        by = f"{len(updates):,} update{'s' * (len(updates) > 1)}"
        return f"{count:,} event{'s were' if count > 1 else ' was'} added by {by}, until {self.added_until}"

    @property
    def added_until(self) -> str | None:
        """The last time of the events that were added; nothing without any."""
        graph = self._state.graph
        if not isinstance(graph, GrownGraph):
            return None
        return graph.timeline.label(int(np.max([graph.update.start, graph.update.end])))

    def _evidence(self, graph: Graph) -> tuple[str, ...]:
        return (*self._splits, UPDATE) if isinstance(graph, GrownGraph) else self._splits

    def _grown(self, before: _State, updates: tuple[Update, ...], graph: Graph) -> _State:
        """Return the state with more events; what answers is there at once if it was there before."""
        after = before._replace(updates=updates, graph=graph)
        return after if before.predictor is None else self._built(after._replace(predictor=None))

    def _answering(self) -> _State:
        state = self._state
        if state.predictor is not None:
            return state
        with self._lock:
            if self._state.predictor is None:
                self._state = self._built(self._state)
            return self._state

    def _built(self, state: _State) -> _State:
        """Return the state with what answers, merged into what is sorted already."""
        graph, trained = state.graph, self.trained
        if not isinstance(graph, GrownGraph):
            return state._replace(predictor=trained, sorted_=None)
        scorer, sorted_ = carry_scorer(trained.scorer, graph, share_entities=True), state.sorted_
        if looks_up_events(trained.scorer):
            sorted_ = (sorted_ or EvidenceSource(trained, self._splits).filter).grown(scorer, graph, trained.scorer)
            scorer = sorted_.scorer()
        return state._replace(predictor=trained.grown(scorer, graph), sorted_=sorted_)


def _alike(before: Graph, after: Graph) -> dict[str, str]:
    """Return the names that were added and differ from one that was there only in their spelling."""
    found: dict[str, str] = {}
    for own, finder in ((after.entities, before.entity_finder), (after.predicates, before.predicate_finder)):
        if added := own.names[len(finder.vocabulary) :]:
            found |= finder.alike(added)
    return found


def _is_new(events: Facts, facts: Facts, graph: Graph) -> NDArray[np.bool_]:
    """Return which events are not among the facts, nor earlier among themselves, (events,)."""
    pairs, own_pairs = (part.subject * len(graph.entities) + part.object for part in (events, facts))
    near = facts.take(np.isin(own_pairs, pairs))  # only these two entities can make them the same
    both, steps = concatenate([near, events]), len(graph.timeline) + 1
    _, pair = np.unique(both.subject * len(graph.entities) + both.object, return_inverse=True)
    when = (both.predicate * steps + both.start + 1) * steps + both.end + 1
    distinct, what = np.unique(when, return_inverse=True)
    _, first = np.unique(pair * len(distinct) + what, return_index=True)
    found = np.zeros(len(both), dtype=bool)
    found[first] = True
    return found[len(near) :]
