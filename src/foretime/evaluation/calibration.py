"""Calibration: scores become probabilities that come true as often as they say.

The confidence of a candidate is softmax(score / temperature) over the candidates that are left after known answers are
taken out. The temperature is fitted on valid, by the likelihood of the true answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

BINS = 15


class Candidates(NamedTuple):
    """Scores of the candidates of some questions, (questions, candidates), and the column of each true answer.

    A candidate that does not compete scores −∞.
    """

    scores: Tensor
    answer: Tensor


def fit_temperature(batches: Iterable[Candidates]) -> float:
    """Return the temperature under which the true answers are most likely; 1 if there are no questions."""
    kept = list(batches)
    if not kept:
        return 1.0
    low, high = math.log(1e-2), math.log(1e2)
    # the negative log-likelihood has one minimum in the inverse temperature: golden-section search finds it
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = _mean_loss(kept, math.exp(left)), _mean_loss(kept, math.exp(right))
    while high - low > 1e-3:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = _mean_loss(kept, math.exp(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = _mean_loss(kept, math.exp(right))
    return math.exp((low + high) / 2)


def expected_calibration_error(confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> float:
    """Return the mean distance between confidence and accuracy over equally wide bins of confidence."""
    if len(confidence) == 0:
        return 0.0
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    count = np.bincount(bins, minlength=BINS)
    gap = np.bincount(bins, weights=confidence - correct, minlength=BINS)
    return float(np.abs(gap).sum() / count.sum())


def top_confidences(batches: Iterable[Candidates], temperature: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the confidence of the best candidate of each question, and whether it is the true answer."""
    confidence, correct = [], []
    for batch in batches:
        best, column = torch.softmax(batch.scores / temperature, dim=1).max(dim=1)
        confidence.append(best.double().numpy())
        correct.append((column == batch.answer).numpy())
    return np.concatenate([np.empty(0), *confidence]), np.concatenate([np.empty(0, dtype=bool), *correct])


def _mean_loss(batches: list[Candidates], temperature: float) -> float:
    total = count = 0.0
    for batch in batches:
        scaled = batch.scores / temperature
        answer = scaled.gather(1, batch.answer[:, None])[:, 0]
        total += float((torch.logsumexp(scaled, dim=1) - answer).sum())
        count += len(answer)
    return total / count
