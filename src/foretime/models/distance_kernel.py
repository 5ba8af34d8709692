"""Sums over the coordinates of two rows, and their gradients, for many pairs of rows at once, compiled by numba.

Nothing of the size pairs × width is ever kept: a pair is read, summed up and left. `distances.py` says which sums.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit, prange

ABSOLUTE: Final = 0
MODULI: Final = 1
SQUARED: Final = 2
RUNS: Final = 4
"""Into how many runs the questions are cut, each with a gradient of its own: the sum is the same for any threads."""


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def absolute(a, b):
    """Return Σ |aᵢ − bᵢ|."""
    total = a[0] - a[0]
    for i in range(len(a)):
        total += abs(a[i] - b[i])
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def moduli(a, b):
    """Return Σ |aᵢ − bᵢ| of complex rows, the real halves first."""
    rank = len(a) // 2
    total = a[0] - a[0]
    for re in range(rank):
        im = re + rank
        d_re, d_im = a[re] - b[re], a[im] - b[im]
        total += np.sqrt(d_re * d_re + d_im * d_im)
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def squared(a, b):
    """Return Σ (aᵢ − bᵢ)²."""
    total = a[0] - a[0]
    for i in range(len(a)):
        d = a[i] - b[i]
        total += d * d
    return total


@njit(cache=True, nogil=True)
def add_absolute(a, b, slope, a_gradient, b_gradient):
    """Add the gradients of slope · Σ |aᵢ − bᵢ|; where the two are equal it is zero."""
    for i in range(len(a)):
        step = slope * np.sign(a[i] - b[i])
        a_gradient[i] += step
        b_gradient[i] -= step


@njit(cache=True, nogil=True, error_model="numpy")
def add_moduli(a, b, slope, a_gradient, b_gradient):
    """Add the gradients of slope · Σ |aᵢ − bᵢ| of complex rows; where the two are equal it is zero."""
    rank = len(a) // 2
    for re in range(rank):
        im = re + rank
        d_re, d_im = a[re] - b[re], a[im] - b[im]
        modulus = np.sqrt(d_re * d_re + d_im * d_im)
        factor = slope / modulus if modulus > 0 else modulus
        a_gradient[re] += factor * d_re
        a_gradient[im] += factor * d_im
        b_gradient[re] -= factor * d_re
        b_gradient[im] -= factor * d_im


@njit(cache=True, nogil=True)
def add_squared(a, b, slope, a_gradient, b_gradient):
    """Add the gradients of slope · Σ (aᵢ − bᵢ)²."""
    for i in range(len(a)):
        step = (slope + slope) * (a[i] - b[i])
        a_gradient[i] += step
        b_gradient[i] -= step


@njit(cache=True, parallel=True)
def sum_pairs(kind, query, table, objects, out):
    """Fill `out`, (batch, candidates), with the sum over each query and each of its candidates in the table."""
    for row in prange(len(query)):
        for column in range(objects.shape[1]):
            candidate = table[objects[row, column]]
            if kind == ABSOLUTE:
                out[row, column] = absolute(query[row], candidate)
            elif kind == MODULI:
                out[row, column] = moduli(query[row], candidate)
            else:
                out[row, column] = squared(query[row], candidate)


@njit(cache=True, parallel=True)
def add_gradients(kind, query, table, objects, slope, query_gradient, table_gradients):
    """Add the gradients of Σ slope · sum; `table_gradients` has a table for each run, (RUNS, entities, width)."""
    for run in prange(RUNS):
        for row in range(len(query) * run // RUNS, len(query) * (run + 1) // RUNS):
            for column in range(objects.shape[1]):
                entity = objects[row, column]
                pair = query[row], table[entity], slope[row, column], query_gradient[row], table_gradients[run, entity]
                if kind == ABSOLUTE:
                    add_absolute(*pair)
                elif kind == MODULI:
                    add_moduli(*pair)
                else:
                    add_squared(*pair)
