"""The models of open slots under other names: the tables of their softmaxes with rows and columns moved."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from foretime.data.facts import Ids
from foretime.evidence.carrying import PredicateMap
from foretime.evidence.index import EvidenceIndex
from foretime.reranker.features.names import NameWords
from foretime.reranker.slots.model import SlotModels
from foretime.reranker.slots.softmax import PredicateSoftmax


class OtherNames(NamedTuple):
    """The trained id of each predicate, entity and word of a name in another graph, −1 for those without one."""

    predicates: PredicateMap
    entities: Ids
    words: Ids
    trained_entities: int
    trained_words: int


def carry_slots(slots: SlotModels, names: OtherNames, index: EvidenceIndex, words: NameWords) -> SlotModels:
    """Return the same fitted models for another graph; `index` and `words` are its own.

    A predicate that was not trained scores as much as the trained ones do on average. What has no row of its own, such
    as a new entity, adds nothing to any score.
    """
    from foretime.reranker.slots.traces import BETWEEN, OTHERS, own_rows  # numba is slow to load

    trained = min(names.trained_entities, own_rows(names.trained_entities, names.predicates.trained))
    here = own_rows(len(names.entities), names.predicates.predicates)
    entities = np.where(names.entities < trained, names.entities, -1)[:here]
    old = 2 * names.predicates.trained
    # what the subject does with others, and then what the object does
    between, others = ((names.predicates.ids, size, old) for size in (BETWEEN, OTHERS // 2))
    general, of_entity = (np.zeros(1, dtype=np.int64), 1, 1), (entities, 1, trained)
    of_word = (names.words, 1, names.trained_words)
    pairs = [between, others, others, general, of_entity, of_entity, of_word, of_word]
    softmax = _carry(slots.softmax, _rows(pairs), names.predicates)
    first = _carry(slots.first, _rows([between, general, of_entity, of_word] * 2), names.predicates)
    models = {
        slot: replace(model, extractor=replace(model.extractor, index=index, words=words, softmax=softmax))
        for slot, model in slots.models.items()
    }
    return SlotModels(models, softmax, first, _lengths(slots.lengths, names.predicates))


def _rows(blocks: list[tuple[Ids, int, int]]) -> Ids:
    """Return the trained row of each row, −1 where there is none.

    A block is the trained place of each of its members, the rows of a member, and how many members were trained.
    """
    found, begin = [], 0
    for ids, size, trained in blocks:
        rows = np.where(ids[:, None] < 0, -1, begin + ids[:, None] * size + np.arange(size))
        found.append(rows.reshape(-1))
        begin += trained * size
    return np.concatenate(found)


def _carry(softmax: PredicateSoftmax, rows: Ids, predicates: PredicateMap) -> PredicateSoftmax:
    ids = predicates.ids[: predicates.predicates]
    if len(rows) == len(softmax.weights) and predicates.is_identity and np.array_equal(rows, np.arange(len(rows))):
        return softmax
    weights = softmax.weights.index_select(0, torch.from_numpy(np.maximum(rows, 0)))
    weights[torch.from_numpy(np.flatnonzero(rows < 0))] = 0.0
    if not predicates.is_identity:
        usual = weights.mean(1, keepdim=True)
        weights = weights.index_select(1, torch.from_numpy(np.maximum(ids, 0)))
        weights[:, torch.from_numpy(np.flatnonzero(ids < 0))] = usual
    return PredicateSoftmax(weights)


def _lengths(lengths: Ids, predicates: PredicateMap) -> Ids:
    """Return how long the facts of each predicate last; one that was not trained has the usual ones of all."""
    ids = predicates.ids[: predicates.predicates]
    usual = np.quantile(lengths, (np.arange(lengths.shape[1]) + 0.5) / lengths.shape[1], method="nearest")
    return np.where((ids < 0)[:, None], usual.astype(np.int64), lengths[np.maximum(ids, 0)])
