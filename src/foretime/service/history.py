"""The facts of a graph, indexed by entity and time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from foretime.data.facts import UNKNOWN
from foretime.data.graph import Graph
from foretime.service.models import SPLITS, Name, NameOut, Open, RequestBody, Split, Time
from foretime.service.names import NameIndex
from foretime.service.problems import unanswerable

Ints = NDArray[np.int64]


class WhatAndWhen(RequestBody):
    """Which facts, whoever takes part."""

    predicate: Name = Field(default=None, description="What happens.")
    from_: Time = Field(default=None, alias="from", description="Not before.")
    to: Time = Field(default=None, description="Not after.")
    split: Annotated[Split | None, Open, Field(description="Only facts of this split.")] = None


class Selection(WhatAndWhen):
    """Which facts."""

    entity: Name = Field(default=None, description="Who takes part.")
    other: Name = Field(default=None, description="With whom, in either direction.")
    role: Literal["any", "subject", "object"] = Field(default="any", description="The role of the entity.")


class History:
    """The facts of all splits, sorted by time and indexed by entity."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        facts = graph.facts()
        split = np.repeat(np.arange(len(graph.splits)), [len(graph.facts(name)) for name in graph.splits])
        begin, end = facts.known_ends()
        # by time, then by ids, so that pages never overlap
        order = np.lexsort([facts.object, facts.predicate, facts.subject, end, begin])
        self.facts, self.split = facts.take(order), split[order]
        self.begin, self.end = np.minimum(begin, end)[order], np.maximum(begin, end)[order]
        self._rows, self._offsets = self._by_entity()
        self.entities = NameIndex(graph.entity_finder, np.diff(self._offsets))
        counts = np.bincount(self.facts.predicate, minlength=len(graph.predicates))
        self.predicates = NameIndex(graph.predicate_finder, counts)

    def _by_entity(self) -> tuple[Ints, Ints]:
        """Return the rows of every entity in order of time, one entity after the other, and where each begins."""
        others = np.flatnonzero(self.facts.object != self.facts.subject)
        owner = np.concatenate([self.facts.subject, self.facts.object[others]])
        rows = np.concatenate([np.arange(len(self.facts)), others])
        order = np.lexsort([rows, owner])
        return rows[order], np.searchsorted(owner[order], np.arange(len(self.graph.entities) + 1))

    def select(self, wanted: Selection) -> Ints:
        """Return the rows of the selected facts, in order of time."""
        if wanted.entity is None and wanted.other is not None:
            raise unanswerable("other is given without entity; give both names of the pair, or entity alone")
        rows = np.arange(len(self.facts)) if wanted.entity is None else self._of_entity(wanted.entity, wanted)
        keep = np.ones(len(rows), dtype=bool)
        if wanted.predicate is not None:
            keep &= self.facts.predicate[rows] == self.predicates.id(wanted.predicate)
        if wanted.split is not None:
            keep &= self.split[rows] == SPLITS.index(wanted.split)
        first, last = self.span(wanted)
        keep &= (self.end[rows] >= first) & (self.begin[rows] <= last)
        return rows[keep]

    def _of_entity(self, name: str, wanted: Selection) -> Ints:
        entity = self.entities.id(name)
        rows = self._rows[self._offsets[entity] : self._offsets[entity + 1]]
        subject, object_ = self.facts.subject[rows], self.facts.object[rows]
        keep = np.ones(len(rows), dtype=bool)
        if wanted.role != "any":
            keep &= (subject if wanted.role == "subject" else object_) == entity
        if wanted.other is not None:
            other = self.entities.id(wanted.other)
            keep &= ((subject == entity) & (object_ == other)) | ((subject == other) & (object_ == entity))
        return rows[keep]

    def span(self, wanted: Selection) -> tuple[int, int]:
        """Return the first and the last step of a selection."""
        timeline = self.graph.timeline
        first = 0 if wanted.from_ is None else timeline.step(wanted.from_)
        last = len(timeline) - 1 if wanted.to is None else timeline.step(wanted.to)
        if first > last:
            raise unanswerable(f"from {wanted.from_!r} is after to {wanted.to!r}; swap them")
        return first, last

    def labels(self, row: int) -> dict[str, Any]:
        """Return a fact in names: one at a single time has `time`, any other `start` and `end`."""
        graph, facts = self.graph, self.facts
        start, end = (
            None if step == UNKNOWN else graph.timeline.label(int(step)) for step in (facts.start[row], facts.end[row])
        )
        point = facts.start[row] == facts.end[row]
        return {
            "subject": graph.entities.name(int(facts.subject[row])),
            "predicate": graph.predicates.name(int(facts.predicate[row])),
            "object": graph.entities.name(int(facts.object[row])),
            "time": start if point else None,
            "start": None if point else start,
            "end": None if point else end,
        }

    def attributes(self, entity: str | None) -> dict[str, list[str]]:
        """Return what is known of an entity beside its facts."""
        if entity is None:
            return {}
        name = self.graph.entities.name(self.entities.id(entity))
        return {attribute: list(values) for attribute, values in self.graph.attributes[name].items()}

    def frequent_predicates(self, rows: Ints, most: int) -> list[NameOut]:
        """Return the most frequent predicates of some facts."""
        found, count = np.unique(self.facts.predicate[rows], return_counts=True)
        order = np.argsort(-count, kind="stable")[:most]
        name = self.graph.predicates.name
        return [NameOut(name=name(int(found[k])), facts=int(count[k])) for k in order.tolist()]
