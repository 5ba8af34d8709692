"""Tables of entities whose rows are divided between processes: each has some of them, and asks for the others.

A model need not know it. It reads a table in two ways, which both are here: it looks up the rows of the subjects and
answers of a batch, and it multiplies questions with all rows, of which each process takes its own. All processes have
the same questions, so that what follows from the rows that are looked up is the same in each of them; only scores are
divided, and their loss adds up what each process has of them.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional


class Exchange(Protocol):
    """What the processes that share a table say to each other."""

    def sum_(self, values: Tensor) -> Tensor:
        """Put the sum over all processes in the place of the values, and return them."""


class Shard(nn.Parameter):
    """The rows of a table that this process has, from `begin` on, out of `count` in all."""

    begin: int
    count: int
    exchange: Exchange

    def __new__(cls, rows: Tensor, begin: int, count: int, exchange: Exchange) -> Shard:
        """Return a parameter that holds these rows."""
        shard = super().__new__(cls, rows, requires_grad=True)
        shard.begin, shard.count, shard.exchange = begin, count, exchange
        return shard

    def hold(self, rows: Tensor, begin: int, exchange: Exchange) -> None:
        """Take other rows of the table, maybe all, and exchange them in another way; optimisers see no other table."""
        self.data, self.begin, self.exchange = rows, begin, exchange


def look_up(shard: Shard, ids: Tensor) -> Tensor:
    """Return the rows of a table with these ids, (…, width), whichever process has them."""
    rows, place = with_rows_of(shard, ids)
    return rows[place]


def with_rows_of(table: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return a table that has the rows with these ids, and where they are in it: the table itself unless it is a shard.

    What is exchanged grows with the different ids, not with the table. The gradient needs no exchange: all processes
    come to the same one, and each takes that of its own rows.
    """
    if not isinstance(table, Shard):
        return table, ids
    different, place = torch.unique(ids, return_inverse=True)
    return _LookedUp.apply(table, different), place  # type: ignore[no-untyped-call]


def own_rows(shard: Shard, ids: Tensor) -> Tensor:
    """Return rows that this process has, (ids, width)."""
    return functional.embedding(ids - shard.begin, shard)


def before_products(query: Tensor, table: Tensor) -> Tensor:
    """Return the questions as they are, to be compared with rows of a table that all of them share.

    Where it is a shard, each process has rows of its own: the gradient that comes back is that of these, and what goes
    on is its sum over all processes.
    """
    if isinstance(table, Shard):
        return _BeforeProducts.apply(query, table)  # type: ignore[no-any-return, no-untyped-call]
    return query


class _LookedUp(torch.autograd.Function):
    """Rows of a divided table, (ids, width)."""

    @staticmethod
    def forward(ctx: Any, shard: Shard, ids: Tensor) -> Tensor:
        """Return the sum of what each process has of them: one has the row, and the others zeros."""
        places = torch.nonzero((ids >= shard.begin) & (ids < shard.begin + len(shard)))[:, 0]
        own = ids[places] - shard.begin
        rows = shard.new_zeros(len(ids), shard.shape[1]).index_copy_(0, places, shard.detach()[own])
        ctx.save_for_backward(places, own)
        ctx.shape = shard.shape
        return shard.exchange.sum_(rows)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        """Return the gradient of the rows of this process."""
        places, own = ctx.saved_tensors
        return grad_output.new_zeros(ctx.shape).index_copy_(0, own, grad_output[places]), None


class _BeforeProducts(torch.autograd.Function):
    """Questions, and the sum over all processes of their gradients."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, shard: Shard) -> Tensor:
        """Return the questions, (batch, width)."""
        ctx.exchange = shard.exchange
        return query.view_as(query)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        """Return the whole gradient of the questions."""
        return ctx.exchange.sum_(grad_output.clone(memory_format=torch.contiguous_format)), None
