"""DistMult."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from foretime.models.algebra import dot_objects, lookup
from foretime.models.base import InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.penalties import n3


class DistMult(Model):
    """DistMult: "Embedding Entities and Relations for Learning and Inference in Knowledge Bases".

    By Yang et al., ICLR 2015. A predicate weighs the features that subject and object have in common. It knows no time.

        score(s, p, o) = Σ sᵢ pᵢ oᵢ
    """

    uses_time: ClassVar[bool] = False
    scores_are_products: ClassVar[bool] = True
    default_penalties: ClassVar[dict[str, float]] = {"n3": 0.01}

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 boundaries: int = 1, generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        self.entities = embedding(entities, rank, init_scale, generator)
        self.predicates = embedding(predicates, rank, init_scale, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `static`."""
        query = lookup(self.entities, queries.subject) * lookup(self.predicates, queries.predicate)  # (batch, rank)
        return [ScoreTerm("static", 1.0, dot_objects(query, self.entities, objects))]

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return `n3` of subject, predicate and object."""
        subject, object_ = lookup(self.entities, torch.stack([queries.subject, objects]))
        return {"n3": n3(subject, lookup(self.predicates, queries.predicate), object_, parts=1)}
