"""The slot that a question asks for: subject, predicate, object or time, scored by the one formula of the model.

Every question is a fact with one slot left open. The candidates for it are all entities, all predicates or all steps of
the timeline, and `SlotIndex` finds which of them are already known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Facts, inverse
from foretime.data.graph import Graph
from foretime.devices import send
from foretime.evaluation.filters import AnswerIndex, AnswerPairs, FilterName
from foretime.evaluation.ranks import batches
from foretime.models.base import Model, ScoreTerm
from foretime.models.boundaries import end_queries

Slot = Literal["subject", "predicate", "object", "time"]
SLOTS: tuple[Slot, ...] = get_args(Slot)
QUERIES_AT_ONCE = 20_000
"""How many (question, candidate) pairs are scored at once where each needs a query of its own."""


SlotScore = Callable[[Slot, Facts], Tensor]
"""Scores every candidate for the open slot of each fact: (facts, candidates)."""


def score_filled(model: Model, graph: Graph, slot: Slot, facts: Facts) -> Tensor:
    """Return the model's score of every predicate or every step in the open slot of each fact, (facts, candidates).

    What a fact has in the open slot is ignored. A fact with two ends is scored by the mean of both.
    """
    count = len(graph.predicates) if slot == "predicate" else len(graph.timeline)
    rows = [torch.empty(0, count, device=model.device)]
    for _, batch in batches(facts, max(1, QUERIES_AT_ONCE // count)):
        terms = score_terms(model, _fill(batch, slot, count))
        rows.append(torch.stack([term.weight * term.scores[:, 0] for term in terms]).sum(0).view(-1, count))
    return torch.cat(rows)


def inverted(facts: Facts, graph: Graph) -> Facts:
    """Return the inverse of each fact: `(?, p, o, t)` is asked as `(o, p⁻¹, ?, t)`."""
    predicate = inverse(facts.predicate, len(graph.predicates))
    return replace(facts, subject=facts.object, predicate=predicate, object=facts.subject)


def score_terms(model: Model, facts: Facts) -> list[ScoreTerm]:
    """Return the terms of the score of each fact as it stands, (facts, 1) each, a mean over its known ends."""
    object_ = torch.from_numpy(facts.object)[:, None]
    asked = end_queries(model, facts)
    terms = model.score_terms(asked.first, object_)
    if len(asked.rows):
        rows = send(asked.rows, model.device)
        for term, later in zip(terms, model.score_terms(asked.second, object_[asked.rows]), strict=True):
            term.scores[rows] = (term.scores[rows] + later.scores) / 2
    return terms


def at_single_times(facts: Facts) -> Facts:
    """Return the events of the facts as facts at one time."""
    events = facts.events()
    return Facts(events.subject, events.predicate, events.object, events.time, events.time)


class SlotIndex:
    """Finds which candidates for an open slot some facts of the graph already have.

    A candidate is already known if a fact has it that holds at one of the times asked about. Where the time itself is
    asked for, those are the ends of the facts.
    """

    def __init__(self, graph: Graph, slot: Slot, facts: Facts) -> None:
        self.slot = slot
        self._entities = len(graph.entities)
        # where all facts have one time, both filters find the same answers, and `exact` finds them faster
        filter_name: FilterName = "valid-at" if graph.has_intervals else "exact"
        self._index = AnswerIndex(
            self._slot_as_object(at_single_times(facts) if slot == "time" else facts), filter_name
        )

    def find(self, facts: Facts) -> AnswerPairs:
        """Return pairs of a fact's row and a candidate for its open slot that is already known."""
        return self._index.answers(self._slot_as_object(facts))

    def _slot_as_object(self, facts: Facts) -> Facts:
        """Return the facts with the open slot in the column `object`, where the index looks for answers."""
        if self.slot == "object":
            return facts
        if self.slot == "subject":
            return replace(facts, subject=facts.object, object=facts.subject)
        if self.slot == "predicate":
            return replace(facts, predicate=facts.object, object=facts.predicate)
        anytime = np.zeros_like(facts.start)
        # an entity that came later must not run into the numbers of the next predicate
        beyond = facts.object >= self._entities
        pair = np.where(beyond, np.iinfo(np.int64).max, facts.predicate * self._entities + facts.object)
        return Facts(facts.subject, pair, facts.start, anytime, anytime)


def _fill(facts: Facts, slot: Slot, count: int) -> Facts:
    """Return each fact once for each candidate of the open slot."""
    filled = facts.take(np.repeat(np.arange(len(facts)), count))
    candidate = np.tile(np.arange(count), len(facts))
    if slot == "predicate":
        return replace(filled, predicate=candidate)
    return replace(filled, start=candidate, end=candidate)
