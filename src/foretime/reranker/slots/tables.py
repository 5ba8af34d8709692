"""Fitting the softmaxes that the models of open slots read: over predicates, and over the first of two slots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph
from foretime.evidence.index import EvidenceIndex
from foretime.reranker.features.names import NameWords
from foretime.reranker.slots.softmax import PredicateSoftmax, Traces, fit_softmax
from foretime.reranker.slots.traces import first_rows, first_traces_of, table_size, traces_of

FOLDS = 3
PREDICATE_FACTS, FIRST_FACTS = 300_000, 80_000
"""Facts that each softmax is fitted on at most."""


@dataclass(frozen=True)
class TableFitter:
    """Fits softmaxes on the training facts of a graph, each fact hidden from its own question."""

    graph: Graph
    index: EvidenceIndex
    words: NameWords
    seed: int

    def fit_predicates(self, fold: Ids) -> list[PredicateSoftmax]:
        """Return a softmax over predicates without each fold of train, and one on all of it."""
        return [self._predicates(self.graph.train.take(fold != number)) for number in range(FOLDS + 1)]

    def fit_first(self) -> PredicateSoftmax:
        """Return the softmax of what an entity does, and of what is done to it, whoever the other one is."""
        facts = self.graph.train.take(self._draw(len(self.graph.train), FIRST_FACTS))
        events, past_only = self.index.events, self.index.reach.past_only
        both = [first_traces_of(events, self.words, past_only, facts, side, hidden=True) for side in (True, False)]
        first = np.concatenate([both[0].first[:-1], both[0].first[-1] + both[1].first])
        traces = Traces(first, np.concatenate([both[0].row, both[1].row]))
        shape = (2 * first_rows(events, self.words), len(self.graph.predicates))
        return fit_softmax(traces, np.tile(facts.predicate, 2), shape, self.seed, groups=1)

    @property
    def _shape(self) -> tuple[int, int]:
        return table_size(self.index.events, self.words), len(self.graph.predicates)

    def _predicates(self, facts: Facts) -> PredicateSoftmax:
        facts = facts.take(self._draw(len(facts), PREDICATE_FACTS))
        traces = traces_of(self.index.events, self.words, self.index.reach.past_only, facts, hidden=True)
        return fit_softmax(traces, facts.predicate, self._shape, self.seed)

    def _draw(self, facts: int, count: int) -> Ids:
        """Return the rows of as many facts, drawn at random; of all if there are no more."""
        return np.random.default_rng(self.seed).permutation(facts)[:count]
