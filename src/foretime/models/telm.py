"""TeLM."""

from __future__ import annotations

from typing import Annotated, ClassVar

import torch
from pydantic import Field
from torch import Tensor

from foretime.config import MOST_EPOCHS
from foretime.models.algebra import dot_objects, lookup
from foretime.models.base import InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.penalties import n3, smoothness

WarmEpochs = Annotated[
    int,
    Field(
        description="Epochs in which it is TComplEx: the components of e₁ and e₂ are zero, and start only afterwards.",
        ge=0,
        le=MOST_EPOCHS,
    ),
]


class TeLM(Model):
    """TeLM: "Temporal Knowledge Graph Completion using a Linear Temporal Regularizer and Multivector Embeddings".

    By Xu et al., NAACL 2021. TComplEx with multivectors a + a₁e₁ + a₂e₂ + a₁₂e₁e₂ (e₁² = e₂² = 1, e₁e₂ = −e₂e₁) for
    complex numbers. Neighbouring times should differ by a step b that is learned, instead of being equal.

        score(s, p, o, t) = Sc(s ⊗ p ⊗ t ⊗ ō)

    ⊗ is the geometric product, Sc its scalar part, and ō = o₀ − o₁e₁ − o₂e₂ − o₁₂e₁e₂. Multivectors without e₁ and e₂
    are complex numbers (e₁e₂ is i): the authors begin with these, and it is worth much.
    """

    uses_time: ClassVar[bool] = True
    scores_are_products: ClassVar[bool] = True
    default_penalties: ClassVar[dict[str, float]] = {"n3": 0.01, "smoothness": 0.01}

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 warm_epochs: WarmEpochs = 0, boundaries: int = 1,
                 generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        width = 4 * rank
        self.entities = embedding(entities, width, init_scale, generator)
        self.predicates = embedding(predicates, width, init_scale, generator)
        self.times = embedding(times, width, init_scale, generator)
        self.step = embedding(1, width, init_scale, generator)
        self.warm_epochs = warm_epochs
        if self.warm_epochs:
            self._starts = [_odd(table).clone() for table in (self.predicates, self.times)]
            for table in self.parameters():
                _odd(table).zero_()  # without gradient while all are zero, so they stay so

    def begin_epoch(self, epoch: int) -> None:
        """Give e₁ and e₂ their start after the warm epochs, unless they have it: an epoch may resume."""
        tables = (self.predicates, self.times)
        if epoch == self.warm_epochs + 1 and self.warm_epochs and not any(_odd(table).any() for table in tables):
            for table, start in zip(tables, self._starts, strict=True):
                _odd(table).copy_(start)

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


def _odd(table: Tensor) -> Tensor:
    """Return the parts of e₁ and e₂ of multivectors, (…, 2·rank), to be written to."""
    rank = table.shape[-1] // 4
    return table.detach()[..., rank : 3 * rank]


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
