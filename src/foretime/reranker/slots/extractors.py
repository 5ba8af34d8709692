"""The candidates of an open slot that are worth a closer look, and their features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph
from foretime.evaluation.slots import Slot
from foretime.evidence.index import EvidenceIndex
from foretime.reranker.features.extractor import RUNS, Features
from foretime.reranker.features.names import NameWords
from foretime.reranker.quantising import quantise
from foretime.reranker.slots.softmax import PredicateSoftmax
from foretime.reranker.slots.words import BEHIND, COUNTED_OF_PREDICATES, COUNTED_OF_STEPS, PREDICATE, TIME, TRACE_TOPICS

PREDICATES_AT_MOST = 60
STEPS_AT_MOST = 128
NOTHING_HIDDEN = -1


class SlotShortlist(NamedTuple):
    """The first score of all candidates, (facts, candidates), the best of them, (facts, chosen), and their features.

    Features are (facts × chosen, features), those of a fact one after the other.
    """

    first: Tensor
    chosen: Tensor
    features: Features


@dataclass(frozen=True)
class SlotExtractor(ABC):
    """Extracts the features of the best candidates for one slot."""

    slot: ClassVar[Slot]
    all_names: ClassVar[tuple[str, ...]]
    index: EvidenceIndex
    words: NameWords
    softmax: PredicateSoftmax
    fitted_on: tuple[str, ...] | None = None
    """The features that trees of an earlier version know; all of them if None."""

    @property
    def names(self) -> tuple[str, ...]:
        """The features that are extracted, in this order."""
        return self.all_names if self.fitted_on is None else self.fitted_on

    def on(self, index: EvidenceIndex, words: NameWords) -> Self:
        """Return the same over other events, and other words of names."""
        return replace(self, index=index, words=words)

    @abstractmethod
    def extract(self, facts: Facts, hidden: bool) -> SlotShortlist:
        """Return the best candidates of facts with that slot open; `hidden`: the facts themselves are not seen."""


class PredicateExtractor(SlotExtractor):
    """The best predicates of `(s, ?, o, t)` by the softmax."""

    slot: ClassVar[Slot] = "predicate"
    all_names: ClassVar[tuple[str, ...]] = tuple(PREDICATE)

    def extract(self, facts: Facts, hidden: bool) -> SlotShortlist:
        """Return the predicates that the softmax finds most likely."""
        from foretime.reranker.slots.traces import traces_of  # numba is slow to load

        facts, past_only = self.index.facts_as_of(facts), self.index.reach.past_only
        by_topic = self.softmax.score(traces_of(self.index.events, self.words, past_only, facts, hidden))
        total = by_topic.sum(1)  # (facts, predicates)
        chosen = total.topk(min(PREDICATES_AT_MOST, total.shape[1]), 1).indices
        scores = {f"{topic}_score": by_topic[:, place] for place, topic in enumerate(TRACE_TOPICS)} | {
            "total_score": total
        }
        features = {"log_probability": torch.log_softmax(total, 1).gather(1, chosen)}
        for name, values in scores.items():
            features |= _with_distance(name, values.gather(1, chosen))
        counted = dict(zip(COUNTED_OF_PREDICATES, self._counts(facts, chosen.numpy(), hidden).T, strict=True))
        columns = counted | {name: values.reshape(-1).numpy() for name, values in features.items()}
        return SlotShortlist(total, chosen, np.stack([columns[name] for name in self.names], axis=1))

    def _counts(self, facts: Facts, chosen: Ids, hidden: bool) -> Features:
        from foretime.reranker.slots.predicates import predicate_features  # numba is slow to load

        own = facts.predicate if hidden else np.full(len(facts), NOTHING_HIDDEN)
        out = np.zeros((*chosen.shape, len(COUNTED_OF_PREDICATES)), dtype=np.float32)
        asked = map(np.ascontiguousarray, (facts.subject, facts.object, facts.known_ends()[0], own, chosen))
        predicate_features(self.index.events, self.index.reach.past_only, *asked, out, min(RUNS, len(facts)))
        return quantise(COUNTED_OF_PREDICATES, out.reshape(-1, len(COUNTED_OF_PREDICATES)))


class StepExtractor(SlotExtractor):
    """The best steps of `(s, p, o, ?)` by how much happens between and around the two."""

    slot: ClassVar[Slot] = "time"
    all_names: ClassVar[tuple[str, ...]] = tuple(TIME)

    def extract(self, facts: Facts, hidden: bool) -> SlotShortlist:
        """Return the steps with the highest first score; a hidden fact is hidden at its own time."""
        own = facts.known_ends()[0] if hidden else np.full(len(facts), NOTHING_HIDDEN)
        first, counted = self._counts(facts, own)
        chosen = first.topk(min(STEPS_AT_MOST, first.shape[1]), 1).indices
        picked = np.take_along_axis(counted, chosen.numpy()[:, :, None], 1).reshape(-1, len(COUNTED_OF_STEPS))
        features = dict(zip(COUNTED_OF_STEPS, quantise(COUNTED_OF_STEPS, picked).T, strict=True))
        for name, values in self._scores(facts, chosen.numpy(), own).items():
            features |= {key: column.reshape(-1).numpy() for key, column in _with_distance(name, values).items()}
        return SlotShortlist(first, chosen, np.stack([features[name] for name in self.names], axis=1))

    def _counts(self, facts: Facts, own: Ids) -> tuple[Tensor, Features]:
        from foretime.reranker.slots.steps import step_features  # numba is slow to load

        steps, past_only = self.index.events.steps, self.index.reach.past_only
        out = np.zeros((len(facts), steps, len(COUNTED_OF_STEPS)), dtype=np.float32)
        first = np.zeros((len(facts), steps), dtype=np.float32)
        asked = map(np.ascontiguousarray, (facts.subject, facts.predicate, facts.object, own))
        step_features(self.index.events, self.words, past_only, *asked, out, first, min(RUNS, len(facts)))
        return torch.from_numpy(first), out

    def _scores(self, facts: Facts, chosen: Ids, own: Ids) -> dict[str, Tensor]:
        """Return what usually goes with the events between the two, and with others, around each chosen step."""
        from foretime.reranker.slots.traces import traces_of

        row, step = np.repeat(np.arange(len(facts)), chosen.shape[1]), chosen.reshape(-1)
        asked = replace(facts.take(row), start=step, end=step)
        traces = traces_of(self.index.events, self.words, self.index.reach.past_only, asked, True, own[row])
        scores = torch.from_numpy(self.softmax.score_one(traces, asked.predicate)).view(*chosen.shape, -1)
        found = {f"{topic}_score": scores[:, :, place] for place, topic in enumerate(TRACE_TOPICS[:2])}
        if "log_probability" in self.names:
            found["log_probability"] = self.softmax.log_probability(traces, asked.predicate).view(chosen.shape)
        return found


def _with_distance(name: str, values: Tensor) -> dict[str, Tensor]:
    """Return scores, (facts, chosen), and how far each is behind the best of its fact."""
    return {name: values, f"{name}{BEHIND}": values.max(1, keepdim=True).values - values}


def as_known(pairs: tuple[Ids, Ids], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return pairs of a row and a column as a mask."""
    mask = np.zeros(shape, dtype=bool)
    mask[pairs[0], pairs[1]] = True
    return mask


EXTRACTORS: dict[str, type[SlotExtractor]] = {
    "predicate": PredicateExtractor,
    "time": StepExtractor,
    "start": StepExtractor,
}
"""The extractor of each slot that has a model; the start is that of an interval."""


def extractors_of(graph: Graph) -> dict[str, type[SlotExtractor]]:
    """Return the extractors of the models that a graph has: only one of intervals has starts."""
    return {slot: make for slot, make in EXTRACTORS.items() if slot != "start" or graph.has_intervals}
