"""The model without embeddings."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from foretime.models.base import Component, Model, ModelOptions, Queries, ScoreTerm, Sizes


class RulesModel(Model):
    """Nothing but evidence: no embeddings, and so an answer for entities that training has never shown."""

    uses_time: ClassVar[bool] = True

    def __init__(self, sizes: Sizes, options: ModelOptions, generator: torch.Generator) -> None:
        super().__init__(sizes, options, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return no term: the evidence beside it is the whole score."""
        return []

    def components(self) -> list[Component]:
        """Return no part."""
        return []
