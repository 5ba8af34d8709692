"""The same scorer over other evidence: without some events, with others, or with what was before the question alone.

Evidence is looked up when a question is asked, so nothing is learned again: weights, rules and trees stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph
from foretime.evaluation.filters import AnswerIndex
from foretime.evidence.events import SortedEvents
from foretime.evidence.families import RATED
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.module import EvidenceComponent, WithEvidence, evidence_of
from foretime.models import Model
from foretime.reranker.features.names import name_words, without_facts
from foretime.reranker.scorer import RerankedModel, Scorer

Mask = NDArray[np.bool_]


def looks_up_events(scorer: Scorer) -> bool:
    """Return whether the answers of a scorer depend on events that are looked up when a question is asked."""
    return evidence_of(scorer.model) is not None or scorer.reranked is not None


def _fades(scorer: Scorer) -> bool:
    """Return whether the evidence of a scorer adds up events that fade with time."""
    evidence = evidence_of(scorer.model)
    return evidence is not None and any(getattr(evidence.index.reach, name) for name in RATED)


def scorer_on(scorer: Scorer, graph: Graph, facts: Facts, past_only: bool | None = None) -> Scorer:
    """Return the same scorer over other facts: `facts` are its evidence, and the train of `graph` is already known.

    The names and the timeline of `graph` must be those that the scorer was trained on. With `past_only` only events
    before the time asked about are evidence; without a value it stays as it is.
    """
    return EvidenceFilter(scorer, graph, facts).scorer(past_only=past_only)


class EvidenceFilter:
    """Facts for a scorer, sorted once: the scorers that lack some of them follow without sorting again.

    `facts` are the evidence; the rows of train among them begin at `train_at`, unless train is no evidence.
    """

    def __init__(self, scorer: Scorer, graph: Graph, facts: Facts, train_at: int | None = 0) -> None:
        self._scorer, self.facts = scorer, facts
        self._train = None if train_at is None else slice(train_at, train_at + len(graph.train))
        entities, predicates = len(graph.entities), len(graph.predicates)
        self._events = SortedEvents(facts, entities, predicates, len(graph.timeline), _fades(scorer))
        if scorer.reranked is not None:
            self._known = AnswerIndex(graph.train.with_inverses(predicates))
            self._names = name_words(graph.entities, facts, predicates)
            if scorer.reranked.extractor.spans is not None:
                from foretime.reranker.features.intervals import SortedSpans  # numba is slow to load

                self._spans = SortedSpans(facts, entities, predicates)

    def without(self, rows: Ids | Sequence[int], past_only: bool | None = None) -> Scorer:
        """Return the scorer whose evidence lacks the facts at some rows, as if they had never been there."""
        kept = np.ones(len(self.facts), dtype=bool)
        kept[rows] = False
        return self.scorer(kept, past_only)

    def scorer(self, kept: Mask | None = None, past_only: bool | None = None, weights: Tensor | None = None) -> Scorer:
        """Return the scorer over the facts, or over those that are `kept`; `weights` may replace the evidence's own."""
        evidence, reranked = evidence_of(self._scorer.model), self._scorer.reranked
        before = evidence.index if evidence is not None else reranked.extractor.index if reranked is not None else None
        if before is None:
            return self._scorer
        reach = before.reach if past_only is None else before.reach._replace(past_only=past_only)
        index = replace(before, events=self._events.lists(kept), reach=reach)
        model = _on(self._scorer.model, index, weights)
        others = {one.name: getattr(self._scorer, one.name) for one in fields(self._scorer)}
        others = {name: _part_on(part, index) for name, part in others.items() if name not in ("model", "reranked")}
        return replace(self._scorer, model=model, reranked=self._reranked(model, index, kept), **others)

    def _reranked(self, model: Model, index: EvidenceIndex, kept: Mask | None) -> RerankedModel | None:
        reranked = self._scorer.reranked
        if reranked is None:
            return None
        names, known = self._names, self._known
        if kept is not None:
            names = without_facts(names, self.facts.take(~kept))
            known = known if self._train is None else known.keep(np.tile(kept[self._train], 2))
        spans = None if reranked.extractor.spans is None else self._spans.index(kept)
        extractor = replace(reranked.extractor, index=index, names=names, spans=spans)
        return replace(reranked, model=model, extractor=extractor, known=known)


def _on(model: Model, index: EvidenceIndex, weights: Tensor | None) -> Model:
    return model.on(index, weights) if isinstance(model, EvidenceComponent | WithEvidence) else model


def _part_on(part: Any, index: EvidenceIndex) -> Any:
    """Return a part of a scorer over other events: a model of a slot, a dict of such models; others as they are."""
    if isinstance(part, dict):
        return {name: _part_on(one, index) for name, one in part.items()}
    return part.on(index) if hasattr(part, "on") else part
