"""What a model is: named score terms, named penalties, and nothing about files, filters or optimisers."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, get_type_hints

import torch
from pydantic import Field, create_model
from torch import Tensor, nn

from foretime.config import LossName, Section
from foretime.devices import CPU
from foretime.models.past_events import PastEvents
from foretime.rules.table import Rules


class Sizes(NamedTuple):
    """What a model must know of a graph: the first arguments of its constructor, and `boundaries`.

    `predicates` counts inverses too. Where start and end of a fact have separate relations, `boundaries` is 2 and
    `predicates` counts those of the ends too, behind all others.
    """

    entities: int
    predicates: int
    times: int
    boundaries: int = 1


class Queries(NamedTuple):
    """Questions `(subject, predicate, ?, time)` as ids, each (batch,), on the CPU: `lookup` takes them elsewhere."""

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


Rank = Annotated[
    int, Field(ge=1, le=10_000, description="Numbers in an embedding: real, complex, or of four parts, by the model.")
]
InitScale = Annotated[
    float,
    Field(
        gt=0.0,
        le=1000.0,
        description="The standard deviation of the initial weights; angles have a range of their own.",
    ),
]


class Model(nn.Module, ABC):
    """Scores every candidate object of a question; a plain torch module.

    Only objects are predicted: `(?, p, o, t)` is asked as `(o, p⁻¹, ?, t)`. A model is one file: its constructor, its
    formula in `score_terms`, its penalties, and the weights and the loss that it has when a configuration names none.
    The constructor takes `entities, predicates, times`, its options as keywords (these are the keys of `[model]`, with
    the types, bounds and descriptions of their annotations), `boundaries` and `generator`, which draws the weights:

        >>> model = TComplEx(entities=100, predicates=8, times=365, rank=20)
        >>> model.score_objects(Queries(subject, predicate, time))    # (batch, 100)
    """

    uses_time: ClassVar[bool]
    scores_are_products: ClassVar[bool] = False
    """Whether every term is a product with the object, which training may round to bfloat16: of a distance, which is a
    difference of products, nothing would be left."""
    takes_rules: ClassVar[bool] = False
    reads_events: ClassVar[bool] = False
    """Whether the score depends on the events before the time asked about, which `reading` gives it."""
    default_penalties: ClassVar[dict[str, float]] = {}
    default_loss: ClassVar[LossName] = "softmax"
    default_margin: ClassVar[float] = 1.0
    end_offset: int = 0
    """What is added to the predicate at the end of a fact, where boundary relations are separate."""

    @property
    def device(self) -> torch.device:
        """Where its weights are, and its scores will be."""
        return next((weights.device for weights in self.parameters()), CPU)

    @classmethod
    @cache
    def options(cls) -> type[Section]:
        """Return the schema of the model's options, which are the keyword arguments of its constructor."""
        hints = get_type_hints(cls.__init__, include_extras=True)
        fields: dict[str, Any] = {
            name: (hints[name], parameter.default)
            for name, parameter in inspect.signature(cls.__init__).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and name not in ("boundaries", "generator")
        }
        return create_model(f"{cls.__name__}Options", __base__=Section, **fields)

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
        """Return the models that are trained together, each under its own loss: by default the model alone."""
        return [Component("", 1.0, self)]

    def take_rules(self, rules: Rules | None) -> None:
        """Take the temporal rules that guide the model; called only if `takes_rules` is true."""

    def reading(self, events: PastEvents) -> Model:
        """Return the same model, with the same weights, reading these events: by default itself, which reads none."""
        return self

    def begin_epoch(self, epoch: int) -> None:
        """Prepare for an epoch, counted from 1, that begins or resumes after an interruption: by default nothing."""

    def constrain_(self) -> None:
        """Project the weights back to their allowed range after a step: by default there is none."""

    def score_objects(self, queries: Queries, objects: Tensor | None = None) -> Tensor:
        """Return the weighted sum of the score terms, (batch, candidates). Final: not to be overridden."""
        total: Tensor | None = None
        for term in self.score_terms(queries, objects):
            weighted = term.scores if term.weight == 1.0 else term.scores.mul_(term.weight)
            total = weighted if total is None else total.add_(weighted)
        if total is None:
            raise TypeError(f"{type(self).__name__}.score_terms returned no term")
        return total


def embedding(count: int, width: int, scale: float, generator: torch.Generator | None) -> nn.Parameter:
    """Return a table of `count` vectors drawn from a normal distribution with the standard deviation `scale`."""
    return nn.Parameter(torch.randn(count, width, generator=generator).mul_(scale))
