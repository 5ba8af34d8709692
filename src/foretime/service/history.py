"""The facts of a graph by entity and time: who did what with whom, when and how often."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN
from foretime.data.graph import Graph
from foretime.data.splitting import SPLITS
from foretime.service.names import NameIndex
from foretime.service.problems import unanswerable
from foretime.service.schemas import FactsIn, NeighboursIn, Selection, TimelineIn

Ints = NDArray[np.int64]
PREDICATES_OF_TIMELINE, PREDICATES_OF_NEIGHBOUR = 20, 5


class History:
    """The facts of all splits, sorted by time and indexed by entity."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        facts = graph.facts()
        split = np.repeat(np.arange(len(SPLITS)), [len(graph.facts(name)) for name in SPLITS])
        begin, end = facts.known_ends()
        # by time; among equal times by names' ids, so that pages never overlap
        order = np.lexsort([facts.object, facts.predicate, facts.subject, end, begin])
        self.facts, self.split = facts.take(order), split[order]
        self.begin, self.end = np.minimum(begin, end)[order], np.maximum(begin, end)[order]
        self._rows, self._offsets = self._by_entity()
        self.entities = NameIndex(graph.entities, np.diff(self._offsets))
        counts = np.bincount(self.facts.predicate, minlength=len(graph.predicates))
        self.predicates = NameIndex(graph.predicates, counts)

    def _by_entity(self) -> tuple[Ints, Ints]:
        """Return the rows of every entity one after the other, in order of time, and where each begins."""
        others = np.flatnonzero(self.facts.object != self.facts.subject)
        owner = np.concatenate([self.facts.subject, self.facts.object[others]])
        rows = np.concatenate([np.arange(len(self.facts)), others])
        order = np.lexsort([rows, owner])
        return rows[order], np.searchsorted(owner[order], np.arange(len(self.graph.entities) + 1))

    def entity(self, name: str, suggest: bool = True) -> int:
        """Return the id of an entity; an unknown one is a problem with the nearest names."""
        if name not in self.graph.entities:
            raise unanswerable(f"unknown entity {name!r}{self.entities.suggest(name) if suggest else ''}")
        return self.graph.entities.id(name)

    def predicate(self, name: str, suggest: bool = True) -> int:
        """Return the id of a predicate; an unknown one is a problem with the nearest names."""
        if name not in self.graph.predicates:
            raise unanswerable(f"unknown predicate {name!r}{self.predicates.suggest(name) if suggest else ''}")
        return self.graph.predicates.id(name)

    def select(self, wanted: Selection) -> Ints:
        """Return the rows of the facts that are asked for, in order of time."""
        if wanted.entity is None and wanted.other is not None:
            raise unanswerable("other is given without entity; give both ends of the pair, or entity alone")
        rows = np.arange(len(self.facts)) if wanted.entity is None else self._of_entity(wanted.entity, wanted)
        keep = np.ones(len(rows), dtype=bool)
        if wanted.predicate is not None:
            keep &= self.facts.predicate[rows] == self.predicate(wanted.predicate)
        if wanted.split is not None:
            keep &= self.split[rows] == SPLITS.index(wanted.split)
        first, last = self._span(wanted)
        keep &= (self.end[rows] >= first) & (self.begin[rows] <= last)
        return rows[keep]

    def _of_entity(self, name: str, wanted: Selection) -> Ints:
        entity = self.entity(name)
        rows = self._rows[self._offsets[entity] : self._offsets[entity + 1]]
        subject, object_ = self.facts.subject[rows], self.facts.object[rows]
        if wanted.role != "any":
            own = subject if wanted.role == "subject" else object_
            rows, subject, object_ = rows[own == entity], subject[own == entity], object_[own == entity]
        if wanted.other is None:
            return rows
        other = self.entity(wanted.other)
        met = ((subject == entity) & (object_ == other)) | ((subject == other) & (object_ == entity))
        between: Ints = rows[met]
        return between

    def _span(self, wanted: Selection) -> tuple[int, int]:
        timeline = self.graph.timeline
        first = 0 if wanted.from_ is None else timeline.step(wanted.from_)
        last = len(timeline) - 1 if wanted.to is None else timeline.step(wanted.to)
        if first > last:
            raise unanswerable(f"from {wanted.from_!r} lies after to {wanted.to!r}; swap them")
        return first, last

    def facts_page(self, wanted: FactsIn) -> dict[str, Any]:
        """Return a page of facts."""
        rows = self.select(wanted)
        ordered = rows if wanted.order == "earliest" else rows[::-1]
        page = ordered[wanted.offset : wanted.offset + wanted.limit].tolist()
        return {"total": len(rows), "facts": [self._fact(row) for row in page]}

    def fact_slots(self, row: int) -> dict[str, Any]:
        """Return a fact on labels; one at a single time has `time`, any other `start` and `end`."""
        data, facts = self.graph, self.facts
        start, end = (
            None if step == UNKNOWN else data.timeline.label(int(step)) for step in (facts.start[row], facts.end[row])
        )
        point = facts.start[row] == facts.end[row]
        return {
            "subject": data.entities.name(int(facts.subject[row])),
            "predicate": data.predicates.name(int(facts.predicate[row])),
            "object": data.entities.name(int(facts.object[row])),
            "time": start if point else None,
            "start": None if point else start,
            "end": None if point else end,
        }

    def _fact(self, row: int) -> dict[str, Any]:
        return {**self.fact_slots(row), "split": SPLITS[self.split[row]]}

    def timeline(self, wanted: TimelineIn) -> dict[str, Any]:
        """Return how many facts begin when, in bins of equal length."""
        rows = self.select(wanted)
        first, last = self._span(wanted)
        width = -(-(last - first + 1) // wanted.bins)
        bins = -(-(last - first + 1) // width)
        counts = np.bincount((np.maximum(self.begin[rows], first) - first) // width, minlength=bins)
        label, starts = self.graph.timeline.label, range(first, last + 1, width)
        splits = np.bincount(self.split[rows], minlength=len(SPLITS)).tolist()
        return {
            "total": len(rows),
            "bins": [
                {"start": label(start), "end": label(min(start + width - 1, last)), "facts": count}
                for start, count in zip(starts, counts.tolist(), strict=True)
            ],
            "predicates": self._frequent(rows, PREDICATES_OF_TIMELINE),
            "splits": dict(zip(SPLITS, splits, strict=True)),
        }

    def neighbours(self, wanted: NeighboursIn) -> dict[str, Any]:
        """Return whom an entity has met, the most frequent first."""
        entity = self.entity(wanted.entity)
        rows = self.select(wanted.selection())
        as_subject = self.facts.subject[rows] == entity
        others = np.where(as_subject, self.facts.object[rows], self.facts.subject[rows])
        found, count = np.unique(others, return_counts=True)
        ordered = found[np.argsort(-count, kind="stable")]
        page = ordered[wanted.offset : wanted.offset + wanted.limit].tolist()
        shown = [self._neighbour(other, rows[others == other], as_subject[others == other]) for other in page]
        return {"entity": wanted.entity, "total": len(found), "neighbours": shown}

    def _neighbour(self, other: int, rows: Ints, as_subject: NDArray[np.bool_]) -> dict[str, Any]:
        label = self.graph.timeline.label
        return {
            "name": self.graph.entities.name(other),
            "facts": len(rows),
            "as_subject": int(as_subject.sum()),
            "as_object": int((~as_subject).sum()),
            "first": label(int(self.begin[rows].min())),
            "last": label(int(self.end[rows].max())),
            "predicates": self._frequent(rows, PREDICATES_OF_NEIGHBOUR),
        }

    def _frequent(self, rows: Ints, most: int) -> list[dict[str, Any]]:
        """Return the most frequent predicates of some facts."""
        found, count = np.unique(self.facts.predicate[rows], return_counts=True)
        order = np.argsort(-count, kind="stable")[:most]
        name = self.graph.predicates.name
        return [{"name": name(int(found[k])), "facts": int(count[k])} for k in order.tolist()]
