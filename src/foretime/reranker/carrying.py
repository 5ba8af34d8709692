"""A scorer on a graph with other names: what was learned is carried over, and what was not is said to be missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from foretime.data.facts import Ids, empty_facts
from foretime.data.graph import Graph
from foretime.data.vocabulary import Vocabulary
from foretime.evaluation.filters import AnswerIndex
from foretime.evidence.background import background_lists
from foretime.evidence.carrying import PredicateMap, carry_index
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.module import EvidenceComponent, WithEvidence, evidence_of
from foretime.models import Model
from foretime.models.carried import CarriedModel, TrainedIds
from foretime.reranker.features.names import NameWords, distinct_words, name_words
from foretime.reranker.scorer import RerankedModel, Scorer
from foretime.reranker.slots.carrying import OtherNames, carry_slots

if TYPE_CHECKING:
    from foretime.reranker.features.intervals import SpanIndex


def carry_scorer(scorer: Scorer, graph: Graph, share_entities: bool) -> Scorer:
    """Return the scorer on another graph, without any events: `EvidenceFilter` gives it those of the graph.

    Its facts without a time are there at once, if the run was trained with such facts.

    Predicates are matched by name. Entities are too if they are shared; if not, none has an embedding.
    """
    trained = scorer.graph
    map_ = PredicateMap.of(tuple(graph.predicates.names), tuple(trained.predicates.names))
    entities = _places(graph.entities.names, trained.entities.names if share_entities else ())
    ids = TrainedIds(torch.from_numpy(entities), torch.from_numpy(map_.ids), len(trained.timeline))
    evidence, reranked = evidence_of(scorer.model), scorer.reranked
    index = scorer.index
    if index is None:
        return replace(scorer, model=CarriedModel(scorer.model, ids), graph=graph)
    index, weights = carry_index(
        index, None if evidence is None else evidence.weights, map_, (len(graph.entities), len(graph.timeline))
    )
    if index.background is not None:
        lists = background_lists(graph.background, len(graph.entities), len(graph.predicates))
        index = replace(index, background=index.background._replace(lists=lists))
    model = _carry_model(scorer.model, ids, index, weights)
    if reranked is None:
        return replace(scorer, model=model, graph=graph)
    names = name_words(graph.entities, empty_facts(), len(graph.predicates))
    extractor = replace(
        reranked.extractor,
        index=index,
        names=names,
        spans=None if reranked.extractor.spans is None else _no_spans(graph),
        predicate_ids=None if map_.is_identity else map_.ids.astype(np.float32),
    )
    known = AnswerIndex(empty_facts())
    slots = scorer.slots
    if slots is not None:
        words, count = _word_places(graph.entities, trained.entities, names, reranked.extractor.names)
        slots = carry_slots(slots, OtherNames(map_, entities, words, len(trained.entities), count), index, names)
    return Scorer(model, graph, RerankedModel(model, reranked.reranker, extractor, known), slots)


def unmatched(graph: Graph, trained: Vocabulary) -> list[str]:
    """Return the predicates of a graph that were not trained."""
    return [name for name in graph.predicates.names if name not in trained]


def _carry_model(model: Model, ids: TrainedIds, index: EvidenceIndex, weights: torch.Tensor | None) -> Model:
    if isinstance(model, EvidenceComponent):
        return model.on(index, weights)
    if isinstance(model, WithEvidence):
        return WithEvidence(CarriedModel(model.base, ids), index).on(index, weights).eval()
    return CarriedModel(model, ids).eval()


def _word_places(now: Vocabulary, before: Vocabulary, words: NameWords, trained: NameWords) -> tuple[Ids, int]:
    """Return the trained place of each word of names, −1 for one without, and how many were trained."""
    count = len(trained.rarity)
    if now.names[: len(before)] == before.names:  # new names, and so new words, come after the trained ones
        return np.where(np.arange(len(words.rarity)) < count, np.arange(len(words.rarity)), -1), count
    return _places(distinct_words(now), distinct_words(before)), count


def _places(names: Sequence[str], among: Sequence[str]) -> Ids:
    """Return the place of each name among others, −1 for one that is not there."""
    place = {name: i for i, name in enumerate(among)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def _no_spans(graph: Graph) -> SpanIndex:
    from foretime.reranker.features.intervals import span_index  # numba is slow to load

    return span_index(empty_facts(), len(graph.entities), len(graph.predicates))
