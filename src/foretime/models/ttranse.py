"""TTransE."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from foretime.models.algebra import lookup
from foretime.models.base import InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.distances import Norm, distances
from foretime.models.transe import NormOption


class TTransE(Model):
    """TTransE: "Deriving Validity Time in Knowledge Graph", Leblay and Chekol, WWW Companion 2018.

    TransE with a second step, that of the time.

        score(s, p, o, t) = −‖s + p + t − o‖
    """

    uses_time: ClassVar[bool] = True
    default_margin: ClassVar[float] = 6.0

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 norm: NormOption = "l1", boundaries: int = 1,
                 generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        self.norm: Norm = norm
        self.entities = embedding(entities, rank, init_scale, generator)
        self.predicates = embedding(predicates, rank, init_scale, generator)
        self.times = embedding(times, rank, init_scale, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `event`."""
        step = lookup(self.predicates, queries.predicate) + lookup(self.times, queries.time)
        query = lookup(self.entities, queries.subject) + step  # (batch, rank)
        return [ScoreTerm("event", 1.0, -distances(query, self.entities, objects, self.norm))]
