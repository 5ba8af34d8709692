"""The rule penalty and its gradients in one pass, compiled by numba.

Written with tensors, two thousand rules cost a tenth of a training step, nearly all of it in temporaries that leave the
cache; here each rule is read once. `RuleGuide.residuals` is the same formula in tensors, and a test compares them.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def rule_penalty(moved, predicates, body, head, weight, cubed, moved_gradient, gradient):
    """Return Σ weight · ‖moved[b1] ∘ moved[b2] − predicates[head]‖ and add its gradients to the two tables.

    Rows are complex vectors, the real halves first; `cubed` says which norm, Σ |·|³ or Σ |·|².
    """
    rank = predicates.shape[1] // 2
    total = 0.0
    for rule in range(len(head)):
        a, b, h = moved[body[rule, 0]], moved[body[rule, 1]], predicates[head[rule]]
        a_gradient, b_gradient = moved_gradient[body[rule, 0]], moved_gradient[body[rule, 1]]
        h_gradient = gradient[head[rule]]
        norm = np.float32(0)
        for re in range(rank):
            im = re + rank
            residual_re = a[re] * b[re] - a[im] * b[im] - h[re]
            residual_im = a[re] * b[im] + a[im] * b[re] - h[im]
            squared = residual_re * residual_re + residual_im * residual_im
            if cubed:
                modulus = np.sqrt(squared)
                norm += squared * modulus
                slope = np.float32(3) * weight[rule] * modulus
            else:
                norm += squared
                slope = np.float32(2) * weight[rule]
            residual_re *= slope
            residual_im *= slope
            a_gradient[re] += residual_re * b[re] + residual_im * b[im]
            a_gradient[im] += residual_im * b[re] - residual_re * b[im]
            b_gradient[re] += residual_re * a[re] + residual_im * a[im]
            b_gradient[im] += residual_im * a[re] - residual_re * a[im]
            h_gradient[re] -= residual_re
            h_gradient[im] -= residual_im
        total += norm * weight[rule]
    return total
