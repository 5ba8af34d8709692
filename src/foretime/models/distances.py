"""Distances of many queries to many candidates, without a tensor of the size queries × candidates × width.

Where a distance is a matrix product, it is computed as one; where it is none, a compiled kernel walks over the pairs on
the CPU, in the gradient too, and another device takes them block by block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor

from foretime.devices import CPU
from foretime.models.algebra import shared_rows
from foretime.models.blocks import in_blocks
from foretime.models.shards import before_products, with_rows_of

Kind = Literal["absolute", "moduli", "squared"]
Norm = Literal["l1", "l2"]
TINY = 1e-6
"""A distance below which it has no gradient."""


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
    rows of the table. What all queries share has to be among the rows of a shard.
    """
    if objects is None or objects.ndim == 1:
        query = before_products(query, table)
        table = shared_rows(table, objects)
        if kind == "squared":
            return torch.addmm(squares(table), query, table.T, alpha=-2.0).add_(squares(query)[:, None])
        objects = None
    if objects is not None:
        table, objects = with_rows_of(table, objects)
    if query.device != CPU:
        return in_blocks(FORMULAS[kind], (query,), (table,), objects)
    if objects is None:
        objects = torch.arange(len(table)).expand(len(query), -1)
    return PairSums.apply(query, table, objects, kind)  # type: ignore[no-any-return, no-untyped-call]


def _moduli(query: Tensor, rows: Tensor) -> Tensor:
    # a norm has a gradient at zero, where the root of a sum has none
    moduli: Tensor = torch.linalg.vector_norm(torch.stack((query - rows).chunk(2, dim=-1)), dim=0)
    return moduli.sum(-1)


FORMULAS: dict[Kind, Callable[[Tensor, Tensor], Tensor]] = {
    "absolute": lambda query, rows: (query - rows).abs().sum(-1),
    "moduli": _moduli,
    "squared": lambda query, rows: (query - rows).square().sum(-1),
}
"""The sums as tensors, as `in_blocks` asks for them."""


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
