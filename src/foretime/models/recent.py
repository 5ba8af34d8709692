"""The model that reads what has lately happened to the subject."""

from __future__ import annotations

import math
from copy import copy
from typing import Annotated, ClassVar, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn

from foretime.devices import send
from foretime.models.algebra import dot_objects, lookup
from foretime.models.base import Component, InitScale, Model, Queries, Rank, ScoreTerm, embedding
from foretime.models.past_events import LatestEvents, PastEvents, no_events

HEADS = 4
AGES = 16
"""Buckets of the age of an event: 1 step, 2, 3, 4–5, … steps."""
STEP = 0.3
"""How far a weight moves when its stored number moves by 1: one learning rate fits these weights and the evidence's."""
FASTEST, SLOWEST = 1.0, 0.01
"""How fast events fade for the first and for the last head before anything is learned, by step."""

Reading = Annotated[int, Field(ge=1, le=1000, description="How many of the subject's latest events are read.")]
Weight = Annotated[float, Field(gt=0.0, le=10.0, description="How much what is read weighs beside the evidence.")]
Dropout = Annotated[
    float, Field(ge=0.0, lt=1.0, description="The share of numbers, and of subjects, that are left out in training.")
]


class _Dropping(NamedTuple):
    """Leaves out a share of numbers, drawn by a generator; the others grow, so that their mean stays."""

    share: float
    generator: torch.Generator | None

    def __call__(self, values: Tensor, shape: tuple[int, ...] | None = None) -> Tensor:
        """Return the values with some set to 0; `shape`, which they must broadcast with, says what goes together."""
        if self.generator is None:
            return values
        # drawn on the CPU, so that every device leaves out the same
        drawn = torch.rand(shape or values.shape, generator=self.generator) >= self.share
        kept = send(drawn, values.device)
        return values * (kept / (1 - self.share))


