"""Divergences of many questions and many candidates, which are Gaussians whose means move in time.

A variance is in a denominator, so that this is no matrix product: a compiled kernel walks over the pairs on the CPU, in
the gradient too, and another device takes them block by block.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from foretime.devices import CPU
from foretime.models.blocks import in_blocks


class Divergences(torch.autograd.Function):
    """Σ (v + d²)/w + (w + d²)/v − 2 over the coordinates of each question and each of its candidates.

    d = wanted − m(t), v = spread + variance, m(t) = base + trend · t + season · sin(2π · frequency · t).
    """

    @staticmethod
    def forward(ctx: Any, moments: Tensor, objects: Tensor, query: Tensor, *tables: Tensor) -> Tensor:
        """Return the sums, (batch, candidates).

        `query` is wanted, spread and w of each question, (batch, 3, rank); `tables` are base, trend, season, frequency
        and variance, (entities, rank); `objects` is (batch, candidates), or (1, candidates) where all share them.
        """
        from foretime.models import divergence_kernel as kernel  # numba is slow to load, and few models need it

        held = [moments, *(tensor.detach().contiguous() for tensor in (query, *tables))]
        ctx.save_for_backward(*held)
        time, wanted, *series = (tensor.numpy() for tensor in held)
        shared = len(objects) == 1
        rows = torch.argsort(moments, stable=True)[None] if shared else torch.arange(len(moments))[:, None]
        places, begins = kernel.sort_by_entity(objects.reshape(-1).numpy(), len(tables[0]))
        ctx.walk = kernel.sine_terms(time.dtype), rows.numpy(), places, begins
        sums = moments.new_empty(len(moments), objects.shape[1])
        kernel.sum_divergences(wanted, time, tuple(series), sums.numpy(), *ctx.walk)
        return sums

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the query and of the tables."""
        from foretime.models import divergence_kernel as kernel

        time, wanted, *series = (tensor.numpy() for tensor in ctx.saved_tensors)
        slope, queries = grad_output.contiguous(), grad_output.new_zeros(kernel.RUNS, *wanted.shape)
        tables = [grad_output.new_zeros(table.shape) for table in series]
        gradients = slope.numpy(), queries.numpy(), tuple(table.numpy() for table in tables)
        kernel.add_gradients(wanted, time, tuple(series), *gradients, *ctx.walk)
        return None, None, queries.sum(0), *tables


def divergences(moments: Tensor, objects: Tensor | None, query: Tensor, tables: tuple[Tensor, ...]) -> Tensor:
    """Return the divergences of `Divergences`, (batch, candidates); `moments` are the times of the questions, (batch,).

    `objects` is (batch, candidates), or (candidates,) for all questions; without it all rows of the tables are asked.
    """
    if query.device != CPU:
        return in_blocks(_formula, (moments[:, None], *query.unbind(1)), tables, objects)
    if objects is None:
        objects = torch.arange(len(tables[0]))
    objects = objects[None] if objects.ndim == 1 else objects
    return Divergences.apply(moments, objects, query, *tables)  # type: ignore[no-any-return, no-untyped-call]


def _formula(
    time: Tensor, wanted: Tensor, spread: Tensor, w: Tensor,
    base: Tensor, trend: Tensor, season: Tensor, frequency: Tensor, variance: Tensor,
) -> Tensor:  # fmt: skip
    """Return the divergences as tensors, as `in_blocks` asks for them."""
    mean = base + time * trend + season * torch.sin(2.0 * math.pi * time * frequency)
    v, d = spread + variance, (wanted - mean).square()
    return ((v + d) / w + (w + d) / v - 2.0).sum(-1)
