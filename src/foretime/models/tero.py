"""TeRo."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from foretime.config import LossName
from foretime.models.algebra import conjugate, lookup, multiply, rotation
from foretime.models.base import InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.distances import pair_sums


class TeRo(Model):
    """TeRo: "TeRo: A Time-aware Knowledge Graph Embedding via Temporal Rotation", Xu et al., COLING 2020.

    The time turns the entities in the complex plane; the predicate is a step from the turned subject to the conjugate
    of the turned object.

        score(s, p, o, t) = −Σ |sᵢ τᵢ + pᵢ − ōᵢ τ̄ᵢ| with |τᵢ| = 1

    A turn changes no modulus, so that |s τ + p − ō τ̄| = |(s τ + p) τ − ō|, and the objects need not be turned.
    """

    uses_time: ClassVar[bool] = True
    default_loss: ClassVar[LossName] = "negatives"
    default_margin: ClassVar[float] = 6.0

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 boundaries: int = 1, generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        width = 2 * rank
        self.entities = embedding(entities, width, init_scale, generator)
        self.predicates = embedding(predicates, width, init_scale, generator)
        self.angles = embedding(times, rank, init_scale, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `event`."""
        turn = rotation(lookup(self.angles, queries.time))
        moved = multiply(lookup(self.entities, queries.subject), turn) + lookup(self.predicates, queries.predicate)
        query = conjugate(multiply(moved, turn))  # (batch, 2·rank)
        return [ScoreTerm("event", 1.0, -pair_sums(query, self.entities, objects, "moduli"))]
