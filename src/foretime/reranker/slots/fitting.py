"""Fitting the models of open slots on training facts, each hidden from its own question.

A softmax has learned its training facts by heart, so the trees learn from what softmaxes say that were fitted without
the facts in question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from foretime.config import Config
from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.data.graph import Graph
from foretime.evaluation.ranks import batches
from foretime.evaluation.slots import SlotIndex, at_single_times
from foretime.evidence.index import EvidenceIndex
from foretime.reranker.features.names import NameWords
from foretime.reranker.slots.extractors import SlotExtractor, as_known, extractors_of
from foretime.reranker.slots.intervals import lengths_of
from foretime.reranker.slots.model import BATCH, SlotModel, SlotModels
from foretime.reranker.slots.tables import FOLDS, TableFitter
from foretime.reranker.slots.trees import SlotExamples, fit_trees

FACTS_AT_MOST = {"predicate": 40_000, "time": 40_000, "start": 12_000}
"""Facts that the trees of each slot are fitted on, drawn by the seed."""


def fit_slot_models(
    graph: Graph, index: EvidenceIndex, words: NameWords, config: Config, announce: Callable[[str], None]
) -> SlotModels:
    """Return the fitted models; `words` are those of the names."""
    seed, threads = config.training.seed, config.training.threads
    draw = np.random.default_rng([seed, FOLDS])
    fold = draw.permutation(len(graph.train)) % FOLDS
    tables = TableFitter(graph, index, words, seed)
    announce("fitting the softmax over predicates")
    softmaxes = tables.fit_predicates(fold)
    models = {}
    for slot, make in extractors_of(graph).items():
        # the last one is fitted on all folds
        *without, extractor = (make(index, words, softmax) for softmax in softmaxes)
        chosen = draw.permutation(len(graph.train))[: FACTS_AT_MOST[slot]]
        announce(f"fitting the model of the {slot} on {len(chosen):,} facts")
        examples = examples_of(slot, without, graph, chosen, fold)
        models[slot] = SlotModel(extractor, fit_trees(extractor.names, examples, config.reranker, seed, threads))
    announce("fitting the softmax over the first of two open slots")
    lengths = lengths_of(graph.train, len(graph.predicates))
    return SlotModels(models, softmaxes[-1], tables.fit_first(), lengths)


def examples_of(slot: str, without: Sequence[SlotExtractor], graph: Graph, chosen: Ids, fold: Ids) -> SlotExamples:
    """Return the candidates of training facts, each fact asked of the extractor that was fitted without its fold."""
    return _join(
        [
            some
            for number, own in enumerate(without)
            for some in _examples(slot, own, graph, graph.train.take(chosen[fold[chosen] == number]))
        ]
    )


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
        yield SlotExamples([shortlist.features[kept.reshape(-1)]], right[kept].astype(np.int8), sizes[sizes > 0])


def _asked(slot: str, facts: Facts) -> Facts:
    """Return the facts that have an answer: at a single time if that is asked for."""
    if slot == "start":
        return facts.take(facts.start != UNKNOWN)
    return at_single_times(facts) if slot == "time" else facts


def _join(examples: list[SlotExamples]) -> SlotExamples:
    """Return all examples; features stay an array for each batch: joined, they would be there twice for a while."""
    features, right, sizes = zip(*examples, strict=True)
    return SlotExamples([batch for some in features for batch in some], np.concatenate(right), np.concatenate(sizes))
