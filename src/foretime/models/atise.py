"""ATiSE."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from foretime.config import LossName
from foretime.models.algebra import lookup
from foretime.models.base import Model, ModelOptions, Queries, ScoreTerm, Sizes, embedding
from foretime.models.divergences import divergences


class ATiSEOptions(ModelOptions):
    """The options of ATiSE."""

    least_variance: float = Field(default=0.005, gt=0.0)
    """The least variance of a coordinate."""
    most_variance: float = Field(default=0.5, gt=0.0)
    """The largest variance of a coordinate."""
    periods: float = Field(default=20.0, gt=0.0)
    """How often a season recurs over the whole timeline, at first: the standard deviation of the frequencies."""


class Series(nn.Module):
    """Gaussians whose means move in time: m(t) = x + y t + z sin(2π f t), each with a variance that does not."""

    def __init__(self, count: int, options: ATiSEOptions, generator: torch.Generator) -> None:
        super().__init__()
        self.least, self.most = options.least_variance, max(options.least_variance, options.most_variance)
        self.base, self.trend, self.season = (
            embedding(count, options.rank, options.init_scale, generator) for _ in range(3)
        )
        self.frequency = embedding(count, options.rank, options.periods, generator)
        share = torch.rand(count, options.rank, generator=generator)
        self.variance = nn.Parameter(self.least + share * (self.most - self.least))

    def tables(self) -> tuple[Tensor, ...]:
        """Return base, trend, season, frequency and variance, (count, rank) each."""
        return self.base, self.trend, self.season, self.frequency, self.variance

    def mean(self, ids: Tensor, moments: Tensor) -> Tensor:
        """Return the means at times between 0 and 1, (batch, rank); `ids` and `moments` are (batch,)."""
        base, trend, season, frequency = (lookup(table, ids) for table in self.tables()[:4])
        time = moments[:, None]
        return base + time * trend + season * torch.sin(2.0 * math.pi * time * frequency)


class ATiSE(Model):
    """ATiSE: «Temporal Knowledge Graph Completion based on Time Series Gaussian Embedding», Xu et al., ISWC 2020.

    Entities and predicates are Gaussians that drift and swing in time. The difference of subject and object should be
    distributed as the predicate is: the score is the mean of both Kullback–Leibler divergences, negative.

        score(s, p, o, t) = −¼ Σ ((v + d²)/w + (w + d²)/v − 2), d = m_s(t) − m_o(t) − m_p(t), v = v_s + v_o, w = v_p

    v is in a denominator, so this is no matrix product; a compiled kernel walks over the pairs.
    """

    Options: ClassVar[type[ModelOptions]] = ATiSEOptions
    uses_time: ClassVar[bool] = True
    default_loss: ClassVar[LossName] = "negatives"
    default_margin: ClassVar[float] = 6.0

    def __init__(self, sizes: Sizes, options: ATiSEOptions, generator: torch.Generator) -> None:
        super().__init__(sizes, options, generator)
        self.steps = sizes.times
        self.entities = Series(sizes.entities, options, generator)
        self.predicates = Series(sizes.predicates, options, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `event`."""
        subject, predicate = queries.subject, queries.predicate
        moments = queries.time.to(self.entities.base.dtype) / self.steps  # (batch,)
        wanted = self.entities.mean(subject, moments) - self.predicates.mean(predicate, moments)  # (batch, rank)
        variances = lookup(self.entities.variance, subject), lookup(self.predicates.variance, predicate)
        query = torch.stack([wanted, *variances], dim=1)  # (batch, 3, rank)
        scores = divergences(moments, objects, query, self.entities.tables()) / -4.0
        return [ScoreTerm("event", 1.0, scores)]

    def constrain_(self) -> None:
        """Keep the variances within their bounds, and means at a length of at most one but for drift and swing."""
        with torch.no_grad():
            for series in (self.entities, self.predicates):
                series.variance.clamp_(series.least, series.most)
                series.base.div_(series.base.norm(dim=-1, keepdim=True).clamp(min=1.0))
