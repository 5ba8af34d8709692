"""HyTE."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from foretime.models.algebra import dot_objects, lookup
from foretime.models.base import InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.distances import pair_sums, root


class HyTE(Model):
    """HyTE: "HyTE: Hyperplane-based Temporally aware Knowledge Graph Embedding", Dasgupta et al., EMNLP 2018.

    Every time is a hyperplane with the normal w. What TransE says of subject, predicate and object it says of their
    shadows on the hyperplane of the time.

        score(s, p, o, t) = −‖P(s) + P(p) − P(o)‖₂ with P(x) = x − (w·x) w, ‖w‖ = 1

    P(q) is orthogonal to w, so that ‖P(q) − P(o)‖² = ‖P(q) − o‖² − (w·o)²: two matrix products score all objects.
    """

    uses_time: ClassVar[bool] = True
    default_margin: ClassVar[float] = 3.0

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 boundaries: int = 1, generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        self.entities = embedding(entities, rank, init_scale, generator)
        self.predicates = embedding(predicates, rank, init_scale, generator)
        self.normals = embedding(times, rank, init_scale, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `event`."""
        normal = functional.normalize(lookup(self.normals, queries.time), dim=-1)
        moved = lookup(self.entities, queries.subject) + lookup(self.predicates, queries.predicate)
        query = moved - (normal * moved).sum(-1, keepdim=True) * normal  # (batch, rank)
        along = dot_objects(normal, self.entities, objects)  # (batch, candidates)
        squared = pair_sums(query, self.entities, objects, "squared") - along.square()
        return [ScoreTerm("event", 1.0, -root(squared))]
