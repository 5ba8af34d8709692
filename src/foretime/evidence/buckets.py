"""The buckets of distances, counts, affinities and rates: their numbers, their bounds, and their words.

The functions that number a bucket are plain Python here; `lookups` compiles the same functions for the walk.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Final

import numpy as np

from foretime.evidence.families import AFFINITIES, COUNTS, OFFSET_EDGES, RATES

_SIDE: Final = len(OFFSET_EDGES) + 1
_FIRST_AFFINITY: Final = 0.125
_SMALLEST_RATE: Final = 2.0 ** -(RATES // 2)
_ROUNDED: Final = 1.0001
_BUCKETS: Final = np.searchsorted(np.array((0, *OFFSET_EDGES)), np.arange(OFFSET_EDGES[-1] + 2))
"""The bucket of each distance up to the first that is in the last bucket."""


def offset_bucket(distance: int) -> int:
    """Return the feature of a signed distance in steps: 0 for the same step, then before, then after."""
    if distance < 0:
        return _BUCKETS[min(-distance, len(_BUCKETS) - 1)]  # type: ignore[no-any-return]
    return _BUCKETS[min(distance, len(_BUCKETS) - 1)] + (_SIDE if distance > 0 else 0)  # type: ignore[no-any-return]


def count_bucket(count: int) -> int:
    """Return the feature of a count from 1 on: 1, 2, 3–4, 5–8, …"""
    bucket, edge = 0, 1
    while bucket < COUNTS - 1 and count > edge:
        bucket += 1
        edge *= 2
    return bucket


def affinity_bucket(affinity: float) -> int:
    """Return the feature of an affinity: below 1/8, below 1/4, …"""
    bucket, edge = 0, _FIRST_AFFINITY
    while bucket < AFFINITIES - 1 and affinity >= edge:
        bucket += 1
        edge *= 2.0
    return bucket


def rate_bucket(rate: float) -> int:
    """Return the feature of a sum of fading events: below 1/128, below 1/64, …

    Events of the step before are whole numbers, which are edges; what rounding has put just below one belongs above it.
    """
    return min(math.frexp(max(rate * _ROUNDED, _SMALLEST_RATE))[1] + RATES // 2 - 1, RATES - 1)


def offset_bounds(distance: int) -> tuple[int, int | None]:
    """Return the least and the greatest number of steps in the bucket of a distance, none for the last bucket."""
    place = bisect_left(OFFSET_EDGES, abs(distance))
    return ((0, *OFFSET_EDGES)[place] + 1, (*OFFSET_EDGES, None)[place]) if distance else (0, 0)


def offset_words(distance: int, unit: str = "step", bucket: bool = True) -> str:
    """Return a distance in words, with its bucket if that is wanted: `the same day`, `12 days before (8–14)`."""
    if distance == 0:
        return f"the same {unit}"
    far = abs(distance)
    words = f"{far:,} {unit}{'' if far == 1 else 's'} {'before' if distance < 0 else 'after'}"
    return words + (_range_words(*offset_bounds(distance)) if bucket else "")


def count_words(count: int, bucket: bool = True) -> str:
    """Return a count in words, with its bucket if that is wanted: `once`, `37 times (33–64)`."""
    if count <= 2:
        return ("once", "twice")[count - 1]
    place = count_bucket(count)
    low, high = 2 ** (place - 1) + 1, None if place == COUNTS - 1 else 2**place
    return f"{count:,} times" + (_range_words(low, high) if bucket else "")


def affinity_words(affinity: float, bucket: bool = True) -> str:
    """Return an affinity in words, with its bucket if that is wanted: `affinity 2.31 (2–4)`."""
    place = affinity_bucket(affinity)
    low = 0.0 if place == 0 else _FIRST_AFFINITY * 2 ** (place - 1)
    high = None if place == AFFINITIES - 1 else _FIRST_AFFINITY * 2**place
    return f"affinity {affinity:.2f}" + (_range_words(low, high) if bucket else "")


def rate_words(rate: float, bucket: bool = True) -> str:
    """Return a sum of fading events in words, with its bucket if that is wanted: `rate 0.31 (0.25–0.5)`."""
    place = rate_bucket(rate)
    low = 0.0 if place == 0 else 2.0 ** (place - RATES // 2)
    high = None if place == RATES - 1 else 2.0 ** (place - RATES // 2 + 1)
    return f"rate {rate:.2g}" + (_range_words(low, high) if bucket else "")


def _range_words(low: float, high: float | None) -> str:
    """Return a bucket in brackets, nothing for one of a single number."""
    return "" if low == high else f" ({low:g} and more)" if high is None else f" ({low:g}–{high:g})"
