"""Complex vectors kept as real ones: the real halves first, the imaginary halves behind them.

Re⟨a, b̄⟩ is then the plain dot product of the two rows, so that scoring all objects is one real matrix product.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from foretime.devices import send
from foretime.models.shards import Shard, before_products, look_up, own_rows


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """Return the complex product a ∘ b, (…, 2·rank)."""
    a_re, a_im = a.chunk(2, dim=-1)
    b_re, b_im = b.chunk(2, dim=-1)
    return torch.cat([a_re * b_re - a_im * b_im, a_re * b_im + a_im * b_re], dim=-1)


def conjugate(a: Tensor) -> Tensor:
    """Return the complex conjugate ā, (…, 2·rank)."""
    a_re, a_im = a.chunk(2, dim=-1)
    return torch.cat([a_re, -a_im], dim=-1)


def rotation(angles: Tensor) -> Tensor:
    """Return the complex numbers of modulus one with these angles, (…, 2·rank); `angles` is (…, rank)."""
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


def lookup(table: Tensor, ids: Tensor) -> Tensor:
    """Return the rows of the table, (…, width). Ids are on the CPU: here they go where the table is."""
    if isinstance(table, Shard):
        return look_up(table, ids)
    return functional.embedding(send(ids, table.device), table)


def shared_rows(table: Tensor, objects: Tensor | None) -> Tensor:
    """Return the rows of the candidates that all queries share, (candidates, width): without `objects` all rows.

    Of a shard they are its own rows, and `objects` must be some of these.
    """
    if objects is not None and isinstance(table, Shard):
        return own_rows(table, objects)
    return table if objects is None else lookup(table, objects)


def dot_objects(query: Tensor, table: Tensor, objects: Tensor | None) -> Tensor:
    """Return the dot products of each query, (batch, width), with its candidates: (batch, candidates).

    `objects` is (batch, candidates), or (candidates,) where all queries share them; without it the candidates are all
    rows of the table. What all queries share has to be among the rows of a shard. The scores have single precision,
    also where training multiplies in bfloat16.
    """
    if objects is None or objects.ndim == 1:
        query = before_products(query, table)
        return (query @ shared_rows(table, objects).T).float()
    return torch.einsum("bw,bcw->bc", query, lookup(table, objects)).float()
