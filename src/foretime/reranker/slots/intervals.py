"""The interval of a fact: where it starts by a model of its own, and how long such facts last.

The interval predicted is the one that overlaps best with what may be true: it has the highest expected aeIoU, the
overlap of two intervals (at least one step) divided by the steps from the first start to the last end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.evaluation.interval_overlap import aeiou
from foretime.evaluation.ranks import batches
from foretime.reranker.slots.model import BATCH, SlotModel

QUANTILES = 15
"""Into how many equally frequent lengths those of a predicate are summed up."""
FEWEST = 5
"""A predicate with fewer known lengths has those of all."""
STARTS = 24
"""The likeliest starts that are looked at."""


@dataclass(frozen=True)
class IntervalModel:
    """A model of the start, and the lengths of each predicate, (predicates, quantiles): all equally likely."""

    start: SlotModel
    lengths: Ids

    def predict(self, facts: Facts) -> tuple[Ids, Ids]:
        """Return the first and the last step of each fact, (facts,) each; those that it has are ignored."""
        found = [np.empty((0, 2), dtype=np.int64)]
        for _, batch in batches(facts, BATCH):
            scores, starts = self.start.score(batch).topk(min(STARTS, self._steps), 1)
            chances = torch.softmax(scores, 1).double().numpy()
            rows = zip(starts.numpy(), chances, self.lengths[batch.predicate], strict=True)
            found.append(np.stack([best_interval(*row) for row in rows]))
        start, end = np.concatenate(found).T
        return start, np.minimum(end, self._steps - 1)

    @property
    def _steps(self) -> int:
        return self.start.extractor.index.events.steps


def best_interval(starts: Ids, chances: NDArray[np.float64], lengths: Ids) -> tuple[int, int]:
    """Return the interval with the highest expected aeIoU, among those of a likely start and a usual length."""
    lengths, often = np.unique(lengths, return_counts=True)
    begin, end = (column.reshape(-1) for column in np.broadcast_arrays(starts[:, None], starts[:, None] + lengths))
    weight = (chances[:, None] * often / often.sum()).reshape(-1)
    expected = aeiou(begin[:, None], end[:, None], begin, end) @ weight
    best = int(expected.argmax())
    return int(begin[best]), int(end[best])


def lengths_of(facts: Facts, predicates: int) -> Ids:
    """Return the lengths of the facts of each predicate in steps, the last minus the first: (predicates, quantiles)."""
    known = (facts.start != UNKNOWN) & (facts.end >= facts.start)
    length, predicate = (facts.end - facts.start)[known], facts.predicate[known]
    at = (np.arange(QUANTILES) + 0.5) / QUANTILES
    everywhere = length if len(length) else np.zeros(1, dtype=np.int64)
    rows = []
    for each in range(predicates):
        own = length[predicate == each]
        rows.append(np.quantile(own if len(own) >= FEWEST else everywhere, at, method="nearest"))
    return np.stack(rows).astype(np.int64)
