"""Ranks: the place of the true answer among all entities, for any scorer, without a loop over questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.data.facts import Facts, Ids
from foretime.devices import fetch, send
from foretime.errors import ForetimeError
from foretime.evaluation.filters import AnswerIndex, AnswerPairs
from foretime.models.base import Model
from foretime.models.boundaries import end_queries

ScoreFunction = Callable[[Facts], Tensor]
"""Scores every entity as the object of each question: (questions, entities)."""

Listener = Callable[[Facts, Tensor], None]
QUESTIONS_AT_ONCE, SCORES_AT_ONCE = 256, 1 << 24
"""How many questions are scored together, and how many scores: a matrix of these takes 64 megabytes."""


@dataclass(frozen=True)
class Ranks:
    """Ranks of the true answers, from 1; each column is (questions,).

    `optimistic` puts the answer before all competitors with an equal score, `pessimistic` behind them,
    `realistic` between.
    """

    optimistic: NDArray[np.float64]
    pessimistic: NDArray[np.float64]

    @property
    def realistic(self) -> NDArray[np.float64]:
        """1 + competitors scored higher + half of the competitors scored equal."""
        return (self.optimistic + self.pessimistic) / 2


def model_scorer(model: Model) -> ScoreFunction:
    """Return the scorer of a model: a fact with two ends is scored by the mean of its two end scores."""
    return lambda questions: score_questions(model, questions)


def score_questions(model: Model, questions: Facts) -> Tensor:
    """Return the scores of all entities as objects of the questions, (questions, entities)."""
    asked = end_queries(model, questions)
    scores = model.score_objects(asked.first)
    if len(asked.rows):
        rows = send(asked.rows, scores.device)
        scores[rows] = (scores[rows] + model.score_objects(asked.second)) / 2
    return scores


def questions_at_once(candidates: int) -> int:
    """Return how many questions are scored together, so that memory does not grow with the candidates of each.

    It divides `QUESTIONS_AT_ONCE`: what is cut into so many first is scored in the same batches.
    """
    most = max(1, min(QUESTIONS_AT_ONCE, SCORES_AT_ONCE // max(1, candidates)))
    return 1 << (most.bit_length() - 1)


def batches(questions: Facts, size: int) -> Iterator[tuple[slice, Facts]]:
    """Yield the questions in slices of at most `size`."""
    for begin in range(0, len(questions), size):
        rows = slice(begin, begin + size)
        yield rows, questions.take(rows)


@torch.inference_mode()
def rank(
    scorer: ScoreFunction,
    questions: Facts,
    index: AnswerIndex,
    batch_size: int = QUESTIONS_AT_ONCE,
    hear: Listener | None = None,
) -> Ranks:
    """Return the ranks of the true answers among all entities, other answers in the index filtered out.

    `hear` is handed the questions of each batch with their scores.
    """
    found = [Ranks(np.empty(0), np.empty(0))]
    for _, batch in batches(questions, batch_size):
        scores = scorer(batch)
        found.append(rank_scores(scores, batch.object, index.filtered(batch)))
        if hear is not None:
            hear(batch, scores)
    return join_ranks(found)


def rank_scores(scores: Tensor, answer: Ids, filtered: AnswerPairs) -> Ranks:
    """Return the ranks of the true answers by the scores of all candidates, (questions, candidates).

    They are counted where the scores are, and only the ranks leave that device.
    """
    higher, equal = fetch(torch.stack(_count_competitors(scores, answer, filtered))).numpy()
    return Ranks(optimistic=1.0 + higher, pessimistic=1.0 + higher + equal)


def join_ranks(parts: Sequence[Ranks]) -> Ranks:
    """Return the ranks of all parts, one part after the other."""
    return Ranks(*(np.concatenate(columns) for columns in zip(*(vars(part).values() for part in parts), strict=True)))


def check_numbers(scores: Tensor) -> None:
    """Raise `ForetimeError` if a score is not a number: nothing would rank above such an answer, nor below it."""
    if bool(scores.sum(1).isnan().any()):
        raise ForetimeError("the model gives scores that are not numbers: lower training.learning_rate and train again")


def _count_competitors(scores: Tensor, true: Ids, others: AnswerPairs) -> tuple[Tensor, Tensor]:
    """Return how many fair competitors of each answer score higher, and how many equal: (questions,) each."""
    check_numbers(scores)
    answer = scores.gather(1, send(true, scores.device)[:, None])  # (questions, 1)
    # comparing into a float buffer and summing that is several times faster than summing booleans
    marks = torch.empty_like(scores)
    higher = torch.gt(scores, answer, out=marks).sum(1).long()
    equal = torch.eq(scores, answer, out=marks).sum(1).long() - 1  # the answer equals itself
    # filtered answers were counted with all others; taking them off again costs less than masking the whole matrix
    row, column = (send(ids, scores.device) for ids in others)
    filtered, own = scores[row, column], answer[row, 0]
    higher.index_add_(0, row, (filtered > own).long(), alpha=-1)
    equal.index_add_(0, row, (filtered == own).long(), alpha=-1)
    return higher, equal
