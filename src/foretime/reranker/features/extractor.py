"""The features of a candidate: what the base model says of it, and what the graph does.

The base model is fitted on facts that its embeddings have memorised, so it cannot know how far to trust them. Its score
is therefore one feature among others, beside counts of the events themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.config import EvidenceConfig
from foretime.data.facts import UNKNOWN, Facts, Ids, concatenate
from foretime.data.graph import Graph
from foretime.devices import fetch, send
from foretime.evaluation.filters import AnswerIndex
from foretime.evidence.families import RATED
from foretime.evidence.index import EvidenceIndex, build_index
from foretime.evidence.module import WithEvidence
from foretime.models import Model, Queries
from foretime.models.boundaries import end_queries
from foretime.reranker.features.names import NameWords, name_words
from foretime.reranker.features.words import (
    AT_THE_END,
    BACKGROUND_FEATURES,
    BELOW,
    INTERVAL_FEATURES,
    PROFILE_FEATURES,
    RATE_FEATURES,
)
from foretime.reranker.quantising import quantise

if TYPE_CHECKING:
    from foretime.reranker.features.intervals import SpanIndex

RUNS = 8
"""Into how many runs the questions of a batch are cut, for threads to take."""
_PREDICATE = PROFILE_FEATURES.index("predicate")
Features = NDArray[np.float32]
"""Features of candidates, (candidates, features)."""


class Shortlist(NamedTuple):
    """The candidates of some questions one after the other: question k has those from `first[k]` to `first[k + 1]`.

    `ranked` counts those of each question that stand in the order of the base model; known answers come after them.
    """

    first: Ids
    object: Ids
    ranked: Ids

    @property
    def question(self) -> Ids:
        """The question of each candidate, (candidates,)."""
        return np.repeat(np.arange(len(self.ranked)), np.diff(self.first))

    @property
    def place(self) -> Ids:
        """The place of each candidate within its question, from 0, (candidates,)."""
        return np.arange(len(self.object)) - np.repeat(self.first[:-1], np.diff(self.first))

    @property
    def is_ranked(self) -> NDArray[np.bool_]:
        """Which candidates stand in the order of the base model, (candidates,)."""
        return self.place < self.ranked[self.question]


@dataclass(frozen=True)
class FeatureExtractor:
    """Extracts the features of candidates; `exact` keeps the counts as they are, for comparison only.

    A graph of intervals has `spans`: its candidates have features at both ends, and of how intervals lie. Where facts
    without a time are evidence, there are features of them. On another graph than that of the training,
    `predicate_ids` are the trained ids of its predicates, −1 for those without one.
    """

    index: EvidenceIndex
    names: NameWords
    spans: SpanIndex | None
    exact: bool = False
    predicate_ids: Features | None = None

    @classmethod
    def of(cls, graph: Graph, model: Model, config: EvidenceConfig) -> FeatureExtractor:
        """Return the extractor of a graph; it shares the index of a model with evidence."""
        index = model.evidence.index if isinstance(model, WithEvidence) else build_index(graph, config)
        facts = concatenate([graph.facts(split) for split in config.splits])
        names = name_words(graph.entities, facts, len(graph.predicates))
        if not graph.has_intervals:
            return cls(index, names, None)
        from foretime.reranker.features.intervals import span_index  # numba is slow to load

        return cls(index, names, span_index(facts, len(graph.entities), len(graph.predicates)))

    def extract(self, terms: dict[str, Tensor], questions: Facts, shortlist: Shortlist) -> tuple[list[str], Features]:
        """Return the names of all features, and their values; `terms` are those of `score_each_term`."""
        names, of_base_model = term_features(terms, shortlist)
        of_graph = self.graph_features(questions, shortlist)
        return names + self.graph_feature_names, np.hstack([of_base_model, of_graph])

    def graph_features(self, questions: Facts, shortlist: Shortlist) -> Features:
        """Return what the graph says of each candidate, under `graph_feature_names`."""
        start, end = self.index.facts_as_of(questions).known_ends()
        at_start = self._profile(questions, start, shortlist)
        rates = [self._rates(questions, start, shortlist)] if self._fades else []
        timeless = [] if self.index.background is None else [self._background(questions, start, shortlist)]
        if self.spans is None:
            return np.hstack([at_start, *rates, *timeless])
        at_end = self._profile(questions, end, shortlist)
        of_spans = self._intervals(self.spans, _back(questions, start), shortlist)
        return np.hstack([at_start, *rates, at_end, of_spans, *timeless])

    @property
    def _fades(self) -> bool:
        """Whether events that fade with time are added up."""
        return any(getattr(self.index.reach, family) for family in RATED)

    @property
    def graph_feature_names(self) -> list[str]:
        """The names of what the graph says of a candidate, the last of its features."""
        return graph_feature_names(self.spans is not None, self._fades, self.index.background is not None)

    def _background(self, questions: Facts, time: Ids, shortlist: Shortlist) -> Features:
        from foretime.reranker.features.background import background_all  # numba is slow to load

        out = np.zeros((len(shortlist.object), len(BACKGROUND_FEATURES)), dtype=np.float32)
        index, asked = self.index, (questions.subject, questions.predicate, time, *shortlist[:2])
        if index.background is not None:
            given = (index.background.lists, index.events, index.rules, index.reach)
            background_all(*given, *map(np.ascontiguousarray, asked), out, min(RUNS, len(questions)))
        return out if self.exact else quantise(BACKGROUND_FEATURES, out)

    def _rates(self, questions: Facts, time: Ids, shortlist: Shortlist) -> Features:
        from foretime.reranker.features.rates import rates_all  # numba is slow to load

        out = np.zeros((len(shortlist.object), len(RATE_FEATURES)), dtype=np.float32)
        asked = map(np.ascontiguousarray, (questions.subject, questions.predicate, time, *shortlist[:2]))
        rates_all(self.index.events, self.index.rules, self.names, *asked, out, min(RUNS, len(questions)))
        return out

    def _profile(self, questions: Facts, time: Ids, shortlist: Shortlist) -> Features:
        from foretime.reranker.features.profile import profile_all  # numba is slow to load

        out = np.zeros((len(shortlist.object), len(PROFILE_FEATURES)), dtype=np.float32)
        columns = (questions.subject, questions.predicate, time, *shortlist[:2])
        asked = map(np.ascontiguousarray, columns)  # a kernel is compiled anew for each layout
        profile_all(self.index.events, self.names, self.index.reach.past_only, *asked, out, min(RUNS, len(questions)))
        if self.predicate_ids is not None:
            out[:, _PREDICATE] = self.predicate_ids[out[:, _PREDICATE].astype(np.int64)]
        return out if self.exact else quantise(PROFILE_FEATURES, out)

    def _intervals(self, spans: SpanIndex, questions: Facts, shortlist: Shortlist) -> Features:
        from foretime.reranker.features.intervals import STEPS, span_all

        out = np.zeros((len(shortlist.object), len(INTERVAL_FEATURES)), dtype=np.float32)
        columns = (questions.subject, questions.predicate, questions.start, questions.end, *shortlist[:2])
        asked = map(np.ascontiguousarray, columns)
        span_all(spans, self.index.reach.past_only, STEPS, *asked, out, min(RUNS, len(questions)))
        return out if self.exact else quantise(INTERVAL_FEATURES, out)


def _back(questions: Facts, start: Ids) -> Facts:
    """Return questions moved to other first steps, (questions,): an interval keeps its length."""
    back = questions.known_ends()[0] - start
    ends = (np.where(step == UNKNOWN, UNKNOWN, step - back) for step in (questions.start, questions.end))
    return replace(questions, **dict(zip(("start", "end"), ends, strict=True)))


def graph_feature_names(intervals: bool, rates: bool = False, background: bool = False) -> list[str]:
    """Return the names of what the graph says of a candidate, the last of its features.

    `rates` is whether events that fade with time are added up, `background` whether facts without a time are evidence.
    """
    of_intervals = [*(f"{name}{AT_THE_END}" for name in PROFILE_FEATURES), *INTERVAL_FEATURES]
    timeless = BACKGROUND_FEATURES if background else []
    return [*PROFILE_FEATURES, *(RATE_FEATURES if rates else []), *(of_intervals if intervals else []), *timeless]


def score_each_term(model: Model, questions: Facts) -> dict[str, Tensor]:
    """Return the weighted terms of the score of every entity by name, (questions, entities) each.

    The evidence is split into its families. A fact with two ends is scored by the mean of both.
    """
    asked = end_queries(model, questions)
    terms = _terms_at(model, asked.first)
    if len(asked.rows):
        rows = send(asked.rows, model.device)
        for name, later in _terms_at(model, asked.second).items():
            terms[name][rows] = (terms[name][rows] + later) / 2
    return terms


def _terms_at(model: Model, queries: Queries) -> dict[str, Tensor]:
    if not isinstance(model, WithEvidence):
        return {term.name: term.weight * term.scores for term in model.score_terms(queries)}
    terms = {term.name: term.weight * term.scores for term in model.base_terms(queries)}
    return terms | model.evidence.score_families(queries)


def shortlist_of(scores: Tensor, questions: Facts, known: AnswerIndex, top: int) -> Shortlist:
    """Return the best candidates of each question that are not known yet, and behind them the known ones.

    `scores`, (questions, entities), is left as it is.
    """
    row, column = known.answers(questions)
    masked = scores.clone()
    masked[send(row, scores.device), send(column, scores.device)] = -torch.inf
    best, place = (fetch(found) for found in masked.topk(min(top, scores.shape[1]), dim=1))
    open_ = (best > -torch.inf).numpy()
    ranked = open_.sum(1)
    first = np.append(0, np.cumsum(ranked + np.bincount(row, minlength=len(scores))))
    shortlist = Shortlist(first, np.empty(first[-1], dtype=np.int64), ranked)
    shortlist.object[shortlist.is_ranked] = place.numpy()[open_]
    shortlist.object[~shortlist.is_ranked] = column[np.argsort(row, kind="stable")]
    return shortlist


def term_features(terms: dict[str, Tensor], shortlist: Shortlist) -> tuple[list[str], Features]:
    """Return the names and the values of what the base model says of each candidate.

    Of each term and of the whole: the score and how far it is below the best of the shortlist; of the whole also its
    log-probability and the position. Only the chosen scores leave their device.
    """
    total = torch.stack(list(terms.values())).sum(0)
    question, object_ = send(shortlist.question, total.device), send(shortlist.object, total.device)
    own = {"log_probability": torch.log_softmax(total, 1), "score": total, **terms}
    picked = fetch(torch.stack([scores[question, object_] for scores in own.values()])).numpy()
    names, values = ["log_probability"], [picked[0]]
    ranked = shortlist.is_ranked
    for name, chosen in zip(list(own)[1:], picked[1:], strict=True):
        best = np.full(len(shortlist.ranked), -np.inf, dtype=np.float32)
        np.maximum.at(best, shortlist.question[ranked], chosen[ranked])
        names += [name, f"{name}{BELOW}"]
        values += [chosen, best[shortlist.question] - chosen]
    names.append("position")
    values.append(shortlist.place.astype(np.float32))
    return names, np.stack(values, axis=1)
