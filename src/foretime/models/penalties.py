"""Penalties as pure functions of factors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class CubedModuli(torch.autograd.Function):
    """Σ |xᵢ|³ over numbers of one, two or four parts, with its gradient 3 |xᵢ| xᵢ written down.

    Left to autograd, this small penalty takes a fifth of the time of a training step, and is not defined at zero.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, parts: int) -> Tensor:
        """Return the sum; `x` is (…, parts · rank)."""
        first, *others = x.chunk(parts, dim=-1)
        modulus = first * first  # (…, rank)
        for other in others:
            modulus.addcmul_(other, other)
        modulus.sqrt_()
        ctx.save_for_backward(x, modulus)
        ctx.parts = parts
        return (modulus * modulus).mul_(modulus).sum()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        """Return the gradient, (…, parts · rank)."""
        x, modulus = ctx.saved_tensors
        factor = modulus * (3.0 * grad_output)
        gradient = torch.empty_like(x)
        for part, of_x in zip(gradient.chunk(ctx.parts, dim=-1), x.chunk(ctx.parts, dim=-1), strict=True):
            torch.mul(of_x, factor, out=part)
        return gradient, None


def cubed_moduli(x: Tensor, parts: int) -> Tensor:
    """Return Σ |xᵢ|³ of the numbers in a tensor, (…, parts · rank): real, complex or of four parts."""
    return CubedModuli.apply(x, parts)  # type: ignore[no-any-return, no-untyped-call]


def n3(*factors: Tensor, parts: int) -> Tensor:
    """Return Σ ‖factor‖₃³ over factors, each (batch, parts · rank), as a mean over the batch."""
    return torch.stack([cubed_moduli(factor, parts) for factor in factors]).sum() / len(factors[0])


def smoothness(times: Tensor, parts: int, step: Tensor | None = None) -> Tensor:
    """Return ‖tᵢ₊₁ − tᵢ‖₃³ as a mean over neighbouring steps of the timeline; zero for a single step.

    With `step`, (width,), neighbours should differ by it instead of being equal.
    """
    change = times[1:] - times[:-1]
    return cubed_moduli(change if step is None else change - step, parts) / max(1, len(times) - 1)
