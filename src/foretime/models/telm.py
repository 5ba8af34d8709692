"""TeLM."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from foretime.models.algebra import dot_objects, lookup
from foretime.models.base import Model, ModelOptions, Queries, ScoreTerm, Sizes, embedding
from foretime.models.penalties import n3, smoothness


class TeLM(Model):
    """TeLM: «Temporal Knowledge Graph Completion using a Linear Temporal Regularizer and Multivector Embeddings».

    By Xu et al., NAACL 2021. TComplEx with multivectors a + a₁e₁ + a₂e₂ + a₁₂e₁e₂ (e₁² = e₂² = 1, e₁e₂ = −e₂e₁) for
    complex numbers. Neighbouring times should differ by a step b that is learned, instead of being equal.

        score(s, p, o, t) = Sc(s ⊗ p ⊗ t ⊗ ō)

    ⊗ is the geometric product, Sc its scalar part, and ō = o₀ − o₁e₁ − o₂e₂ − o₁₂e₁e₂.
    """

    uses_time: ClassVar[bool] = True
    default_penalties: ClassVar[dict[str, float]] = {"n3": 0.01, "smoothness": 0.01}

    def __init__(self, sizes: Sizes, options: ModelOptions, generator: torch.Generator) -> None:
        super().__init__(sizes, options, generator)
        width = 4 * options.rank
        self.entities = embedding(sizes.entities, width, options.init_scale, generator)
        self.predicates = embedding(sizes.predicates, width, options.init_scale, generator)
        self.times = embedding(sizes.times, width, options.init_scale, generator)
        self.step = embedding(1, width, options.init_scale, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `event`."""
        product = geometric(lookup(self.entities, queries.subject), self._timed_predicate(queries))
        scalar, first, second, both = product.chunk(4, dim=-1)
        query = torch.cat([scalar, -first, -second, both], dim=-1)  # (batch, 4·rank): Sc(x ⊗ ō) is its product with o
        return [ScoreTerm("event", 1.0, dot_objects(query, self.entities, objects))]

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return `n3` of subject, predicate at its time and object, and `smoothness` of the times, up to a step."""
        subject, object_ = lookup(self.entities, torch.stack([queries.subject, objects]))
        return {
            "n3": n3(subject, self._timed_predicate(queries), object_, parts=4),
            "smoothness": smoothness(self.times, parts=4, step=self.step[0]),
        }

    def _timed_predicate(self, queries: Queries) -> Tensor:
        return geometric(lookup(self.predicates, queries.predicate), lookup(self.times, queries.time))


def geometric(x: Tensor, y: Tensor) -> Tensor:
    """Return the geometric product of multivectors, (…, 4·rank): scalars first, then the parts of e₁, e₂ and e₁e₂."""
    a, a1, a2, a12 = x.chunk(4, dim=-1)
    b, b1, b2, b12 = y.chunk(4, dim=-1)
    return torch.cat(
        [
            a * b + a1 * b1 + a2 * b2 - a12 * b12,
            a * b1 + a1 * b - a2 * b12 + a12 * b2,
            a * b2 + a1 * b12 + a2 * b - a12 * b1,
            a * b12 + a1 * b2 - a2 * b1 + a12 * b,
        ],
        dim=-1,
    )
