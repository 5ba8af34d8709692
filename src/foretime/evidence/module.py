"""Evidence as a term of the score: a log-linear model over grounded rules, alone or beside any other model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from foretime.devices import CPU, fetch, send
from foretime.evidence.families import FEATURES
from foretime.evidence.index import EvidenceIndex
from foretime.models.base import Component, Model, Queries, ScoreTerm
from foretime.models.past_events import PastEvents
from foretime.rules.table import Rules

ROWS_AT_ONCE = 512
"""Questions that are scored at once where only some candidates are wanted."""
ONE_BY_ONE = 16
"""How many candidates of a question are looked up one by one, rather than all entities at once."""


class EvidenceScores(torch.autograd.Function):
    """The evidence of every candidate: the weights of its grounded features, added up."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, index: EvidenceIndex, queries: Queries, device: torch.device) -> Tensor:
        """Return the scores, (questions, entities), on a device: they go there once."""
        ctx.index, ctx.questions = index, [fetch(column).numpy() for column in queries]
        return send(index.score(fetch(weights).numpy(), *ctx.questions), device)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None, None]:
        """Return the gradient of the weights, on the CPU: that of the scores comes back once."""
        gradient = ctx.index.gradient(fetch(grad_output).contiguous().numpy(), *ctx.questions)
        return torch.from_numpy(gradient), None, None, None


class EvidenceLoss(torch.autograd.Function):
    """The mean cross entropy of answers under the evidence alone, on the CPU, beside the weights."""

    @staticmethod
    def forward(
        ctx: Any, weights: Tensor, index: EvidenceIndex, queries: Queries, row: Tensor, answer: Tensor
    ) -> Tensor:
        """Return the loss, (); its gradient comes from the same walk."""
        asked = [fetch(column).numpy() for column in (*queries, row, answer)]
        loss, gradient = index.softmax(fetch(weights).numpy(), *asked)
        ctx.save_for_backward(torch.from_numpy(gradient))
        return torch.tensor(loss, dtype=weights.dtype)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None, None, None]:
        """Return the gradient of the weights."""
        return ctx.saved_tensors[0] * grad_output, None, None, None, None


