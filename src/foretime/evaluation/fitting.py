"""The fits behind a calibration: a temperature, a logistic regression with a prior, and the fall behind the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from foretime.devices import fetch, send, widest
from foretime.evaluation.metrics import Floats

TEMPERATURE_DEVIATION = 0.5
"""The standard deviation of ln T before any fact is seen: T is between 0.37 and 2.7 with 95 %."""
STEPS = 50
MISSED_AT_MOST = 400
"""Questions with a wrong best candidate that the fall behind it is fitted on."""
Scored = tuple[Tensor, Tensor]
"""Scores, (questions, candidates), and the columns of the true answers, (questions,)."""


def fit_temperature(batches: Sequence[Scored], expected: float = 1.0) -> float:
    """Return the most likely temperature T, given the true answers and a log-normal prior around the expected one.

    It minimises (total negative log-likelihood of the answers) + (ln T − ln expected)² / (2 · 0.5²). The likelihood
    grows with the number of questions and the prior does not: with many facts it does nothing, without any it decides.
    """
    if not batches:
        return expected
    # the sum may have two minima, one near 1 and one where the scores ask for it: a grid finds the deeper one
    grid = np.linspace(math.log(1e-2), math.log(1e2), 9)
    best = float(grid[np.argmin([_loss(batches, float(place), expected) for place in grid])])
    step = float(grid[1] - grid[0])
    return math.exp(_minimise(lambda place: _loss(batches, place, expected), best - step, best + step))


def fit_logistic(features: Floats, offset: Floats, right: NDArray[np.bool_], deviation: float) -> Floats:
    """Return the most likely weights w of P(right) = sigmoid(offset + features · w), each with a normal prior around 0.

    Found by Newton's method; the loss is convex, and a step that does not lower it is halved.
    """
    weights = np.zeros(features.shape[1])

    def loss(weights: Floats) -> float:
        odds = offset + features @ weights
        likelihood = np.logaddexp(0.0, np.where(right, -odds, odds)).sum()
        return float(likelihood + (weights @ weights) / (2 * deviation**2))

    for _ in range(STEPS):
        probability = 1 / (1 + np.exp(-(offset + features @ weights)))
        gradient = features.T @ (probability - right) + weights / deviation**2
        curvature = (features * (probability * (1 - probability))[:, None]).T @ features
        step = np.linalg.solve(curvature + np.eye(len(weights)) / deviation**2, gradient)
        while loss(weights - step) > loss(weights) and np.abs(step).max() > 1e-9:
            step = step / 2
        weights = weights - step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def behind_best(scores: Tensor, best: Tensor) -> Tensor:
    """Return how far each candidate but the best is behind the first of them, −∞ for the best: (questions, others)."""
    others = scores.scatter(1, best[:, None], -torch.inf)
    return others - others.max(1, keepdim=True).values


def rest_logits(behind: Tensor, temperature: float | Tensor, bend: float | Tensor) -> Tensor:
    """Return the logits of the candidates behind the best: −d − bend · ln(1 + d), d their distance in temperatures."""
    distance = -behind.clamp(min=-1e30) / temperature  # an infinite one has no gradient
    return -distance - bend * torch.log1p(distance)


def fit_rest(missed: Iterable[Scored], deviation: float) -> tuple[float, float]:
    """Return the most likely temperature and bend of the candidates behind a wrong best one."""
    kept: list[Scored] = []
    for behind, answer in missed:
        room = MISSED_AT_MOST - sum(len(found) for _, found in kept)
        kept += [(behind[:room].clone(), answer[:room])] if len(answer) else []
        if len(answer) >= room:
            break
    if not kept:
        return 1.0, 0.0
    device = kept[0][0].device
    start = torch.tensor([0.0, 0.1], dtype=widest(device))  # ln T, √bend
    weights = send(start, device).requires_grad_()
    optimizer = torch.optim.LBFGS([weights], max_iter=15, line_search_fn="strong_wolfe")

    def closure() -> float:
        optimizer.zero_grad()
        total = 0.0
        for behind, answer in kept:
            chosen, bend = weights[0].exp(), weights[1].square()
            logits = rest_logits(behind, chosen.to(behind.dtype), bend.to(behind.dtype))
            loss = functional.cross_entropy(logits, answer, reduction="sum")
            loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        prior = (weights.square() / (2 * deviation**2)).sum()
        prior.backward()  # type: ignore[no-untyped-call]
        return total + float(prior.detach())

    with torch.enable_grad():
        optimizer.step(closure)  # type: ignore[no-untyped-call]
    log_temperature, root = fetch(weights).tolist()
    return math.exp(log_temperature), root**2


def _minimise(loss: Callable[[float], float], low: float, high: float) -> float:
    """Return the place of the only minimum between two places, by golden-section search."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = loss(left), loss(right)
    while high - low > 1e-2:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = loss(right)
    return (low + high) / 2


def _loss(batches: Sequence[Scored], log_temperature: float, expected: float) -> float:
    """Return the negative logarithm of likelihood times prior, up to a constant."""
    total = (log_temperature - math.log(expected)) ** 2 / (2 * TEMPERATURE_DEVIATION**2)
    for scores, answer in batches:
        scaled = scores / math.exp(log_temperature)
        own = scaled.gather(1, answer[:, None])[:, 0]
        total += float((torch.logsumexp(scaled, dim=1) - own).to(widest(scores.device)).sum())
    return total