class AttentionComponent(Model):
    """What the latest events of the subject say: x points at the answer.

    α_h(k) = softmax over k of ⟨u_h(s, p), K o_k + κ(q_k)⟩ / √rank + a_h(age_k) − λ_h age_k
    c_h = Σ α_h(k) (o_k + v(q_k))
    x = W₂ ReLU(W₁ [s; p; s ∘ p; c₁ … c₄]) + mean(c) ∘ g(p),    ⟨x, o⟩ + b(o)
    """

    uses_time: ClassVar[bool] = True
    reads_events: ClassVar[bool] = True

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 96, init_scale: InitScale = 0.3,
                 events: Reading = 24, dropout: Dropout = 0.5, boundaries: int = 1,
                 generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        self._count, self._dropout, self.past = events, dropout, no_events()
        # of which only the shapes are wanted is made on the device meta, where numbers have no values
        self._seed = int(torch.randint(1 << 30, (), generator=generator, device="cpu"))
        wide = (3 + HEADS) * rank

        def table(rows: int, width: int, scale: float = init_scale) -> nn.Parameter:
            return embedding(rows, width, scale, generator)

        self.entities, self.popularity = table(entities, rank), table(entities, 1, 0.0)
        self.predicates, self.messages = table(predicates, rank), table(predicates, rank)
        self.gates, self.keys = table(predicates, rank), table(predicates, rank)
        self.key_map, self.query_map = table(rank, rank), table(2 * rank, HEADS * rank)
        self.hidden, self.hidden_bias = table(wide, 2 * rank, wide**-0.5 / STEP), table(1, 2 * rank, 0.0)
        self.output = table(2 * rank, rank, (2 * rank) ** -0.5 / STEP)
        self.ages = table(AGES, HEADS, 0.0)
        self.fading = nn.Parameter(torch.linspace(math.log(FASTEST), math.log(SLOWEST), HEADS) / STEP)
        self.draws: Tensor
        self.register_buffer("draws", torch.zeros(1))

    def reading(self, events: PastEvents) -> AttentionComponent:
        """Return the same model, with the same weights, reading other events."""
        other = copy(self)
        other.past = events
        return other

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `recent`."""
        drop = self._dropping()
        subject, predicate = self._rows(self.entities, queries.subject), self._rows(self.predicates, queries.predicate)
        read = self._read(subject, predicate, self.past.latest(queries.subject, queries.time, self._count))
        subject = drop(subject, (len(subject), 1))  # whose embedding is left out must be told by its events
        known = [drop(subject), predicate, subject * predicate, drop(read.flatten(1))]
        hidden = torch.cat(known, -1) @ (STEP * self.hidden) + STEP * self.hidden_bias  # (batch, 2 · rank)
        query = drop(hidden.relu()) @ (STEP * self.output)
        query = drop(query + read.mean(1) * self._rows(self.gates, queries.predicate))  # (batch, rank)
        # the last number of the query is 1, and that of an object how popular it is
        whole = torch.cat([STEP * query, STEP * torch.ones_like(query[:, :1])], -1)
        return [ScoreTerm("recent", 1.0, dot_objects(whole, torch.cat([self.entities, self.popularity], -1), objects))]

    def _read(self, subject: Tensor, predicate: Tensor, events: LatestEvents) -> Tensor:
        """Return what each head makes of the events, (batch, heads, rank); nothing where there are none."""
        rank, events = subject.shape[1], LatestEvents(*(send(column, self.device) for column in events))
        asked = torch.cat([subject, predicate], -1) @ (STEP * self.query_map)
        keys = lookup(self.entities @ (STEP * self.key_map) * STEP, events.other)
        keys = keys + self._rows(self.keys, events.predicate)  # (batch, events, rank)
        weight = asked.view(-1, HEADS, rank) @ keys.transpose(1, 2) / rank**0.5  # (batch, heads, events)
        age = events.age.float()
        bucket = (1.6 * age.clamp(min=1).log2()).long().clamp(max=AGES - 1)
        weight = weight + self._rows(self.ages, bucket).transpose(1, 2)
        weight = weight - (STEP * self.fading).exp()[:, None] * age[:, None]
        seen = events.seen[:, None]
        weight = weight.masked_fill(~seen, -1e4).softmax(-1) * seen
        read: Tensor = weight @ (self._rows(self.entities, events.other) + self._rows(self.messages, events.predicate))
        return read

    def _rows(self, table: Tensor, ids: Tensor) -> Tensor:
        return STEP * lookup(table, ids)

    def _dropping(self) -> _Dropping:
        """Return what leaves numbers out: another draw at every step of a training, the same where it is resumed."""
        if not (self.training and torch.is_grad_enabled() and self._dropout):
            return _Dropping(0.0, None)
        self.draws.add_(1)
        return _Dropping(self._dropout, torch.Generator().manual_seed(self._seed + int(self.draws)))


class Recent(Model):
    """Attention over the latest events of the subject: embeddings that know what happened yesterday.

    The subject's events before t, each with a partner o, a predicate q and an age, are read by four heads; what each
    makes of them joins the embeddings of subject and predicate in a small network. The answer is whom the network's
    vector points at. New events change what is read, and no weight. The evidence beside it, which has learned by itself
    too, knows much of the same, so that it is given less than its full weight.

        score(s, p, o, t) = λ (⟨x(s, p, events of s before t), o⟩ + b(o))
    """

    uses_time: ClassVar[bool] = True
    reads_events: ClassVar[bool] = True

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 96, init_scale: InitScale = 0.3,
                 events: Reading = 24, dropout: Dropout = 0.5, weight: Weight = 0.4, boundaries: int = 1,
                 generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        self._weight = weight
        self.attention = AttentionComponent(
            entities, predicates, times, rank=rank, init_scale=init_scale, events=events, dropout=dropout,
            generator=generator,
        )  # fmt: skip

    def reading(self, events: PastEvents) -> Recent:
        """Return the same model, with the same weights, reading other events."""
        other = copy(self)
        other._modules = {"attention": self.attention.reading(events)}
        return other

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the one term, `recent`."""
        return [term._replace(weight=self._weight) for term in self.attention.score_terms(queries, objects)]

    def components(self) -> list[Component]:
        """Return the attention, which learns at its full weight."""
        return [Component("recent", 1.0, self.attention)]
