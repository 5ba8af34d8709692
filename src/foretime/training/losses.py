"""Losses that compare the answer with some sampled wrong ones instead of all entities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from foretime.config import Config, LossName
from foretime.devices import send
from foretime.errors import ConfigError, DataError
from foretime.models import model_class
from foretime.models.base import Model
from foretime.training.batches import Batch


def loss_settings(config: Config) -> tuple[LossName, float]:
    """Return the loss and the margin of a configuration: what it names, and else what its model has."""
    kind, training = model_class(config.model), config.training
    only_softmax = training.softmax == "joint" or config.model.name == "rules"
    if only_softmax and training.loss not in (None, "softmax"):
        reason = "evidence has" if config.model.name == "rules" else 'training.softmax = "joint" is'
        raise ConfigError(
            f'training.loss = "{training.loss}", but {reason} one softmax over all entities; leave it out'
        )
    loss = "softmax" if only_softmax else training.loss or kind.default_loss
    return loss, kind.default_margin if training.margin is None else training.margin


FAR_BELOW = -1e9
"""The score of an entity that was drawn as a wrong answer and is a right one: it costs nothing and weighs nothing."""


@dataclass(frozen=True)
class SampledLoss:
    """A loss of answers against wrong ones, drawn by a generator that is that of one step."""

    name: LossName
    margin: float
    negatives: int
    temperature: float
    entities: int
    generator: np.random.Generator

    def __call__(self, model: Model, batch: Batch) -> Tensor:
        """Return the mean loss over the (question, answer) pairs of the batch, ()."""
        wrong = draw_negatives(batch.objects, self.entities, self.negatives, self.generator)
        scores = model.score_objects(batch.questions, torch.cat([batch.objects[:, None], wrong], dim=1))
        right = send(is_answer(wrong, batch, self.entities), scores.device)
        scores = torch.cat([scores[:, :1], scores[:, 1:].masked_fill(right, FAR_BELOW)], dim=1)
        if self.name == "margin":
            return margin_loss(scores, self.margin)
        return negatives_loss(scores, self.margin, self.temperature)


def draw_negatives(answers: Tensor, entities: int, count: int, generator: np.random.Generator) -> Tensor:
    """Return entities other than the answer, each as likely as any, (pairs, count)."""
    if entities < 2:
        raise DataError("there is one entity only, so no answer is wrong; use training.loss = softmax")
    drawn = torch.from_numpy(generator.integers(entities - 1, size=(len(answers), count)))
    return drawn + (drawn >= answers[:, None])


def is_answer(drawn: Tensor, batch: Batch, entities: int) -> Tensor:
    """Return which of the entities drawn for each pair answer its question in training too, (pairs, count)."""
    keys = torch.sort(batch.row * entities + batch.objects).values
    wanted = batch.row[:, None] * entities + drawn
    place = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
    return keys[place] == wanted


def negatives_loss(scores: Tensor, margin: float, temperature: float) -> Tensor:
    """Return −log σ(γ − d) − Σ wᵢ log σ(dᵢ − γ) with d = −score, a mean over rows (RotatE, Eqs. 4–6).

    The answer is in the first column of `scores`, (pairs, 1 + negatives). The weights wᵢ, a softmax over the wrong
    answers, are taken as they are: no gradient goes through them.
    """
    right, wrong = scores[:, 0], scores[:, 1:]
    weights = functional.softmax(wrong.detach() * temperature, dim=1)
    losses = functional.softplus(-margin - right) + (weights * functional.softplus(margin + wrong)).sum(1)
    return losses.mean()


def margin_loss(scores: Tensor, margin: float) -> Tensor:
    """Return max(0, γ + d − dᵢ) with d = −score, a mean over rows and wrong answers; the answer comes first."""
    return functional.relu(margin - scores[:, :1] + scores[:, 1:]).mean()
