"""Fitting the models of open slots on training facts, each hidden from its own question.

The softmax over predicates has learned its training facts by heart, so the trees learn from what a softmax says that
was fitted without the folds in question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from foretime.config import Config
from foretime.data.facts import UNKNOWN, Facts
from foretime.data.graph import Graph
from foretime.evaluation.ranks import batches
from foretime.evaluation.slots import SlotIndex, at_single_times
from foretime.evidence.index import EvidenceIndex
from foretime.reranker.features.names import NameWords
from foretime.reranker.slots.extractors import SlotExtractor, as_known, extractors_of
from foretime.reranker.slots.intervals import lengths_of
from foretime.reranker.slots.model import BATCH, SlotModel, SlotModels
from foretime.reranker.slots.softmax import PredicateSoftmax, Traces, fit_softmax
from foretime.reranker.slots.traces import first_rows, first_traces_of, table_size, traces_of
from foretime.reranker.slots.trees import SlotExamples, fit_trees

FOLDS = 3
FACTS_AT_MOST = {"predicate": 20_000, "time": 12_000, "start": 12_000}
"""Facts that the trees of each slot are fitted on, drawn by the seed."""
SOFTMAX_FACTS, FIRST_FACTS = 300_000, 25_000


def fit_slot_models(
    graph: Graph, index: EvidenceIndex, words: NameWords, config: Config, announce: Callable[[str], None]
) -> SlotModels:
    """Return the fitted models; `words` are those of the names."""
    draw = np.random.default_rng([config.training.seed, FOLDS])
    fold = draw.permutation(len(graph.train)) % FOLDS

    def softmax_on(facts: Facts) -> PredicateSoftmax:
        return _fit_softmax(graph, index, words, facts, config.training.seed)

    without = []
    for number in range(FOLDS):
        announce(f"fitting the models of predicate and time: fold {number + 1} of {FOLDS}")
        without.append(softmax_on(graph.train.take(fold != number)))
    softmax = softmax_on(graph.train)
    models = {}
    for slot, make in extractors_of(graph).items():
        extractor = make(index, words, softmax)
        chosen = draw.permutation(len(graph.train))[: FACTS_AT_MOST[slot]]
        by_fold = [
            (replace(extractor, softmax=own), graph.train.take(chosen[fold[chosen] == number]))
            for number, own in enumerate(without)
        ]
        announce(f"fitting the model of the {slot} on {len(chosen):,} facts")
        examples = _join([some for own, facts in by_fold for some in _examples(slot, own, graph, facts)])
        trees = fit_trees(
            slot, extractor.names, examples, config.reranker, config.training.seed, config.training.threads
        )
        models[slot] = SlotModel(extractor, trees)
    announce("fitting the model of the first of two open slots")
    first = _fit_first(graph, index, words, config.training.seed)
    return SlotModels(models, softmax, first, lengths_of(graph.train, len(graph.predicates)))


def _fit_softmax(graph: Graph, index: EvidenceIndex, words: NameWords, facts: Facts, seed: int) -> PredicateSoftmax:
    facts = _sample(facts, SOFTMAX_FACTS, seed)
    traces = traces_of(index.events, words, index.reach.past_only, facts, hidden=True)
    return fit_softmax(traces, facts.predicate, (table_size(index.events, words), len(graph.predicates)), seed)


def _fit_first(graph: Graph, index: EvidenceIndex, words: NameWords, seed: int) -> PredicateSoftmax:
    """Return the softmax of what an entity does, and of what is done to it, whoever the other one is."""
    facts = _sample(graph.train, FIRST_FACTS, seed)
    both = [
        first_traces_of(index.events, words, index.reach.past_only, facts, as_subject, hidden=True)
        for as_subject in (True, False)
    ]
    traces = Traces(
        np.concatenate([both[0].first[:-1], both[0].first[-1] + both[1].first]),
        np.concatenate([both[0].row, both[1].row]),
    )
    shape = (2 * first_rows(index.events, words), len(graph.predicates))
    return fit_softmax(traces, np.tile(facts.predicate, 2), shape, seed, groups=1)


def _sample(facts: Facts, count: int, seed: int) -> Facts:
    """Return as many facts, drawn at random; all of them if there are no more."""
    if len(facts) <= count:
        return facts
    return facts.take(np.random.default_rng(seed).choice(len(facts), count, replace=False))


def _examples(slot: str, extractor: SlotExtractor, graph: Graph, facts: Facts) -> Iterator[SlotExamples]:
    """Yield the candidates of facts whose right one is on the shortlist, without other answers that train has."""
    known = SlotIndex(graph, extractor.slot, graph.train)
    facts = _asked(slot, facts)
    for _, batch in batches(facts, BATCH):
        shortlist = extractor.extract(batch, hidden=True)
        answer = batch.start if extractor.slot == "time" else batch.predicate
        chosen = shortlist.chosen.numpy()
        right = chosen == answer[:, None]
        other = np.take_along_axis(as_known(known.find(batch), tuple(shortlist.first.shape)), chosen, 1) & ~right
        kept = ~other & right.any(1)[:, None]
        sizes = kept.sum(1)
        yield SlotExamples(shortlist.features[kept.reshape(-1)], right[kept].astype(np.int8), sizes[sizes > 0])


def _asked(slot: str, facts: Facts) -> Facts:
    """Return the facts that have an answer: at a single time if that is asked for."""
    if slot == "start":
        return facts.take(facts.start != UNKNOWN)
    return at_single_times(facts) if slot == "time" else facts


def _join(examples: list[SlotExamples]) -> SlotExamples:
    return SlotExamples(*(np.concatenate(columns) for columns in zip(*examples, strict=True)))
