"""Distances of many queries to many candidates, without a tensor of the size queries × candidates × width.

Where a distance is a matrix product, it is computed as one; where it is none, a compiled kernel walks over the pairs,
in the gradient too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from foretime.models.algebra import shared_rows

Kind = Literal["absolute", "moduli", "squared"]
Norm = Literal["l1", "l2"]
TINY = 1e-6
"""A distance below which it has no gradient."""
NUMBERS_AT_ONCE = 2_000_000
"""Numbers that a formula written in tensors may hold at once for each of its tensors."""


class PairSums(torch.autograd.Function):
    """Σ over the coordinates of each query and each of its candidates: absolute, moduli or squared differences."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, table: Tensor, objects: Tensor, kind: Kind) -> Tensor:
        """Return the sums, (batch, candidates); `query` is (batch, width), `objects` (batch, candidates)."""
        from foretime.models import distance_kernel as kernel  # numba is slow to load, and few models need it

        query, table = query.detach().contiguous(), table.detach().contiguous()
        ctx.save_for_backward(query, table, objects)
        ctx.kind = getattr(kernel, kind.upper())
        sums = query.new_empty(objects.shape)
        kernel.sum_pairs(ctx.kind, query.numpy(), table.numpy(), objects.numpy(), sums.numpy())
        return sums

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, None, None]:
        """Return the gradients of the queries and of the table."""
        from foretime.models import distance_kernel as kernel

        query, table, objects = ctx.saved_tensors
        gradient, tables = torch.zeros_like(query), table.new_zeros(kernel.RUNS, *table.shape)
        arrays = (query, table, objects, grad_output.contiguous(), gradient, tables)
        kernel.add_gradients(ctx.kind, *(array.numpy() for array in arrays))
        return gradient, tables.sum(0), None, None


def pair_sums(query: Tensor, table: Tensor, objects: Tensor | None, kind: Kind) -> Tensor:
    """Return Σ |qᵢ − oᵢ|, the same of complex numbers, or Σ (qᵢ − oᵢ)², (batch, candidates).

    `objects` is (batch, candidates), or (candidates,) where all queries share them; without it the candidates are all
    rows of the table.
    """
    if objects is None or objects.ndim == 1:
        table = shared_rows(table, objects)
        if kind == "squared":
            return torch.addmm(squares(table), query, table.T, alpha=-2.0).add_(squares(query)[:, None])
        objects = torch.arange(len(table)).expand(len(query), -1)
    return PairSums.apply(query, table, objects, kind)  # type: ignore[no-any-return, no-untyped-call]


def distances(query: Tensor, table: Tensor, objects: Tensor | None, norm: Norm) -> Tensor:
    """Return ‖q − o‖ of real rows in the L1 or the L2 norm, (batch, candidates)."""
    if norm == "l1":
        return pair_sums(query, table, objects, "absolute")
    return root(pair_sums(query, table, objects, "squared"))


def squares(x: Tensor) -> Tensor:
    """Return the squared lengths of rows, (…)."""
    return x.square().sum(-1)


class Root(torch.autograd.Function):
    """√x of what rounding may have made negative; at zero, where the root is infinitely steep, the gradient is zero."""

    @staticmethod
    def forward(ctx: Any, squared: Tensor) -> Tensor:
        """Return the root."""
        found = squared.clamp_min(0.0).sqrt_()
        ctx.save_for_backward(found)
        return found

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        """Return the gradient, that of the root times 1 / 2√x."""
        (found,) = ctx.saved_tensors
        gradient: Tensor = (grad_output / found).mul_(0.5).masked_fill_(found < TINY, 0.0)
        return gradient


def root(squared: Tensor) -> Tensor:
    """Return √x, zero where x is negative."""
    return Root.apply(squared)  # type: ignore[no-any-return, no-untyped-call]


def in_pieces(function: Callable[[slice], Tensor], rows: int, numbers: int) -> Tensor:
    """Return the results of a function of some rows, one below the other, holding few intermediate tensors at once.

    `numbers` is how many a row takes in the largest of them. In training what a piece held is computed once more for
    the gradient, instead of being kept.
    """
    step = max(1, NUMBERS_AT_ONCE // max(1, numbers))
    pieces = [slice(begin, begin + step) for begin in range(0, rows, step)] or [slice(0, 0)]
    if not torch.is_grad_enabled() or len(pieces) == 1:
        return torch.cat([function(piece) for piece in pieces])
    return torch.cat([checkpoint(function, piece, use_reentrant=False) for piece in pieces])


def rows_by_time(time: Tensor) -> list[Tensor]:
    """Return the rows of the questions, those that ask about the same time together."""
    order = torch.argsort(time, stable=True)
    _, counts = torch.unique_consecutive(time[order], return_counts=True)
    return list(torch.split(order, counts.tolist())) or [order]
