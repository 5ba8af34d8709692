"""TransE."""

from __future__ import annotations

from typing import Annotated, ClassVar

import torch
from pydantic import Field
from torch import Tensor

from foretime.models.algebra import lookup
from foretime.models.base import InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.distances import Norm, distances

NormOption = Annotated[
    Norm, Field(description="Of the distance: `l1`, the sum of absolute differences, or `l2`, the Euclidean norm.")
]


class TransE(Model):
    """TransE: "Translating Embeddings for Modeling Multi-relational Data", Bordes et al., NIPS 2013.

    A predicate is a step that leads from the subject to the object. It knows no time. The paper keeps entities at
    length one; here their lengths are free, as is usual since.

        score(s, p, o) = −‖s + p − o‖
    """

    uses_time: ClassVar[bool] = False
    default_margin: ClassVar[float] = 6.0

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 norm: NormOption = "l1", boundaries: int = 1,
                 generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        self.norm: Norm = norm
        self.entities = embedding(entities, rank, init_scale, generator)
        self.predicates = embedding(predicates, rank, init_scale, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `static`."""
        query = lookup(self.entities, queries.subject) + lookup(self.predicates, queries.predicate)  # (batch, rank)
        return [ScoreTerm("static", 1.0, -distances(query, self.entities, objects, self.norm))]
