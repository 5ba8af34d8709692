"""TransE."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from foretime.models.algebra import lookup
from foretime.models.base import Model, ModelOptions, Queries, ScoreTerm, Sizes, embedding
from foretime.models.distances import Norm, distances


class TransEOptions(ModelOptions):
    """The options of TransE and its kin."""

    norm: Norm = "l1"
    """The norm of the distance: `l1`, the sum of absolute differences, or `l2`, the root of the sum of squares."""


class TransE(Model):
    """TransE: «Translating Embeddings for Modeling Multi-relational Data», Bordes et al., NIPS 2013.

    A predicate is a step that leads from the subject to the object. It knows no time. The paper keeps entities at
    length one; here their lengths are free, as is usual since.

        score(s, p, o) = −‖s + p − o‖
    """

    Options: ClassVar[type[ModelOptions]] = TransEOptions
    uses_time: ClassVar[bool] = False
    default_margin: ClassVar[float] = 6.0

    def __init__(self, sizes: Sizes, options: TransEOptions, generator: torch.Generator) -> None:
        super().__init__(sizes, options, generator)
        self.norm: Norm = options.norm
        self.entities = embedding(sizes.entities, options.rank, options.init_scale, generator)
        self.predicates = embedding(sizes.predicates, options.rank, options.init_scale, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `static`."""
        query = lookup(self.entities, queries.subject) + lookup(self.predicates, queries.predicate)  # (batch, rank)
        return [ScoreTerm("static", 1.0, -distances(query, self.entities, objects, self.norm))]
