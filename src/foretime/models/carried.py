"""A trained model on a graph with other names: it says nothing of what it was not trained on."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from foretime.devices import fetch, send
from foretime.models.base import Model, Queries, ScoreTerm
from foretime.models.past_events import PastEvents

ROWS_AT_ONCE = 512
"""Questions that are scored at once against all entities where only some candidates are wanted."""


class TrainedIds(NamedTuple):
    """The trained id of each entity and of each predicate, inverses too, −1 for those that have none; on the CPU.

    `steps` is how many steps the model was trained on: to it, a later one is the last.
    """

    entities: Tensor
    predicates: Tensor
    steps: int


class CarriedModel(Model):
    """The terms of a trained model, neutral where it has no embedding.

    A candidate without an embedding has the mean of a term over all trained candidates of its question: it is neither
    raised nor lowered. A question whose subject or predicate has none has terms of 0 for every candidate.
    """

    def __init__(self, base: Model, ids: TrainedIds) -> None:
        nn.Module.__init__(self)
        self.base, self._ids = base, ids
        self.uses_time = base.uses_time  # type: ignore[misc]  # that of whatever it carries
        self.reads_events = base.reads_events  # type: ignore[misc]
        self.end_offset = len(ids.predicates) if base.end_offset else 0

    def reading(self, events: PastEvents) -> CarriedModel:
        """Return the trained model reading other events, of which it knows those that it has embeddings for."""
        trained = events.renumbered(*(fetch(ids).numpy() for ids in self._ids[:2]))
        return CarriedModel(self.base.reading(trained), self._ids).train(self.training)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the terms of the trained model under the ids of the other graph."""
        rows, trained = self._trained(queries)
        if objects is None:
            return self._spread(rows, len(queries.subject), self._all(trained))
        objects = objects.expand(len(queries.subject), -1)
        chosen = self._ids.entities[objects]
        if len(rows) == len(objects) and bool((chosen >= 0).all()):
            return self.base.score_terms(trained, chosen)
        found = [
            [
                term.scores.gather(1, send(objects[rows[part]], self.device))
                for term in self._all(Queries(*(one[part] for one in trained)))
            ]
            for part in torch.arange(len(rows)).split(ROWS_AT_ONCE)  # type: ignore[no-untyped-call]
        ]
        none = torch.empty(0, objects.shape[1], device=self.device)
        terms = [ScoreTerm(term.name, term.weight, none) for term in self._names()]
        for place, term in enumerate(terms):
            terms[place] = term._replace(scores=torch.cat([term.scores, *(part[place] for part in found)]))
        return self._spread(rows, len(objects), terms)

    def _trained(self, queries: Queries) -> tuple[Tensor, Queries]:
        """Return the rows of the questions that the model was trained for, and these under the ids it knows."""
        every = len(self._ids.predicates)
        subject, predicate = self._ids.entities[queries.subject], self._ids.predicates[queries.predicate % every]
        at_end = queries.predicate // every * self.base.end_offset
        rows = torch.nonzero((subject >= 0) & (predicate >= 0))[:, 0]
        time = queries.time if self.reads_events else queries.time.clamp(max=self._ids.steps - 1)
        return rows, Queries(subject[rows], (predicate + at_end)[rows], time[rows])

    def _all(self, trained: Queries) -> list[ScoreTerm]:
        """Return the terms of every entity of the other graph."""
        if len(trained.subject) == 0:
            empty = torch.empty(0, len(self._ids.entities), device=self.device)
            return [term._replace(scores=empty) for term in self._names()]
        entities = send(self._ids.entities, self.device)
        seen, columns = entities >= 0, entities.clamp(min=0)
        found = self.base.score_terms(trained)
        return [
            term._replace(scores=torch.where(seen, term.scores[:, columns], term.scores.mean(1, keepdim=True)))
            for term in found
        ]

    def _names(self) -> list[ScoreTerm]:
        """Return the terms of some question, for their names and weights."""
        first = torch.zeros(1, dtype=torch.int64)
        return self.base.score_terms(Queries(first, first, first), first[None])

    def _spread(self, rows: Tensor, count: int, terms: list[ScoreTerm]) -> list[ScoreTerm]:
        """Return terms of all questions, 0 for those that are not among the rows."""
        if len(rows) == count:
            return terms
        whole = [torch.zeros(count, term.scores.shape[1], device=self.device) for term in terms]
        return [
            term._replace(scores=scores.index_copy(0, send(rows, self.device), term.scores.to(scores.dtype)))
            for term, scores in zip(terms, whole, strict=True)
        ]
