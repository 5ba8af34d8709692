"""TTransE."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from foretime.models.algebra import lookup
from foretime.models.base import Model, ModelOptions, Queries, ScoreTerm, Sizes, embedding
from foretime.models.distances import Norm, distances
from foretime.models.transe import TransEOptions


class TTransE(Model):
    """TTransE: «Deriving Validity Time in Knowledge Graph», Leblay and Chekol, WWW Companion 2018.

    TransE with a second step, that of the time.

        score(s, p, o, t) = −‖s + p + t − o‖
    """

    Options: ClassVar[type[ModelOptions]] = TransEOptions
    uses_time: ClassVar[bool] = True
    default_margin: ClassVar[float] = 6.0

    def __init__(self, sizes: Sizes, options: TransEOptions, generator: torch.Generator) -> None:
        super().__init__(sizes, options, generator)
        self.norm: Norm = options.norm
        self.entities = embedding(sizes.entities, options.rank, options.init_scale, generator)
        self.predicates = embedding(sizes.predicates, options.rank, options.init_scale, generator)
        self.times = embedding(sizes.times, options.rank, options.init_scale, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `event`."""
        step = lookup(self.predicates, queries.predicate) + lookup(self.times, queries.time)
        query = lookup(self.entities, queries.subject) + step  # (batch, rank)
        return [ScoreTerm("event", 1.0, -distances(query, self.entities, objects, self.norm))]
