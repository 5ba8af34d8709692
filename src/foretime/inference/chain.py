"""The order in which two open slots are answered, and how likely each candidate for the first of them is.

Of a predicate and an entity the entity comes first where a run has a model of predicates. How likely each entity is
follows from the predicates that may be meant, P(o) = Σ P(p) · P(o | p), and which predicate it is from the model that
was fitted for just that: P(p, o) = P(o) · P(p | o). Measured against P(p) · P(o | p), it finds more true pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Facts, Ids
from foretime.evaluation.slots import Slot
from foretime.inference.answers import Question
from foretime.inference.first_slot import first_slot
from foretime.inference.restricting import restricted, restricted_chances
from foretime.inference.understanding import ENTITIES
from foretime.reranker.slots.first import Chances

if TYPE_CHECKING:
    from foretime.inference.predictor import Predictor

AT_ONCE = 16
"""Candidates for the first slot whose second slots are scored at once."""
LEFT_OUT = 1e-4
"""Candidates for the first slot that have less than this together are not looked at."""
NOT_SUMMED = 0.02
"""Predicates that have less than this together are left out of the sum over predicates."""


@dataclass(frozen=True)
class Chain:
    """The two open slots in the order in which they are answered, and the probabilities of the first."""

    slots: tuple[Slot, Slot]
    chances: Chances
    """The probability of each candidate for the first slot, (candidates,)."""
    with_known: Chances
    """What stands for it in the score of a pair that is known already, and has no probability; never less."""
    within: float | None = None
    """The probability of a pair that the question allows, if it restricts its answers."""
    predicates: Ids | None = None
    """The predicates that were summed over, (summed,), the most likely first; None where nothing was."""
    shares: Tensor | None = None
    """What each of them adds to the probability of an entity, (summed, entities)."""


def chain_of(predictor: Predictor, question: Question, asked: Facts) -> Chain:
    """Return the chain of a question with two open slots; `asked` is the question as ids."""
    first, second = question.targets
    chances, within = first_chances(predictor, question, asked)
    if first != "predicate" or not predictor.scorer.is_reranked("predicate"):
        return Chain((first, second), chances, chances, within)
    order = np.argsort(-chances, kind="stable")
    reached = np.cumsum(chances[order]) >= (1 - NOT_SUMMED) * chances.sum()
    summed = order[: 1 + int(reached.argmax())]
    shares, with_known = [], torch.zeros(len(predictor.graph.entities), dtype=torch.float64)
    for begin in range(0, len(summed), AT_ONCE):
        ids = summed[begin : begin + AT_ONCE]
        weight = torch.from_numpy(chances[ids] / chances[summed].sum())[:, None]
        scored = predictor._score(second, facts_with(asked, first, ids))
        found = restricted(scored, allowed_rows(predictor, question, ids))
        probability = found.probability.nan_to_num(0.0).double()
        shares.append(weight * probability)
        with_known += (weight * torch.where(found.known, torch.softmax(found.scores, 1), probability)).sum(0)
    joined = torch.cat(shares)
    return Chain((second, first), joined.sum(0).numpy(), with_known.numpy(), within, summed, joined)


def first_chances(predictor: Predictor, question: Question, asked: Facts) -> tuple[Chances, float | None]:
    """Return how likely each candidate for the first target is, (candidates,), and a pair that the question allows.

    Where it restricts its answers, the first is given that both are allowed.
    """
    chances = first_slot(predictor, question, asked).chances
    allowed = predictor.understanding.allowed(question)
    if allowed is None:
        return chances, None
    first, second = question.targets

    def given_first(ids: Ids) -> Tensor:
        inside = predictor._score(second, facts_with(asked, first, ids)).probability.nan_to_num(0.0)
        return inside.masked_fill(~allowed, 0.0).sum(1)

    return restricted_chances(chances, allowed if first in ENTITIES else None, given_first, AT_ONCE, LEFT_OUT)


def facts_with(asked: Facts, slot: Slot, ids: Ids) -> Facts:
    """Return the question once for each candidate, with the candidate in a slot."""
    return replace(asked.take(np.zeros(len(ids), dtype=np.int64)), **{slot: ids.astype(np.int64)})


def allowed_rows(predictor: Predictor, question: Question, ids: Ids) -> Tensor | None:
    """Return which entities a question allows, the same for each candidate, (candidates, entities)."""
    allowed = predictor.understanding.allowed(question)
    return None if allowed is None else allowed.expand(len(ids), -1)
