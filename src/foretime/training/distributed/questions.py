"""The questions of the evidence, divided between processes: each adds to the gradient what its own say."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from foretime.data.facts import Ids
from foretime.errors import ConfigError
from foretime.training.batches import QuestionPool
from foretime.training.distributed.team import Team


def own_questions(rows: Ids, team: Team) -> Ids:
    """Return the questions of a step that this process asks."""
    own = team.part_of(len(rows))
    return rows[own.start : own.stop]


def check_questions(pool: QuestionPool, steps: int, team: Team) -> None:
    """Raise `ConfigError` if a step has fewer questions than there are processes."""
    if team.size > 1 and pool.distinct // steps < team.size:
        raise ConfigError(
            f"a step has {pool.distinct // steps} different questions, too few for {team.size} processes; raise "
            "training.batch_size, or start fewer"
        )


def add_up(named: dict[str, Tensor], scale: float, model: nn.Module, team: Team) -> dict[str, Tensor]:
    """Add up the gradients of all processes, and return their losses and penalties by name, as if all were one batch.

    A loss is a mean over the questions of a process, and counts as much as these are: `scale`, as in their batch.
    """
    if team.size == 1:
        return named
    for weights in model.parameters():
        weights.grad = torch.zeros_like(weights) if weights.grad is None else weights.grad
        team.sum_(weights.grad)
    values = torch.stack([value.double() for value in named.values()])
    sums = team.sum_(torch.cat([values * scale, values.new_full((1,), scale)]))
    return dict(zip(named, sums[:-1] / sums[-1], strict=True))
