"""TComplEx."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from foretime.models.algebra import dot_objects, lookup, multiply
from foretime.models.base import InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.penalties import n3, smoothness


class TComplEx(Model):
    """TComplEx: "Tensor Decompositions for Temporal Knowledge Base Completion", Lacroix et al., ICLR 2020.

    ComplEx with a fourth factor: the time turns and stretches the predicate.

        score(s, p, o, t) = Re⟨s, p ∘ t, ō⟩
    """

    uses_time: ClassVar[bool] = True
    scores_are_products: ClassVar[bool] = True
    default_penalties: ClassVar[dict[str, float]] = {"n3": 0.01, "smoothness": 0.01}

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 boundaries: int = 1, generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        width = 2 * rank
        self.entities = embedding(entities, width, init_scale, generator)
        self.predicates = embedding(predicates, width, init_scale, generator)
        self.times = embedding(times, width, init_scale, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `event`."""
        query = multiply(lookup(self.entities, queries.subject), self._timed_predicate(queries))  # (batch, width)
        return [ScoreTerm("event", 1.0, dot_objects(query, self.entities, objects))]

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return `n3` of subject, predicate at its time and object, and `smoothness` of the times."""
        subject, object_ = lookup(self.entities, torch.stack([queries.subject, objects]))
        return {
            "n3": n3(subject, self._timed_predicate(queries), object_, parts=2),
            "smoothness": smoothness(self.times, parts=2),
        }

    def _timed_predicate(self, queries: Queries) -> Tensor:
        return multiply(lookup(self.predicates, queries.predicate), lookup(self.times, queries.time))
