"""What a model is: named score terms, named penalties, and nothing about files, filters or optimisers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn

from foretime.config import LossName, Section
from foretime.rules.table import Rules


class Sizes(NamedTuple):
    """How many of each thing a model has to know.

    `predicates` counts inverses too and, where ends are told apart (`ends` is 2), those of the ends behind all others.
    """

    entities: int
    predicates: int
    times: int
    ends: int = 1


class Queries(NamedTuple):
    """Questions `(subject, predicate, ?, time)` as ids, each (batch,)."""

    subject: Tensor
    predicate: Tensor
    time: Tensor


class ScoreTerm(NamedTuple):
    """One named summand of a score: (batch, candidates), and how much it weighs."""

    name: str
    weight: float
    scores: Tensor


class Component(NamedTuple):
    """A model within a model that has a loss of its own in training, and how much it weighs."""

    name: str
    weight: float
    model: Model


class ModelOptions(Section):
    """The options that every model has; a model's own file may add some."""

    rank: int = Field(default=200, ge=1, le=10_000)
    """Numbers in an embedding: complex ones, real ones, or ones of four parts, as the model has them."""
    init_scale: float = Field(default=0.01, gt=0.0)
    """The standard deviation of the initial weights; some, such as angles of predicates, have ranges of their own."""


class Model(nn.Module, ABC):
    """Scores every candidate object of a question.

    Only objects are predicted: `(?, p, o, t)` is asked as `(o, p⁻¹, ?, t)`. A model is one file: its options, its
    formula in `score_terms`, its penalties, and the weights and the loss that it has when a configuration names none.
    """

    Options: ClassVar[type[ModelOptions]] = ModelOptions
    uses_time: ClassVar[bool]
    scores_are_products: ClassVar[bool] = False
    """Whether every term is a product with the object, which training may round to bfloat16: of a distance, which is a
    difference of products, nothing would be left."""
    takes_rules: ClassVar[bool] = False
    default_penalties: ClassVar[dict[str, float]] = {}
    default_loss: ClassVar[LossName] = "softmax"
    default_margin: ClassVar[float] = 1.0
    end_offset: int = 0
    """What is added to the predicate at the end of a fact, where ends have predicates of their own."""

    @abstractmethod
    def __init__(self, sizes: Sizes, options: ModelOptions, generator: torch.Generator) -> None:
        super().__init__()

    @abstractmethod
    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the terms of the score, the only formula of the model.

        `objects` is (batch, candidates), or (candidates,) where all questions share them; without it every entity is a
        candidate. The tensors returned are the caller's, who may overwrite them.
        """

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return the unweighted penalties by name, each a mean over the questions; `objects` is (batch,)."""
        return {}

    def components(self) -> list[Component]:
        """Return the models that train side by side, each under its own loss: by default the model alone."""
        return [Component("", 1.0, self)]

    def take_rules(self, rules: Rules | None) -> None:
        """Take the temporal rules that guide the model; only models that say `takes_rules` are given some."""

    def begin_epoch(self, epoch: int) -> None:
        """Hear that an epoch begins, from 1, or goes on after an interruption: by default all epochs are alike."""

    def constrain_(self) -> None:
        """Bring the weights back to where they may be, after a step: by default they may be anywhere."""

    def score_objects(self, queries: Queries, objects: Tensor | None = None) -> Tensor:
        """Return the weighted sum of the score terms, (batch, candidates). Final: not to be overridden."""
        total: Tensor | None = None
        for term in self.score_terms(queries, objects):
            weighted = term.scores if term.weight == 1.0 else term.scores.mul_(term.weight)
            total = weighted if total is None else total.add_(weighted)
        if total is None:
            raise TypeError(f"{type(self).__name__}.score_terms returned no term")
        return total


def embedding(count: int, width: int, scale: float, generator: torch.Generator) -> nn.Parameter:
    """Return a table of `count` vectors drawn from a normal distribution with the standard deviation `scale`."""
    return nn.Parameter(torch.randn(count, width, generator=generator).mul_(scale))
