"""The rule penalty and its gradients in one pass, compiled by numba.

Written with tensors, two thousand rules cost a tenth of a training step, nearly all of it in temporaries that leave the
cache; here each rule is read once. `RuleGuide.residuals` is the same formula in tensors, and a test compares them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from foretime.kernels import UNCOUNTED


@njit(cache=True, fastmath={"reassoc"})
def residual_norm(a, b, h, cubed, residual):
    """Return ‖a ∘ b − h‖, and leave in `residual` its gradient by the residual: 3 |r| r, or 2 r.

    Rows are complex vectors, the real halves first; `cubed` says which norm, Σ |·|³ or Σ |·|².
    """
    rank = len(h) // 2
    norm = np.float32(0)
    for re in range(rank):
        im = re + rank
        residual_re = a[re] * b[re] - a[im] * b[im] - h[re]
        residual_im = a[re] * b[im] + a[im] * b[re] - h[im]
        squared = residual_re * residual_re + residual_im * residual_im
        modulus = np.sqrt(squared) if cubed else np.float32(1)
        norm += squared * modulus
        slope = np.float32(3) * modulus if cubed else np.float32(2)
        residual[re] = slope * residual_re
        residual[im] = slope * residual_im
    return norm


@njit(cache=True, **UNCOUNTED)
def add_product_gradient(gradient, residual, factor, weight):
    """Add weight · residual ∘ conjugate(factor): what a product's gradient gives to its other factor."""
    rank = len(factor) // 2
    for re in range(rank):
        im = re + rank
        gradient[re] += weight * (residual[re] * factor[re] + residual[im] * factor[im])
        gradient[im] += weight * (residual[im] * factor[re] - residual[re] * factor[im])


@njit(cache=True)
def rule_penalty(moved, predicates, body, head, weight, cubed, moved_gradient, gradient):
    """Return Σ weight · ‖moved[b1] ∘ moved[b2] − predicates[head]‖ and add its gradients to the two tables."""
    residual = np.empty(predicates.shape[1], np.float32)
    total = 0.0
    for rule in range(len(head)):
        first, second = body[rule, 0], body[rule, 1]
        norm = residual_norm(moved[first], moved[second], predicates[head[rule]], cubed, residual)
        total += norm * weight[rule]
        add_product_gradient(moved_gradient[first], residual, moved[second], weight[rule])
        add_product_gradient(moved_gradient[second], residual, moved[first], weight[rule])
        row = gradient[head[rule]]
        for i in range(len(residual)):
            row[i] -= weight[rule] * residual[i]
    return total
