"""The same scorer over other evidence: without some events, with others, or with what was before the question alone.

Evidence is looked up when a question is asked, so nothing is learned again: weights, rules and trees stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from foretime.data.facts import Facts, Ids, concatenate, empty_facts
from foretime.data.graph import Graph
from foretime.data.growth import GrownGraph
from foretime.evaluation.filters import AnswerIndex
from foretime.evidence.events import SortedEvents
from foretime.evidence.families import RATED
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.module import evidence_of, model_on
from foretime.models import Model
from foretime.reranker.features.names import grown_words, name_words, without_facts
from foretime.reranker.scorer import RerankedModel, Scorer

Mask = NDArray[np.bool_]


def looks_up_events(scorer: Scorer) -> bool:
    """Return whether the answers of a scorer depend on events that are looked up when a question is asked."""
    return scorer.index is not None


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

    `facts` are the evidence; the rows of train among them begin at `train_at`, unless train is no evidence, and what
    was added to a graph that has grown comes last. If the facts are `own`, what the scorer has counted in them is used.
    """

    def __init__(self, scorer: Scorer, graph: Graph, facts: Facts, train_at: int | None = 0, own: bool = False) -> None:
        self._scorer, self._graph, self.facts, self._train_at = scorer, graph, facts, train_at
        sizes, reranked = (len(graph.entities), len(graph.predicates)), scorer.reranked
        self._events = SortedEvents(facts, *sizes, len(graph.timeline), _fades(scorer))
        if reranked is None:
            return
        self._known, self._names = reranked.known, reranked.extractor.names
        if not own:
            self._known = AnswerIndex(graph.seen.with_inverses(sizes[1]))
            self._names = name_words(graph.entities, facts, sizes[1])
        if reranked.extractor.spans is not None:
            from foretime.reranker.features.intervals import SortedSpans  # numba is slow to load

            self._spans = SortedSpans(facts, *sizes)

    def grown(self, scorer: Scorer, graph: GrownGraph, trained: Scorer) -> EvidenceFilter:
        """Return the facts with those that the graph has more of, merged in: the same as if all had been there.

        `scorer` is that of the graph without any events, `trained` the one that was trained.
        """
        before = self._graph.update if isinstance(self._graph, GrownGraph) else empty_facts()
        other, added = copy(self), graph.update.take(slice(len(before), None))
        sizes = len(graph.entities), len(graph.predicates)
        other._scorer, other._graph, other.facts = scorer, graph, concatenate([self.facts, added])
        other._events = self._events.grown(added, *sizes, len(graph.timeline))
        if scorer.reranked is not None and trained.reranked is not None:
            known, predicates = trained.reranked.known, (len(trained.graph.predicates), sizes[1])
            other._known = known.grown(graph.update, *predicates)
            other._names = grown_words(self._names, scorer.reranked.extractor.names, added)
            if scorer.reranked.extractor.spans is not None:
                other._spans = self._spans.grown(added, *sizes)
        return other

    def without(self, rows: Ids | Sequence[int], past_only: bool | None = None) -> Scorer:
        """Return the scorer whose evidence lacks the facts at some rows, as if they had never been there."""
        kept = np.ones(len(self.facts), dtype=bool)
        kept[rows] = False
        return self.scorer(kept, past_only)

    def scorer(self, kept: Mask | None = None, past_only: bool | None = None, weights: Tensor | None = None) -> Scorer:
        """Return the scorer over the facts, or over those that are `kept`; `weights` may replace the evidence's own."""
        before = self._scorer.index
        if before is None:
            return self._scorer
        reach = before.reach if past_only is None else before.reach._replace(past_only=past_only)
        index = replace(before, events=self._events.lists(kept), reach=reach)
        model = model_on(self._scorer.model, index, weights)
        slots, ranked = self._scorer.slots, self._reranked(model, index, kept)
        if slots is not None and ranked is not None:
            slots = slots.on(index, ranked.extractor.names)
        return replace(self._scorer, model=model, reranked=ranked, slots=slots)

    def _reranked(self, model: Model, index: EvidenceIndex, kept: Mask | None) -> RerankedModel | None:
        reranked = self._scorer.reranked
        if reranked is None:
            return None
        names, known = self._names, self._known
        if kept is not None:
            names, known = without_facts(names, self.facts.take(~kept)), known.keep(np.tile(self._seen(kept), 2))
        spans = None if reranked.extractor.spans is None else self._spans.index(kept)
        extractor = replace(reranked.extractor, index=index, names=names, spans=spans)
        return replace(reranked, model=model, extractor=extractor, known=known)

    def _seen(self, kept: Mask) -> Mask:
        """Return which facts of `Graph.seen` are kept: those of train, and those that were added."""
        train = len(self._graph.train)
        added = len(self._graph.update) if isinstance(self._graph, GrownGraph) else 0
        first = np.ones(train, dtype=bool) if self._train_at is None else kept[self._train_at :][:train]
        return np.append(first, kept[len(kept) - added :])
