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
from foretime.files import read_bytes, write_bytes
from foretime.reranker.slots.words import TRACE_TOPICS

SCORES_AT_ONCE = 1 << 22
"""Scores of questions, topics and predicates that are held together: 16 megabytes."""
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

    def log_probability(self, traces: Traces, predicate: Ids) -> Tensor:
        """Return the log-probability of one predicate of each question, (questions,).

        So many questions are scored at a time that memory does not grow with the predicates.
        """
        topics = len(TRACE_TOPICS)
        size, found = max(1, SCORES_AT_ONCE // (topics * self.weights.shape[1])), [torch.empty(0)]
        for begin in range(0, len(predicate), size):
            first, own = traces.first[topics * begin :][: topics * size + 1], torch.from_numpy(predicate[begin:][:size])
            scores = self.score(Traces(first - first[0], traces.row[first[0] : first[-1]])).sum(1)
            found.append(torch.log_softmax(scores, 1).gather(1, own[:, None])[:, 0])
        return torch.cat(found)

    def chances(self, traces: Traces) -> NDArray[np.float64]:
        """Return the probability of every predicate where rows are in one group, (questions, predicates)."""
        rows, first = torch.from_numpy(traces.row), torch.from_numpy(traces.first[:-1])
        scores = torch.nn.functional.embedding_bag(rows, self.weights, first, mode="sum")
        return torch.softmax(scores, 1).double().numpy()

    def score_one(self, traces: Traces, predicate: Ids) -> NDArray[np.float32]:
        """Return the score of one predicate of each question by topic, (questions, topics)."""
        size = np.diff(traces.first)
        own = self.weights.numpy()[traces.row, np.repeat(np.repeat(predicate, len(TRACE_TOPICS)), size)]
        sums = np.append(0.0, np.cumsum(own, dtype=np.float64))
        return np.diff(sums[traces.first]).reshape(-1, len(TRACE_TOPICS)).astype(np.float32)


def save_softmaxes(path: Path, softmaxes: dict[str, PredicateSoftmax]) -> None:
    """Write the weights of several by name, in half precision."""
    write_bytes(path, safetensors.torch.save({name: each.weights.half() for name, each in softmaxes.items()}))


def load_softmaxes(path: Path, shapes: dict[str, tuple[int, int]]) -> dict[str, PredicateSoftmax]:
    """Return those in a file by name; raise `RunError` if it is damaged or of another graph."""
    try:
        tensors = safetensors.torch.load(read_bytes(path))
        for name, shape in shapes.items():
            found = tensors[name]
            if found.shape != shape or found.dtype != torch.float16:
                raise ValueError(f"{name} has the shape {tuple(found.shape)} and the type {found.dtype}")
            if not bool(torch.isfinite(found).all()):
                raise ValueError(f"{name} has values that are not finite")
        return {name: PredicateSoftmax(tensors[name].float()) for name in shapes}
    except (safetensors.SafetensorError, OSError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise RunError(
            f"{path}: damaged: {error}; delete it, and foretime train --resume {path.parent} fits it again"
        ) from None


def fit_softmax(
    traces: Traces, answers: Ids, shape: tuple[int, int], seed: int, groups: int = len(TRACE_TOPICS)
) -> PredicateSoftmax:
    """Return the softmax under which the answers are most likely; `shape` is that of its weights."""
    from foretime.reranker.slots.softmax_kernel import descend  # numba is slow to load

    weights = np.zeros(shape, dtype=np.float32)
    squares = np.full_like(weights, FIRST_SQUARE)
    draw = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        order = draw.permutation(len(answers))
        descend(*traces, groups, answers, order, weights, squares, np.float32(LEARNING_RATE))
    # rounded as the file has them, so that a loaded run scores as the one that was fitted
    return PredicateSoftmax(torch.from_numpy(weights).half().float())
