"""A softmax over some entities: those that answer often, those that answer now, and some that stand for all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Ids
from foretime.devices import send
from foretime.models.base import Model
from foretime.training.batches import Batch
from foretime.training.distributed.team import ALONE, Team
from foretime.training.objective import Part, cross_entropy


class Candidates(NamedTuple):
    """Entities that all questions of a step choose from, (candidates,) each, and the logarithm of how many each is."""

    entities: Tensor
    log_counts: Tensor


def most_frequent(answers: Ids, entities: int, count: int) -> Ids:
    """Return so many entities, those that answer most training questions; the earlier ones where two are alike."""
    return np.argsort(-np.bincount(answers, minlength=entities), kind="stable")[:count]


def draw_candidates(always: Ids, answers: Ids, entities: int, count: int, generator: np.random.Generator) -> Candidates:
    """Return the entities that are always there, the answers, and so many of the others, drawn.

    If 8,000 others are left and 1,000 of them are drawn, each counts as eight, so that Σ count · exp(score) is, in the
    mean over all draws, the sum over all entities.
    """
    other = np.ones(entities, dtype=bool)
    other[always] = other[answers] = False
    certain, others = np.flatnonzero(~other), np.flatnonzero(other)
    drawn = generator.choice(others, min(count, len(others)), replace=False, shuffle=False)
    log_counts = np.zeros(len(certain) + len(drawn), dtype=np.float32)
    if len(drawn):
        log_counts[len(certain) :] = np.log(len(others) / len(drawn))
    return Candidates(torch.from_numpy(np.concatenate([certain, drawn])), torch.from_numpy(log_counts))


@dataclass(frozen=True)
class SampledSoftmax:
    """The cross entropy of answers among candidates that are drawn for one step by its generator.

    All processes of a team draw the same, and each scores those of its own entities.
    """

    always: Ids
    count: int
    entities: int
    generator: np.random.Generator
    team: Team = ALONE

    def __call__(self, model: Model, batch: Batch) -> Tensor:
        """Return the mean loss over the (question, answer) pairs of the batch, ()."""
        found = draw_candidates(self.always, batch.objects.numpy(), self.entities, self.count, self.generator)
        part = None
        if self.team.size > 1:
            found = in_order(found)
            part = self._part(found)
        place = torch.empty(self.entities, dtype=torch.int64)
        place[found.entities] = torch.arange(len(found.entities))
        entities, log_counts = found if part is None else (column[part.begin : part.end] for column in found)
        scores = model.score_objects(batch.queries, entities)  # (rows, candidates)
        return cross_entropy(scores + send(log_counts, scores.device), batch.row, place[batch.objects], part=part)

    def _part(self, found: Candidates) -> Part:
        """Return which of the candidates, in order, are of the entities of this process."""
        own = self.team.part_of(self.entities)
        begin, end = np.searchsorted(found.entities.numpy(), [own.start, own.stop])
        return Part(int(begin), int(end), self.team)


def in_order(candidates: Candidates) -> Candidates:
    """Return the candidates in the order of their ids."""
    order = torch.argsort(candidates.entities)
    return Candidates(*(column[order] for column in candidates))
