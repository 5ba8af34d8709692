"""The loss: that of the model's own score terms plus its weighted penalties, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from foretime.devices import CPU, send, widest
from foretime.errors import ConfigError, suggestion
from foretime.models.base import Component, Model, Queries
from foretime.training.batches import Batch
from foretime.training.distributed.team import ALONE, Team

OwnLoss = Callable[[Model, Batch], Tensor]
"""Computes a component's loss where it is not the cross entropy of all its scores: against entities drawn for one step,
divided between processes, or that of the evidence. It is a mean over the (question, answer) pairs of a batch, ()."""


class Loss(NamedTuple):
    """A loss to be minimised, (), and its summands by name for the trace, not weighted."""

    total: Tensor
    named: dict[str, Tensor]


class Part(NamedTuple):
    """The entities that are scored here, from `begin` to `end`; the team scores all."""

    begin: int
    end: int
    team: Team

    def own(self, row: Tensor, answer: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rows and the columns of the answers that are scored here."""
        here = (answer >= self.begin) & (answer < self.end)
        return row[here], answer[here] - self.begin


class CountedCrossEntropy(torch.autograd.Function):
    """Softmax cross entropy of distinct questions, each with all its answers: the scores are overwritten.

    The loss is a mean over (question, answer) pairs, Σ (log Σ exp score[row] − score[row, answer]) / pairs. Equal
    questions share a row of scores, so that they cost one product with the entities instead of many, with the same
    gradient. Forward turns the scores into their own gradient in place, so no second matrix of that size is kept.
    """

    @staticmethod
    def forward(ctx: Any, scores: Tensor, row: Tensor, answer: Tensor, weight: float, part: Part | None) -> Tensor:
        """Return weight · mean loss; `scores` is (rows, entities), `row` and `answer` are (pairs,)."""
        share, wide = weight / len(row), widest(scores.device)
        own, team = ((row, answer), ALONE) if part is None else (part.own(row, answer), part.team)
        answer_scores = team.sum_(scores[own].to(wide).sum())
        largest = team.largest_(_largest(scores))
        total = team.sum_(scores.sub_(largest).exp_().sum(dim=1, keepdim=True))  # (rows, 1)
        zeros, ones = (
            torch.full((size,), fill, device=scores.device) for size, fill in ((len(scores), 0.0), (len(row), 1.0))
        )
        count = zeros.index_add_(0, row, ones)
        log_total = (total.log() + largest)[:, 0].to(wide)  # (rows,)
        scores.mul_((count[:, None] / total).mul_(share))
        scores.index_put_(own, torch.full((), -share, device=scores.device), accumulate=True)
        ctx.save_for_backward(scores)
        loss = (count * log_total).sum() - answer_scores
        return (loss * share).to(scores.dtype)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None, None, None]:
        """Return the gradient of the scores that forward left in their place."""
        (gradient,) = ctx.saved_tensors
        # to look at a number on another device is to wait for it, and for all that is queued there
        is_one = grad_output.device == CPU and float(grad_output) == 1.0
        return (gradient if is_one else gradient * grad_output), None, None, None, None


def _largest(scores: Tensor) -> Tensor:
    """Return the largest score of each row, (rows, 1): −∞ where nothing is scored."""
    return scores.amax(dim=1, keepdim=True) if scores.shape[1] else scores.new_full((len(scores), 1), -torch.inf)


def cross_entropy(scores: Tensor, row: Tensor, answer: Tensor, weight: float = 1.0, part: Part | None = None) -> Tensor:
    """Return weight · the mean cross entropy of (question, answer) pairs; `scores`, (rows, entities), is overwritten.

    The weight goes in here, not on the result, because the gradient is written once, already weighted. Without a `part`
    all entities are scored here.
    """
    row, answer = send(row, scores.device), send(answer, scores.device)
    return CountedCrossEntropy.apply(scores, row, answer, weight, part)  # type: ignore[no-any-return, no-untyped-call]


def loss_each(
    components: list[Component],
    batches: list[Batch],
    weights: dict[str, float],
    own: list[OwnLoss | None] | None = None,
) -> Loss:
    """Return Σ over the components of weight · (loss + penalties), each on its own batch (Eqs. 12–14).

    The loss of a component is the cross entropy of all its scores, unless it has a function of its own.
    """
    each = zip(components, batches, own or [None] * len(components), strict=True)
    losses = [_loss(component, batch, weights, one) for component, batch, one in each]
    named = {name: value for loss in losses for name, value in loss.named.items()}
    return Loss(torch.stack([loss.total for loss in losses]).sum(), named)


def penalty_names(model: Model) -> set[str]:
    """Return the names of a model's penalties."""
    first = torch.zeros(1, dtype=torch.int64)
    with torch.no_grad():
        return set(model.penalties(Queries(first, first, first), first))


def check_penalties(names: set[str], weights: dict[str, float]) -> None:
    """Raise `ConfigError` unless the configured weights and the model's penalties have the same names."""
    listed = ", ".join(sorted(names)) or "no penalties"
    for name in sorted(set(weights) - names):
        raise ConfigError(f"unknown key penalties.{name}; this model has {listed}{suggestion(name, names)}")
    for name in sorted(names - set(weights)):
        raise ConfigError(f"penalties.{name} is missing: write its weight, 0 to switch it off")


def _loss(component: Component, batch: Batch, weights: dict[str, float], own: OwnLoss | None) -> Loss:
    model, prefix = component.model, f"{component.name}_" if component.name else ""
    weight = component.weight * batch.scale
    if own is None:
        total = cross_entropy(model.score_objects(batch.queries), batch.row, batch.objects, weight)
    else:
        total = weight * own(model, batch)
    named = {f"{prefix}loss": total.detach() / weight}
    for name, penalty in model.penalties(batch.questions, batch.objects).items():
        named[prefix + name] = penalty.detach()
        # that of the evidence is on the CPU, where its weights are
        total = total + weight * weights[prefix + name] * send(penalty, total.device)
    return Loss(total, named)
