"""Fitting the softmaxes that the models of open slots read: over predicates, steps, and the first of two slots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph
from foretime.evaluation.ranks import batches
from foretime.evaluation.slots import SlotIndex, at_single_times
from foretime.evidence.index import EvidenceIndex
from foretime.reranker.features.names import NameWords
from foretime.reranker.slots.extractors import StepExtractor, as_known
from foretime.reranker.slots.model import BATCH
from foretime.reranker.slots.softmax import PredicateSoftmax, StepExamples, Traces, fit_softmax, fit_steps
from foretime.reranker.slots.traces import first_rows, first_traces_of, table_size, traces_of
from foretime.reranker.slots.words import TRACE_TOPICS

FOLDS = 3
PREDICATE_FACTS, STEP_FACTS, FIRST_FACTS = 300_000, 24_000, 25_000
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

    def fit_steps(self, fold: Ids) -> list[PredicateSoftmax]:
        """Return a softmax over steps without each fold of train, and one on all of it."""
        rows = self._draw(len(self.graph.train), STEP_FACTS)
        examples, source = self._step_examples(self.graph.train.take(rows))
        of_fold = fold[rows][source]
        return [
            fit_steps(examples, np.flatnonzero(of_fold != number), self._shape, self.seed)
            for number in range(FOLDS + 1)
        ]

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

    def _step_examples(self, facts: Facts) -> tuple[StepExamples, Ids]:
        """Return the candidate steps of facts whose own is among them, and the row of the fact of each question."""
        nothing = PredicateSoftmax.empty()
        extractor = StepExtractor(self.index, self.words, nothing, nothing)
        known = SlotIndex(self.graph, "time", self.graph.train)
        asked, source = at_single_times(facts), _sources(facts)
        parts: list[tuple[NDArray[np.int64], ...]] = []
        for rows, batch in batches(asked, BATCH):
            first, chosen_, _ = extractor.choose(batch, hidden=True)
            chosen = chosen_.numpy()
            right = chosen == batch.start[:, None]
            other = np.take_along_axis(as_known(known.find(batch), (len(batch), first.shape[1])), chosen, 1) & ~right
            kept = ~other & right.any(1)[:, None]
            length, row = _rows_of(extractor.traces(batch, chosen, hidden=True), kept.reshape(-1))
            found = right.any(1)
            answered = (kept.sum(1)[found], batch.predicate[found], source[rows][found])
            parts.append((length, row, right[kept].astype(np.int8), *answered))
        length, row, right, sizes, predicate, of_fact = (
            np.concatenate(columns) for columns in zip(*parts, strict=True)
        )
        first_of = [np.append(0, np.cumsum(counts)) for counts in (length, sizes)]
        return StepExamples(first_of[0], row.astype(np.int32), right, first_of[1], predicate), of_fact


def _sources(facts: Facts) -> Ids:
    """Return the row of the fact that each of `at_single_times` comes from."""
    numbered = Facts(np.arange(len(facts)), facts.predicate, facts.object, facts.start, facts.end)
    return at_single_times(numbered).subject


def _rows_of(traces: Traces, kept: NDArray[np.bool_]) -> tuple[Ids, Ids]:
    """Return how many rows each kept step has between the two and with others, and these rows."""
    groups = traces.first[:-1].reshape(-1, len(TRACE_TOPICS))[kept]
    begin, size = groups[:, 0], groups[:, 2] - groups[:, 0]  # what holds in general is the same at all steps
    place = np.arange(size.sum()) + np.repeat(begin - (np.cumsum(size) - size), size)
    return size, traces.row[place]
