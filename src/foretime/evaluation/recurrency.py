"""The recurrency baseline of forecasts: what happened will happen again.

Gastinger et al., "History Repeats Itself: A Baseline for Temporal Knowledge Graph Forecasting", IJCAI 2024:

    strict   ψ(s, r, o, t) = Σ Δ(k, t) over the steps k of (s, r, o) / Σ Δ(k, t) over all steps k
    relaxed  ξ(r, o)       = events (x, r, o) / events (x, r, z)
    both     α ψ + (1 − α) ξ,   with Δ(k, t) = 2^(λ (k − t))

All events are before t and, where all is asked from one day, before that day. Each relation has its own λ and α, and so
has its inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph
from foretime.evaluation.filters import AnswerIndex, questions_of
from foretime.evaluation.metrics import Metrics
from foretime.evaluation.ranks import rank

DECAYS = (0.0, *(2.0**-power for power in range(12, -1, -1)))
"""The λ to choose from: none, and half-lives from 4,096 steps down to a single one, each half the one before.

A relation without a valid question has the last.
"""
MIXES = (0.0, *(1 / (1 + 10.0**power) for power in range(5, -6, -1)), 1.0)
"""The α to choose from: either part alone, and ψ to ξ as 1 to 100,000, 1 to 10,000 … 1 to 1 … 100,000 to 1.

A relation without a valid question has the last but one.
"""
Floats = NDArray[np.float64]


class RecurrencyIndex(NamedTuple):
    """Events with inverses, sorted by subject and predicate, and by predicate; within these by time.

    `key` is (subject) · (all predicates) + (predicate). Predicate p has the events `first[p] …` of the second order.
    """

    key: Ids
    object: Ids
    time: Ids
    first: Ids
    relation_object: Ids
    relation_time: Ids
    steps: Ids
    """Every step with an event."""

    @classmethod
    def of(cls, facts: Facts, predicates: int) -> RecurrencyIndex:
        """Return the events of facts, sorted; `predicates` counts them without inverses."""
        events = facts.with_inverses(predicates).events()
        by_pair = np.lexsort([events.time, events.predicate, events.subject])
        by_relation = np.lexsort([events.time, events.predicate])
        return cls(
            (events.subject * 2 * predicates + events.predicate)[by_pair],
            events.object[by_pair],
            events.time[by_pair],
            np.searchsorted(events.predicate[by_relation], np.arange(2 * predicates + 1)),
            events.object[by_relation],
            events.time[by_relation],
            np.unique(events.time),
        )


@dataclass(frozen=True)
class RecurrencyBaseline:
    """Scores every entity by how often it has answered before; `decay` and `mix` are λ and α of each relation."""

    graph: Graph
    index: RecurrencyIndex
    decay: Floats
    mix: Floats
    until: int | None = None
    """The first step that is not seen, whatever is asked; nothing: that of the question."""

    @classmethod
    def of(cls, graph: Graph, facts: Facts, until: int | None = None) -> RecurrencyBaseline:
        """Return the baseline with its defaults over some facts."""
        predicates = len(graph.predicates)
        relations, index = 2 * predicates, RecurrencyIndex.of(facts, predicates)
        return cls(graph, index, np.full(relations, DECAYS[-1]), np.full(relations, MIXES[-2]), until)

    def score(self, questions: Facts) -> Tensor:
        """Return the scores of all entities as objects of the questions, (questions, entities)."""
        from foretime.evaluation.recurrency_kernel import score_all  # numba is slow to load

        time = questions.known_ends()[0]
        until = time if self.until is None else np.minimum(time, self.until)
        order = np.lexsort([time, until, questions.predicate])
        out = np.zeros((len(questions), len(self.graph.entities)))
        asked = (questions.subject, questions.predicate, time, until, order)
        score_all(*self.index, *asked, self.decay, self.mix, out)
        return torch.from_numpy(out)

    def choose(self, facts: Facts) -> RecurrencyBaseline:
        """Return the baseline with the λ of each relation that is best alone for some facts, and then the best α."""
        every = np.ones_like(self.decay)
        decay = self._best(facts, DECAYS, lambda value: replace(self, mix=every, decay=value * every), self.decay)
        mix = self._best(facts, MIXES, lambda value: replace(self, decay=decay, mix=value * every), self.mix)
        return replace(self, decay=decay, mix=mix)

    def _best(
        self,
        facts: Facts,
        values: Sequence[float],
        make: Callable[[float], RecurrencyBaseline],
        default: Floats,
    ) -> Floats:
        """Return for each relation the value with the best MRR, the default where it is not asked about."""
        questions = questions_of(facts, len(self.graph.predicates))
        index = AnswerIndex.of(self.graph)
        asked = np.bincount(questions.predicate, minlength=len(default))
        sums = np.empty((len(values), len(default)))
        for row, value in enumerate(values):
            reciprocal = 1 / rank(make(value).score, questions, index).realistic
            sums[row] = np.bincount(questions.predicate, reciprocal, minlength=len(default))
        return np.where(asked > 0, np.array(values)[sums.argmax(0)], default)


def evaluate_baseline(baseline: RecurrencyBaseline, split: str) -> Metrics:
    """Return the metrics of the baseline on a split: time-aware filter, both directions, ties by the mean."""
    questions = questions_of(baseline.graph.facts(split), len(baseline.graph.predicates))
    return Metrics.of(rank(baseline.score, questions, AnswerIndex.of(baseline.graph)).realistic)
