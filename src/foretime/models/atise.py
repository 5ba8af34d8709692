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
from foretime.models.distances import in_pieces, rows_by_time


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

    def mean(self, ids: Tensor, time: Tensor) -> Tensor:
        """Return the means at a time between 0 and 1, (…, rank); `time` is (…, 1)."""
        season = torch.sin(2.0 * math.pi * time * lookup(self.frequency, ids))
        return lookup(self.base, ids) + time * lookup(self.trend, ids) + season * lookup(self.season, ids)


class ATiSE(Model):
    """ATiSE: «Temporal Knowledge Graph Completion based on Time Series Gaussian Embedding», Xu et al., ISWC 2020.

    Entities and predicates are Gaussians that drift and swing in time. The difference of subject and object should be
    distributed as the predicate is: the score is the mean of both Kullback–Leibler divergences, negative.

        score(s, p, o, t) = −¼ Σ ((v + d²)/w + (w + d²)/v − 2), d = m_s(t) − m_o(t) − m_p(t), v = v_s + v_o, w = v_p

    v is in a denominator, so this is no matrix product; it is computed in pieces, the objects once for each time.
    """

    Options: ClassVar[type[ModelOptions]] = ATiSEOptions
    uses_time: ClassVar[bool] = True
    default_loss: ClassVar[LossName] = "negatives"
    default_margin: ClassVar[float] = 6.0

    def __init__(self, sizes: Sizes, options: ATiSEOptions, generator: torch.Generator) -> None:
        super().__init__(sizes, options, generator)
        self.steps, self.rank = sizes.times, options.rank
        self.entities = Series(sizes.entities, options, generator)
        self.predicates = Series(sizes.predicates, options, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `event`."""
        if objects is not None:
            objects = objects.expand(len(queries.subject), -1)
            return [ScoreTerm("event", 1.0, self._score(queries, objects))]
        everything = torch.arange(len(self.entities.base))[None]
        groups = rows_by_time(queries.time)
        scores = [self._score(Queries(*(column[rows] for column in queries)), everything) for rows in groups]
        return [ScoreTerm("event", 1.0, torch.cat(scores)[torch.argsort(torch.cat(groups))])]

    def constrain_(self) -> None:
        """Keep the variances within their bounds, and means at a length of at most one but for drift and swing."""
        with torch.no_grad():
            for series in (self.entities, self.predicates):
                series.variance.clamp_(series.least, series.most)
                series.base.div_(series.base.norm(dim=-1, keepdim=True).clamp(min=1.0))

    def _score(self, queries: Queries, objects: Tensor) -> Tensor:
        """Return the scores, (batch, candidates); one row of objects, (1, candidates), is for questions of one time."""
        shared = len(objects) == 1

        def score(rows: slice) -> Tensor:
            subject, predicate = queries.subject[rows], queries.predicate[rows]
            moment = queries.time[rows, None] / self.steps  # (rows, 1)
            candidates, moments = (objects, moment[:1]) if shared else (objects[rows], moment)
            wanted = self.entities.mean(subject, moment) - self.predicates.mean(predicate, moment)  # (rows, rank)
            squared = (wanted[:, None] - self.entities.mean(candidates, moments[:, None])).square()
            w = lookup(self.predicates.variance, predicate)[:, None]
            v = lookup(self.entities.variance, subject)[:, None] + lookup(self.entities.variance, candidates)
            return ((v + squared) / w + (w + squared) / v - 2.0).sum(-1) / -4.0  # (rows, candidates)

        return in_pieces(score, len(queries.subject), objects.shape[1] * self.rank)
