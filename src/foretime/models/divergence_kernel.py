"""Divergences of Gaussians that move in time, and their gradients, for many pairs at once, compiled by numba.

Nothing of the size pairs × rank is ever kept. The walk is over the entities, and for each over the questions that have
it as a candidate: its rows are read once, its gradients are written once, and its mean is computed once for questions
of one time that follow each other. `divergences.py` says which divergences.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numba import njit, prange

RUNS: Final = 4
"""Into how many runs the entities are cut, each with a gradient of the queries: its sum is the same for any threads."""
SAFE: Final = {"reassoc", "contract"}
"""Sums in any order, a product and a sum in one rounding: with them a loop over the rank takes many numbers at once."""
TERMS: Final = 7


@cache
def sine_terms(dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """Return a₀ … a₆ of sin(2πx) = x Σ aₖ x²ᵏ on [−¼, ¼], from Chebyshev's nodes; it is wrong by less than 1e-13."""
    nodes = np.cos(np.pi * (np.arange(TERMS) + 0.5) / (2 * TERMS)) / 4
    powers = (4 * nodes[:, None]) ** (2 * np.arange(TERMS))  # of numbers up to 1, so that the matrix is easy to solve
    terms = np.linalg.solve(powers, np.sin(2 * np.pi * nodes) / nodes) * 16.0 ** np.arange(TERMS)
    return tuple(dtype.type(term) for term in terms)


@njit(cache=True, nogil=True, fastmath=SAFE)
def quarter_sine(x, terms):
    """Return sin(2πx) of a number between −¼ and ¼."""
    a, b, c, d, e, f, g = terms
    z = x * x
    return x * (a + z * (b + z * (c + z * (d + z * (e + z * (f + z * g))))))


@njit(cache=True, nogil=True)
def fold(x, quarter):
    """Return the two numbers between −¼ and ¼ whose `quarter_sine` is the sine and the cosine of 2πx."""
    turn = x - np.rint(x)
    cosine = quarter - abs(turn)
    sine = quarter - abs(cosine)
    return (sine if turn > 0 else -sine), cosine


@njit(cache=True, nogil=True, fastmath=SAFE)
def fill_mean(base, trend, season, frequency, moment, terms, mean):
    """Fill `mean` with x + y t + z sin(2π f t)."""
    quarter = mean.dtype.type(0.25)
    for i in range(len(mean)):
        sine, _ = fold(frequency[i] * moment, quarter)
        mean[i] = base[i] + moment * trend[i] + season[i] * quarter_sine(sine, terms)


@njit(cache=True, nogil=True, fastmath=SAFE)
def add_mean(season, frequency, moment, terms, slope, base_g, trend_g, season_g, frequency_g):
    """Add the gradients of Σ slope · mean to those of the four rows, and leave the slopes at zero."""
    quarter, speed = season.dtype.type(0.25), season.dtype.type(2 * np.pi) * moment
    for i in range(len(slope)):
        sine, cosine = fold(frequency[i] * moment, quarter)
        base_g[i] += slope[i]
        trend_g[i] += slope[i] * moment
        season_g[i] += slope[i] * quarter_sine(sine, terms)
        frequency_g[i] += slope[i] * season[i] * speed * quarter_sine(cosine, terms)
        slope[i] = 0


@njit(cache=True, nogil=True, fastmath=SAFE, error_model="numpy")
def divergence(query, mean, variance):
    """Return Σ (v + d²)/w + (w + d²)/v − 2, d = wanted − mean, v = spread + variance, with one division for the two."""
    wanted, spread, w = query[0], query[1], query[2]
    total = w[0] - w[0]
    for i in range(len(w)):
        d, v = wanted[i] - mean[i], spread[i] + variance[i]
        gap = v - w[i]
        total += (gap * gap + d * d * (v + w[i])) / (v * w[i])
    return total


@njit(cache=True, nogil=True, fastmath=SAFE, error_model="numpy")
def add_divergence(query, mean, variance, slope, query_g, mean_g, variance_g):
    """Add the gradients of slope · `divergence` to those of its rows."""
    wanted, spread, w = query[0], query[1], query[2]
    wanted_g, spread_g, w_g = query_g[0], query_g[1], query_g[2]
    for i in range(len(w)):
        d, v = wanted[i] - mean[i], spread[i] + variance[i]
        share = w.dtype.type(1) / (v * w[i])
        by_v, by_w = w[i] * share, v * share  # 1/v, 1/w
        d_slope = slope * (d + d) * (by_v + by_w)
        v_slope = slope * (by_w - (w[i] + d * d) * by_v * by_v)
        wanted_g[i] += d_slope
        mean_g[i] -= d_slope
        spread_g[i] += v_slope
        variance_g[i] += v_slope
        w_g[i] += slope * (by_v - (v + d * d) * by_w * by_w)


@njit(cache=True, nogil=True)
def sort_by_entity(objects, entities):
    """Return the places in `objects`, those of an entity together, and where those of each entity begin and end."""
    begins = np.zeros(entities + 1, np.int64)
    for entity in objects:
        begins[entity + 1] += 1
    begins = np.cumsum(begins)
    free, places = begins.copy(), np.empty(len(objects), np.int64)
    for place, entity in enumerate(objects):
        places[free[entity]] = place
        free[entity] += 1
    return places, begins


@njit(cache=True, parallel=True)
def sum_divergences(query, moments, tables, out, terms, rows, places, begins):
    """Fill `out`, (batch, candidates), with the divergence of each question and each of its candidates.

    A row of objects is for `rows.shape[1]` questions: `rows` is (batch, 1), or (1, batch) where all share it.
    """
    base, trend, season, frequency, variance = tables
    for run in prange(RUNS):
        mean = np.empty_like(base[0])
        for entity in range(len(base) * run // RUNS, len(base) * (run + 1) // RUNS):
            last = -1
            for place in places[begins[entity] : begins[entity + 1]]:
                line, column = divmod(place, out.shape[1])
                for row in rows[line]:
                    if last < 0 or moments[row] != moments[last]:
                        parts = base[entity], trend[entity], season[entity], frequency[entity]
                        fill_mean(*parts, moments[row], terms, mean)
                    out[row, column] = divergence(query[row], mean, variance[entity])
                    last = row


@njit(cache=True, parallel=True)
def add_gradients(query, moments, tables, slope, query_gradients, table_gradients, terms, rows, places, begins):
    """Add the gradients of Σ slope · divergence; `query_gradients` has those of each run, (RUNS, batch, 3, rank)."""
    base, trend, season, frequency, variance = tables
    base_g, trend_g, season_g, frequency_g, variance_g = table_gradients
    for run in prange(RUNS):
        mean, mean_g = np.empty_like(base[0]), np.zeros_like(base[0])
        for entity in range(len(base) * run // RUNS, len(base) * (run + 1) // RUNS):
            last = -1
            waves = season[entity], frequency[entity]
            waves_g = base_g[entity], trend_g[entity], season_g[entity], frequency_g[entity]
            for place in places[begins[entity] : begins[entity + 1]]:
                line, column = divmod(place, slope.shape[1])
                for row in rows[line]:
                    if last < 0 or moments[row] != moments[last]:
                        if last >= 0:
                            add_mean(*waves, moments[last], terms, mean_g, *waves_g)
                        fill_mean(base[entity], trend[entity], *waves, moments[row], terms, mean)
                    pair = query[row], mean, variance[entity], slope[row, column]
                    add_divergence(*pair, query_gradients[run, row], mean_g, variance_g[entity])
                    last = row
            if last >= 0:
                add_mean(*waves, moments[last], terms, mean_g, *waves_g)
