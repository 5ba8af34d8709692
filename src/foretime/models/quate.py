"""QuatE."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from foretime.models.algebra import dot_objects, lookup
from foretime.models.base import InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.penalties import n3


class QuatE(Model):
    """QuatE: "Quaternion Knowledge Graph Embeddings", Zhang et al., NeurIPS 2019.

    An embedding is a vector of quaternions a + bi + cj + dk. A predicate turns those of the subject in four dimensions;
    a good object points the same way. It knows no time.

        score(s, p, o) = (s ⊗ p/|p|) · o, ⊗ the Hamilton product
    """

    uses_time: ClassVar[bool] = False
    scores_are_products: ClassVar[bool] = True
    default_penalties: ClassVar[dict[str, float]] = {"n3": 0.01}

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 boundaries: int = 1, generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        width = 4 * rank
        self.entities = embedding(entities, width, init_scale, generator)
        self.predicates = embedding(predicates, width, init_scale, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `static`."""
        parts = lookup(self.predicates, queries.predicate).reshape(len(queries.predicate), 4, -1)
        turn = functional.normalize(parts, dim=1).flatten(1)
        query = hamilton(lookup(self.entities, queries.subject), turn)  # (batch, 4·rank)
        return [ScoreTerm("static", 1.0, dot_objects(query, self.entities, objects))]

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return `n3` of subject and object; the length of a predicate is of no consequence."""
        subject, object_ = lookup(self.entities, torch.stack([queries.subject, objects]))
        return {"n3": n3(subject, object_, parts=4)}


def hamilton(q: Tensor, p: Tensor) -> Tensor:
    """Return the product of quaternions, (…, 4·rank): the real parts first, then those of i, j and k."""
    a, b, c, d = q.chunk(4, dim=-1)
    e, f, g, h = p.chunk(4, dim=-1)
    return torch.cat(
        [
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ],
        dim=-1,
    )
