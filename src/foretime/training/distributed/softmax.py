"""A softmax over all entities, of which each process scores its own."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from foretime.models.base import Model
from foretime.training.batches import Batch
from foretime.training.distributed.team import Team
from foretime.training.objective import Part, cross_entropy


@dataclass(frozen=True)
class DividedSoftmax:
    """The cross entropy of answers among all entities; every process comes to the same loss."""

    team: Team
    entities: int

    def __call__(self, model: Model, batch: Batch) -> Tensor:
        """Return the mean loss over the (question, answer) pairs of the batch, ()."""
        own = self.team.part_of(self.entities)
        scores = model.score_objects(batch.queries)  # (rows, entities of this process)
        return cross_entropy(scores, batch.row, batch.objects, part=Part(own.start, own.stop, self.team))
