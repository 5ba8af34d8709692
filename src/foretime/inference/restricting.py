"""Probabilities given that the answer is one of the entities that a question allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Ids
from foretime.reranker.slots.first import Chances

if TYPE_CHECKING:
    from foretime.inference.predictor import Scored


def restricted(found: Scored, allowed: Tensor | None) -> Scored:
    """Return the scored candidates with −∞ for those that are not allowed, (facts, candidates).

    The probabilities of the others sum to one again. `within` is what they summed to before.
    """
    if allowed is None:
        return found
    scores, still_open = (one.masked_fill(~allowed, -torch.inf) for one in (found.scores, found.still_open))
    inside = found.probability.nan_to_num(0.0).masked_fill(~allowed, 0.0)
    within = inside.sum(1)
    # all of them may be so unlikely that nothing is left of their probabilities: then their scores alone are compared
    alone = torch.softmax(still_open, dim=1).nan_to_num(0.0).to(inside.dtype)
    probability = torch.where(within[:, None] > 0, inside / within[:, None], alone)
    probability = torch.where(allowed.all(1)[:, None], found.probability, probability)
    return found._replace(scores=scores, still_open=still_open, probability=probability, within=within)


def restricted_chances(
    chances: Chances, allowed: Tensor | None, given_first: Callable[[Ids], Tensor], at_once: int, left_out: float
) -> tuple[Chances, float]:
    """Return how likely each candidate for the first of two slots is, given that both answers are allowed, and that.

    `allowed` are the candidates that may stand in the first slot, `given_first` returns for some of them how likely an
    allowed answer in the second slot is. Candidates that have less than `left_out` of the whole together are left out.
    """
    own = chances if allowed is None else np.where(allowed.numpy(), chances, 0.0)
    order = np.argsort(-own, kind="stable")
    left, both = own.sum() - np.cumsum(own[order]), np.zeros_like(own)
    for begin in range(0, int(np.count_nonzero(own)), at_once):
        if begin and left[begin - 1] < left_out * both.sum():
            break
        chosen = order[begin : begin + at_once]
        both[chosen] = own[chosen] * given_first(chosen).double().numpy()
    whole = float(both.sum())
    return both / whole if whole > 0 else both, whole
