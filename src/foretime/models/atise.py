"""ATiSE."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from foretime.config import MOST_WEIGHT, LossName
from foretime.devices import send
from foretime.models.algebra import lookup
from foretime.models.base import InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.divergences import divergences

LeastVariance = Annotated[float, Field(description="The least variance of a coordinate.", gt=0.0, le=MOST_WEIGHT)]
MostVariance = Annotated[float, Field(description="The largest variance of a coordinate.", gt=0.0, le=MOST_WEIGHT)]
Periods = Annotated[
    float,
    Field(
        gt=0.0,
        le=MOST_WEIGHT,
        description="How often a season recurs over the timeline: the initial scale of frequencies.",
    ),
]


class Series(nn.Module):
    """Gaussians whose means move in time: m(t) = x + y t + z sin(2π f t), each with a variance that does not."""

    def __init__(self, count: int, rank: int, init_scale: float, periods: float, bounds: tuple[float, float],
                 generator: torch.Generator | None) -> None:  # fmt: skip
        super().__init__()
        self.least, self.most = bounds[0], max(bounds)
        self.base, self.trend, self.season = (embedding(count, rank, init_scale, generator) for _ in range(3))
        self.frequency = embedding(count, rank, periods, generator)
        share = torch.rand(count, rank, generator=generator)
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
    """ATiSE: "Temporal Knowledge Graph Completion based on Time Series Gaussian Embedding", Xu et al., ISWC 2020.

    Entities and predicates are Gaussians that drift and swing in time. The difference of subject and object should be
    distributed as the predicate is: the score is the mean of both Kullback–Leibler divergences, negative.

        score(s, p, o, t) = −¼ Σ ((v + d²)/w + (w + d²)/v − 2), d = m_s(t) − m_o(t) − m_p(t), v = v_s + v_o, w = v_p

    v is in a denominator, so this is no matrix product; a compiled kernel walks over the pairs.
    """

    uses_time: ClassVar[bool] = True
    default_loss: ClassVar[LossName] = "negatives"
    default_margin: ClassVar[float] = 6.0

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 least_variance: LeastVariance = 0.005, most_variance: MostVariance = 0.5, periods: Periods = 20.0,
                 boundaries: int = 1, generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        self.steps, bounds = times, (least_variance, most_variance)
        self.entities = Series(entities, rank, init_scale, periods, bounds, generator)
        self.predicates = Series(predicates, rank, init_scale, periods, bounds, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `event`."""
        subject, predicate = queries.subject, queries.predicate
        moments = send(queries.time, self.device).to(self.entities.base.dtype) / self.steps  # (batch,)
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
