"""A softmax over predicates, linear in what is known around the two entities: which predicate goes with which."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.data.facts import Ids
from foretime.errors import RunError
from foretime.files import write_bytes
from foretime.reranker.slots.words import TRACE_TOPICS

EPOCHS = 3
LEARNING_RATE = 0.1
FIRST_SQUARE = 1.0
"""What Adagrad begins with, so that a row that is met for the first time takes no large step."""


class Traces(NamedTuple):
    """Rows of questions one after the other: group g of question k has `row[first[3k + g]:first[3k + g + 1]]`."""

    first: NDArray[np.int64]
    row: NDArray[np.int64]


@dataclass(frozen=True)
class PredicateSoftmax:
    """score(p) = the sum of the weights of p in all rows of a question; `weights` is (rows, predicates)."""

    weights: Tensor

    def score(self, traces: Traces) -> Tensor:
        """Return the score of every predicate by topic, (questions, topics, predicates)."""
        bags = torch.nn.functional.embedding_bag(
            torch.from_numpy(traces.row), self.weights, torch.from_numpy(traces.first[:-1]), mode="sum"
        )
        return bags.view(-1, len(TRACE_TOPICS), self.weights.shape[1])

    def score_one(self, traces: Traces, predicate: Ids) -> NDArray[np.float32]:
        """Return the score of one predicate of each question by topic, (questions, topics)."""
        size = np.diff(traces.first)
        own = self.weights.numpy()[traces.row, np.repeat(np.repeat(predicate, len(TRACE_TOPICS)), size)]
        sums = np.append(0.0, np.cumsum(own, dtype=np.float64))
        return np.diff(sums[traces.first]).reshape(-1, len(TRACE_TOPICS)).astype(np.float32)

    def save(self, path: Path) -> None:
        """Write the weights, in half precision."""
        write_bytes(path, safetensors.torch.save({"weights": self.weights.half()}))

    @classmethod
    def load(cls, path: Path, rows: int, predicates: int) -> PredicateSoftmax:
        """Return the softmax in a file; raise `RunError` if it is damaged or of another graph."""
        try:
            weights = safetensors.torch.load(path.read_bytes())["weights"].float()
            if weights.shape != (rows, predicates):
                raise ValueError(f"it has weights of shape {tuple(weights.shape)}")
        except (safetensors.SafetensorError, OSError, KeyError, ValueError) as error:
            raise RunError(
                f"{path}: damaged: {error}; delete it, and foretime train --resume {path.parent} fits it again"
            ) from None
        return cls(weights)


def fit_softmax(traces: Traces, answers: Ids, rows: int, predicates: int, seed: int) -> PredicateSoftmax:
    """Return the softmax under which the answers are most likely; `rows` is the size of its table."""
    from foretime.reranker.slots.softmax_kernel import descend  # numba is slow to load

    weights = np.zeros((rows, predicates), dtype=np.float32)
    squares = np.full_like(weights, FIRST_SQUARE)
    draw = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        order = draw.permutation(len(answers))
        descend(*traces, len(TRACE_TOPICS), answers, order, weights, squares, np.float32(LEARNING_RATE))
    # rounded as the file has them, so that a loaded run scores as the one that was fitted
    return PredicateSoftmax(torch.from_numpy(weights).half().float())
