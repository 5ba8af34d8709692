"""The model of an open slot: a quick first score of all candidates, and trees over the features of the best."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.data.facts import Facts, Ids
from foretime.evaluation.ranks import batches
from foretime.evidence.index import EvidenceIndex
from foretime.reranker.boosted_trees import BoostedTrees
from foretime.reranker.features.names import NameWords
from foretime.reranker.slots.extractors import SlotExtractor, SlotShortlist
from foretime.reranker.slots.softmax import PredicateSoftmax

BATCH = 64


@dataclass(frozen=True)
class SlotModel:
    """Scores the candidates of one open slot."""

    extractor: SlotExtractor
    trees: BoostedTrees

    def on(self, index: EvidenceIndex, words: NameWords) -> SlotModel:
        """Return the same fitted model over other events, and other words of names."""
        return replace(self, extractor=self.extractor.on(index, words))

    def score(self, facts: Facts) -> Tensor:
        """Return the score of every candidate, (facts, candidates); what a fact has in the open slot is ignored."""
        found = [self._score(self.extractor.extract(batch, hidden=False)) for _, batch in batches(facts, BATCH)]
        return torch.cat(found) if found else torch.empty(0, 0)

    def _score(self, shortlist: SlotShortlist) -> Tensor:
        """Return the trees' scores of the shortlist; the others stand behind its last one in the order they had."""
        scores = torch.from_numpy(self.trees.score(shortlist.features)).view(shortlist.chosen.shape)
        last = shortlist.first.gather(1, shortlist.chosen).amin(1, keepdim=True)
        behind = (shortlist.first - last).clamp(max=0.0) - 1e-3
        result = scores.amin(1, keepdim=True) + behind
        return result.scatter(1, shortlist.chosen, scores).float()


@dataclass(frozen=True)
class SlotModels:
    """The models of a run by slot: `predicate`, `time`, and in a graph of intervals `start`."""

    models: dict[str, SlotModel]
    softmax: PredicateSoftmax
    """What all of them read."""
    first: PredicateSoftmax
    """What an entity does, and what is done to it, whoever the other one is: the first of two open slots."""
    lengths: Ids
    """How long the facts of each predicate last, (predicates, quantiles)."""

    def on(self, index: EvidenceIndex, words: NameWords) -> SlotModels:
        """Return the same fitted models over other events, and other words of names."""
        return replace(self, models={slot: model.on(index, words) for slot, model in self.models.items()})

    def predicate_chances(self, facts: Facts, as_subject: bool) -> NDArray[np.float64]:
        """Return how likely each predicate is what the subject of each fact does, or what is done to its object."""
        from foretime.reranker.slots.traces import first_traces_of  # numba is slow to load

        extractor = self.models["predicate"].extractor
        index = extractor.index
        asked, past_only = index.facts_as_of(facts), index.reach.past_only
        traces = first_traces_of(index.events, extractor.words, past_only, asked, as_subject, hidden=False)
        return self.first.chances(traces)
