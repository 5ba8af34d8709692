"""ComplEx."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from foretime.models.algebra import dot_objects, lookup, multiply
from foretime.models.base import InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.penalties import n3


class ComplEx(Model):
    """ComplEx: "Complex Embeddings for Simple Link Prediction", Trouillon et al., ICML 2016.

    A predicate turns and stretches the subject in the complex plane; a good object is what lies there. It knows no
    time: an event is as likely on any day.

        score(s, p, o) = Re⟨s, p, ō⟩
    """

    uses_time: ClassVar[bool] = False
    scores_are_products: ClassVar[bool] = True
    default_penalties: ClassVar[dict[str, float]] = {"n3": 0.01}

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 boundaries: int = 1, generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        width = 2 * rank
        self.entities = embedding(entities, width, init_scale, generator)
        self.predicates = embedding(predicates, width, init_scale, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `static`."""
        subject = lookup(self.entities, queries.subject)
        query = multiply(subject, lookup(self.predicates, queries.predicate))  # (batch, width)
        return [ScoreTerm("static", 1.0, dot_objects(query, self.entities, objects))]

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return `n3` of subject, predicate and object."""
        subject, object_ = lookup(self.entities, torch.stack([queries.subject, objects]))
        return {"n3": n3(subject, lookup(self.predicates, queries.predicate), object_, parts=2)}