class EvidenceComponent(Model):
    """R(o) = Σ over the grounded features f of o of g[f] + a[p, f] + w[rule, f].

    Every feature has a weight that all predicates share, one for its predicate, and one for its rule: a rule that was
    seen three times falls back on its predicate, and that on its family.

    Wherever the model is sent, the weights stay on the CPU, beside the kernels that read them: only scores go there.
    """

    uses_time: ClassVar[bool] = True
    default_penalties: ClassVar[dict[str, float]] = {"l2": 1e-6}

    def __init__(self, index: EvidenceIndex) -> None:
        nn.Module.__init__(self)
        self.index = index
        self.weights = nn.Parameter(torch.zeros(index.weights))
        self._device = CPU

    @property
    def device(self) -> torch.device:
        """Where its scores will be."""
        return self._device

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Take note of where the model is sent, as `nn.Module.to` asks each part, and leave the weights."""
        self._device = fn(torch.empty(0, device=self._device)).device
        return self

    def on(self, index: EvidenceIndex, weights: Tensor | None = None) -> EvidenceComponent:
        """Return the same evidence over other events, with the same weights unless others are given."""
        other = EvidenceComponent(index)
        other.weights = self.weights if weights is None else nn.Parameter(weights)
        other._device = self._device
        return other.train(self.training)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `evidence`."""
        queries = self._plain(queries)
        if objects is None:
            scores = EvidenceScores.apply(self.weights, self.index, queries, self.device)  # type: ignore[no-untyped-call]
            return [ScoreTerm("evidence", 1.0, scores)]
        objects = objects.expand(len(queries.subject), -1)
        if objects.shape[1] <= ONE_BY_ONE and not torch.is_grad_enabled():
            return [ScoreTerm("evidence", 1.0, self._score_one_by_one(queries, objects))]
        batches = [
            self._score(Queries(*(column[rows] for column in queries))).gather(1, send(objects[rows], self.device))
            for rows in torch.arange(len(objects)).split(ROWS_AT_ONCE)  # type: ignore[no-untyped-call]
        ]
        return [ScoreTerm("evidence", 1.0, torch.cat(batches))]

    def loss(self, queries: Queries, row: Tensor, answer: Tensor) -> Tensor:
        """Return the mean cross entropy of answers among all entities, (): `row` says to which question, ascending."""
        loss: Tensor = EvidenceLoss.apply(self.weights, self.index, self._plain(queries), row, answer)  # type: ignore[no-untyped-call]
        return loss

    def _score(self, queries: Queries) -> Tensor:
        return self.score_terms(queries)[0].scores

    def _score_one_by_one(self, queries: Queries, objects: Tensor) -> Tensor:
        width = objects.shape[1]
        subject, predicate, time = (fetch(column).repeat_interleave(width).numpy() for column in queries)
        weights, asked = fetch(self.weights).numpy(), fetch(objects).reshape(-1).numpy()
        found = self.index.score_one(weights, subject, predicate, asked, time)
        return send(found, self.device).view(-1, width)

    @torch.inference_mode()
    def score_families(self, queries: Queries) -> dict[str, Tensor]:
        """Return the evidence of every candidate by family, (questions, entities) each: together they are the term."""
        questions = [fetch(column).numpy() for column in self._plain(queries)]
        weights = fetch(self.weights).numpy()
        return {
            f"evidence_{family}": send(index.score(weights, *questions), self.device)
            for family, index in self.index.by_family().items()
        }

    def _plain(self, queries: Queries) -> Queries:
        """Return the questions under the predicates of the graph: evidence knows the times of both ends itself."""
        return queries._replace(predicate=queries.predicate % (2 * self.index.events.predicates))

    @property
    def past_only(self) -> bool:
        """Whether only events before the time asked about are evidence, and so any later time can be asked about."""
        return self.index.reach.past_only

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return `l2`, the sum of the squared weights."""
        return {"l2": self.weights.square().sum()}


class WithEvidence(Model):
    """Any model with evidence beside it: score(s, p, o, t) = (the model's own terms) + R(o)."""

    uses_time: ClassVar[bool] = True

    def __init__(self, base: Model, index: EvidenceIndex) -> None:
        nn.Module.__init__(self)
        self.base = base.reading(_past_events(index)) if base.reads_events else base
        self.evidence = EvidenceComponent(index).to(self.base.device)

    @property
    def device(self) -> torch.device:
        """Where its scores will be; the model itself may have no weights."""
        return self.evidence.device

    def on(self, index: EvidenceIndex, weights: Tensor | None = None) -> WithEvidence:
        """Return the same model with its evidence over other events, as `EvidenceComponent.on` has it."""
        other = WithEvidence(self.base, index)
        other.evidence, other.end_offset = self.evidence.on(index, weights), self.end_offset
        return other.train(self.training)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the terms of the model, and `evidence`.

        The model comes first: on another device than the CPU its products run while the evidence is looked up.
        """
        return [*self.base_terms(queries, objects), *self.evidence.score_terms(queries, objects)]

    def base_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the terms of the model alone; to it, a time after the last step is the last step.

        An embedding has to be learned, so a step beyond the timeline has none; what reads events needs none, and reads
        them as of the time from which the evidence is looked at.
        """
        index = self.evidence.index
        if self.base.reads_events:
            time = torch.from_numpy(index.as_of(fetch(queries.time).numpy()))
            return self.base.score_terms(queries._replace(time=time), objects)
        time = queries.time.clamp(max=index.events.steps - 1)
        return self.base.score_terms(queries._replace(time=time), objects)

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return the penalties of the model, and `evidence_l2`."""
        own = {f"evidence_{name}": value for name, value in self.evidence.penalties(queries, objects).items()}
        return {**self.base.penalties(queries, objects), **own}

    def components(self) -> list[Component]:
        """Return the components of the model, and the evidence."""
        return [*self.base.components(), Component("evidence", 1.0, self.evidence)]

    def take_rules(self, rules: Rules | None) -> None:
        """Hand the rules that guide the model on to it."""
        self.base.take_rules(rules)

    def begin_epoch(self, epoch: int) -> None:
        """Tell the model."""
        self.base.begin_epoch(epoch)

    def constrain_(self) -> None:
        """Constrain the model's weights."""
        self.base.constrain_()


def _past_events(index: EvidenceIndex) -> PastEvents:
    """Return the events of an index as models read them."""
    events = index.events
    columns = events.by_entity_time, events.by_entity_other, events.by_entity_predicate, events.by_entity_twin
    return PastEvents.of(events.by_entity, *(column.astype(np.int64) for column in columns))


def in_layout(weights: Tensor, index: EvidenceIndex) -> Tensor:
    """Return saved weights in the layout of this version: an earlier one had fewer features, the first of these."""
    rows = 1 + 2 * index.events.predicates
    of_features = len(weights) - (index.weights - FEATURES * rows)
    before = of_features // rows
    if of_features % rows or not 0 < before < FEATURES:
        return weights
    features = weights.new_zeros(rows, FEATURES)
    features[:, :before] = weights[:of_features].view(rows, before)
    return torch.cat([features.view(-1), weights[of_features:]])


def model_on(model: Model, index: EvidenceIndex, weights: Tensor | None = None) -> Model:
    """Return a model with its evidence over other events, as `EvidenceComponent.on` has it; itself without evidence."""
    return model.on(index, weights) if isinstance(model, EvidenceComponent | WithEvidence) else model


def evidence_of(model: Model) -> EvidenceComponent | None:
    """Return the evidence within a model, if there is any."""
    if isinstance(model, WithEvidence):
        return model.evidence
    return model if isinstance(model, EvidenceComponent) else None
