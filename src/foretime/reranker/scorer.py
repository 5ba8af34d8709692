"""Base model and re-ranker together as one scorer, for ranking, calibration and answers alike."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph
from foretime.devices import send, widest
from foretime.evaluation.filters import AnswerIndex
from foretime.evaluation.ranks import score_questions
from foretime.evaluation.slots import Slot, inverted, score_filled
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.module import evidence_of, model_on
from foretime.models import Model
from foretime.reranker.features.extractor import FeatureExtractor, Features, Shortlist, score_each_term, shortlist_of
from foretime.reranker.slots.intervals import IntervalModel
from foretime.reranker.slots.model import SlotModels
from foretime.reranker.trees import Reranker


class CandidateFeatures(NamedTuple):
    """A candidate on the shortlist: its features, (1, features), and its place, from 1; a known answer has none.

    `typical` is the mean of each feature over the shortlist, (features,).
    """

    names: list[str]
    values: Features
    place: int | None
    typical: Features


_Shortlisted = tuple[Tensor, Shortlist, list[str], Features]


@dataclass(frozen=True)
class RerankedModel:
    """A base model and the re-ranker that orders its best candidates anew."""

    model: Model
    reranker: Reranker
    extractor: FeatureExtractor
    known: AnswerIndex
    """The answers that train has, and updates: they do not take the place of others on the shortlist."""
    _kept: dict[tuple[bytes, ...], _Shortlisted] = field(default_factory=dict, init=False, repr=False, compare=False)

    def score(self, questions: Facts) -> Tensor:
        """Return the scores of all entities, (questions, entities).

        Those of the shortlist are the re-ranker's. The others keep the order of the base model behind the last of them,
        by as much as their base score is below that of the last of the shortlist.
        """
        total, shortlist, _, features = self._shortlist(questions)
        device, wide = total.device, widest(total.device)
        scores = send(torch.from_numpy(self.reranker.trees.score(features)).to(wide), device)
        question, object_ = send(shortlist.question, device), send(shortlist.object, device)
        ranked = send(shortlist.is_ranked, device)  # a known answer may stand anywhere in the order of the model
        far = torch.full((len(questions),), torch.inf, dtype=wide, device=device)
        lowest = far.scatter_reduce(0, question, scores, "amin")
        last = far.float().scatter_reduce(0, question[ranked], total[question, object_][ranked], "amin")
        below = (total - last[:, None]).clamp(max=0.0) - 1e-3
        result = lowest[:, None] + below
        result[question, object_] = scores
        return result.float()

    def extract(self, question: Facts, candidate: int) -> CandidateFeatures | None:
        """Return the features of a candidate of one question, nothing if it is behind the shortlist."""
        _, shortlist, names, features = self._shortlist(question)
        rows = np.flatnonzero(shortlist.object == candidate)
        if len(rows) == 0:
            return None
        row, ranked = int(rows[0]), shortlist.is_ranked
        typical = features[ranked].mean(0) if ranked.any() else features[row]
        return CandidateFeatures(names, features[row : row + 1], row + 1 if ranked[row] else None, typical)

    def _shortlist(self, questions: Facts) -> _Shortlisted:
        """Return the base scores, the best candidates, and the names and values of their features.

        Those of a single question are kept until the next: its answers are explained one after the other.
        """
        key = tuple(column.tobytes() for column in questions.columns()) if len(questions) == 1 else None
        if key is None:
            return self._shortlist_of(questions)
        found = self._kept.get(key)
        if found is None:
            found = self._shortlist_of(questions)
            self._kept.clear()
            self._kept[key] = found
        return found

    def _shortlist_of(self, questions: Facts) -> _Shortlisted:
        terms = score_each_term(self.model, questions)
        total = torch.stack(list(terms.values())).sum(0)
        shortlist = shortlist_of(total, questions, self.known, self.reranker.top)
        return total, shortlist, *self.extractor.extract(terms, questions, shortlist)


@dataclass(frozen=True)
class Scorer:
    """Scores questions by a model, re-ranked if there is a re-ranker: every rank and answer comes from it."""

    model: Model
    graph: Graph
    reranked: RerankedModel | None = None
    slots: SlotModels | None = None

    @property
    def index(self) -> EvidenceIndex | None:
        """Where events are looked up; nothing if none are."""
        evidence = evidence_of(self.model)
        if evidence is not None:
            return evidence.index
        return None if self.reranked is None else self.reranked.extractor.index

    @cached_property
    def at_true_times(self) -> Scorer:
        """The same scorer, but for looking at every question from its own time, however long after the last event."""
        return self.within(None)

    def within(self, max_gap: int | None) -> Scorer:
        """Return the same scorer looking at questions from at most so many steps after the last event before them."""
        if self.index is None or self.index.max_gap == max_gap:
            return self
        index, reranked, slots = replace(self.index, max_gap=max_gap), self.reranked, self.slots
        model = model_on(self.model, index)
        if reranked is not None:
            reranked = replace(reranked, model=model, extractor=replace(reranked.extractor, index=index))
            slots = None if slots is None else slots.on(index, reranked.extractor.names)
        return replace(self, model=model, reranked=reranked, slots=slots)

    def for_slot(self, slot: Slot) -> Scorer:
        """Return the scorer of an open slot: every time that is a candidate for "when?" is looked at from itself."""
        return self.at_true_times if slot == "time" else self

    def score(self, questions: Facts) -> Tensor:
        """Return the scores of all entities as objects of the questions, (questions, entities)."""
        return score_questions(self.model, questions) if self.reranked is None else self.reranked.score(questions)

    def score_slot(self, slot: Slot, facts: Facts) -> Tensor:
        """Return the score of every candidate for the open slot of each fact, (facts, candidates).

        What a fact has in the open slot is ignored. A predicate or a time that has no model of its own is scored by the
        base model.
        """
        if slot in ("object", "subject"):
            return self.score(facts if slot == "object" else inverted(facts, self.graph))
        own = self.for_slot(slot)
        model = None if own.slots is None else own.slots.models.get(slot)
        return score_filled(own.model, self.graph, slot, facts) if model is None else model.score(facts)

    def predict_intervals(self, facts: Facts) -> tuple[Ids, Ids] | None:
        """Return the first and the last step of each fact as predicted; nothing if the run has no model of it."""
        slots = self.for_slot("time").slots
        if slots is None or "start" not in slots.models:
            return None
        return IntervalModel(slots.models["start"], slots.lengths).predict(facts)

    def is_reranked(self, slot: Slot) -> bool:
        """Whether candidates for a slot are scored by more than the base model."""
        entities = slot in ("object", "subject")
        return self.reranked is not None if entities else self.slots is not None and slot in self.slots.models
