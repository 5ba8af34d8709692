"""RotatE."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor

from foretime.config import LossName
from foretime.models.algebra import lookup, multiply, rotation
from foretime.models.base import InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.distances import pair_sums


class RotatE(Model):
    """RotatE: "RotatE: Knowledge Graph Embedding by Relational Rotation in Complex Space", Sun et al., ICLR 2019.

    A predicate turns every complex number of the subject by an angle of its own, and so leads to the object. It knows
    no time.

        score(s, p, o) = −Σ |sᵢ pᵢ − oᵢ| with |pᵢ| = 1
    """

    uses_time: ClassVar[bool] = False
    default_loss: ClassVar[LossName] = "negatives"
    default_margin: ClassVar[float] = 6.0

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 boundaries: int = 1, generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        self.entities = embedding(entities, 2 * rank, init_scale, generator)
        self.angles = embedding(predicates, rank, math.pi, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `static`."""
        turn = rotation(lookup(self.angles, queries.predicate))
        query = multiply(lookup(self.entities, queries.subject), turn)  # (batch, 2·rank)
        return [ScoreTerm("static", 1.0, -pair_sums(query, self.entities, objects, "moduli"))]
