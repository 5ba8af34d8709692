"""Calibration: scores become probabilities that come true as often as they say.

The confidence of a candidate is softmax(score / temperature) over the candidates that are left when other known answers
are filtered out. The temperature is fitted on valid, by the likelihood of the true answers and a weak prior: without
it, a few facts that are all answered correctly would make every confidence 100 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

BINS = 15
PRIOR_DEVIATION = 0.5
"""The standard deviation of ln T before any fact is seen: T is between 0.37 and 2.7 with 95 %."""


class ScoredCandidates(NamedTuple):
    """Scores of the candidates of some questions, (questions, candidates), and the column of each true answer.

    A candidate that is filtered out scores −∞.
    """

    scores: Tensor
    answer: Tensor


def fit_temperature(batches: Iterable[ScoredCandidates]) -> float:
    """Return the most likely temperature T, given the true answers and a log-normal prior around 1.

    It minimises (total negative log-likelihood of the answers) + (ln T)² / (2 · 0.5²). The likelihood grows with the
    number of questions and the prior does not: with many facts it does nothing, without any T is 1.
    """
    kept = list(batches)
    if not kept:
        return 1.0
    # the sum may have two minima, one near 1 and one where the scores ask for it: a grid finds the deeper one
    grid = np.linspace(math.log(1e-2), math.log(1e2), 9)
    best = float(grid[np.argmin([_loss(kept, float(place)) for place in grid])])
    step = float(grid[1] - grid[0])
    return math.exp(_minimise(lambda place: _loss(kept, place), best - step, best + step))


def _minimise(loss: Callable[[float], float], low: float, high: float) -> float:
    """Return the place of the only minimum between two places, by golden-section search."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = loss(left), loss(right)
    while high - low > 1e-3:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = loss(right)
    return (low + high) / 2


def expected_calibration_error(confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> float:
    """Return the mean distance between confidence and accuracy over equally wide bins of confidence."""
    if len(confidence) == 0:
        return 0.0
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    count = np.bincount(bins, minlength=BINS)
    gap = np.bincount(bins, weights=confidence - correct, minlength=BINS)
    return float(np.abs(gap).sum() / count.sum())


def top_confidences(
    batches: Iterable[ScoredCandidates], temperature: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the confidence of the best candidate of each question, and whether it is the true answer."""
    confidence, correct = [], []
    for batch in batches:
        best, column = torch.softmax(batch.scores / temperature, dim=1).max(dim=1)
        confidence.append(best.double().numpy())
        correct.append((column == batch.answer).numpy())
    return np.concatenate([np.empty(0), *confidence]), np.concatenate([np.empty(0, dtype=bool), *correct])


def _loss(batches: list[ScoredCandidates], log_temperature: float) -> float:
    """Return the negative logarithm of likelihood times prior, up to a constant."""
    total = log_temperature**2 / (2 * PRIOR_DEVIATION**2)
    for batch in batches:
        scaled = batch.scores / math.exp(log_temperature)
        answer = scaled.gather(1, batch.answer[:, None])[:, 0]
        total += float((torch.logsumexp(scaled, dim=1) - answer).double().sum())
    return total
