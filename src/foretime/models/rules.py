"""The model without embeddings."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from foretime.models.base import Component, InitScale, Model, Queries, Rank, ScoreTerm


class RulesModel(Model):
    """Nothing but evidence: no embeddings, and so an answer for entities that training has never shown."""

    uses_time: ClassVar[bool] = True

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 boundaries: int = 1, generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return no term: the evidence beside it is the whole score."""
        return []

    def components(self) -> list[Component]:
        """Return no component."""
        return []
