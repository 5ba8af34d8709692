"""Where new rows belong among sorted ones, compiled by numba."""

from __future__ import annotations

import numpy as np

from foretime.evidence.lookups import callable_, compiled


@compiled
def _is_after(columns, origin, row, others, other_origin, other):
    """Return whether a row stands after another one: by the columns, the first one first, then by origin."""
    for k in range(len(columns)):
        mine, its = columns[k][row], others[k][other]
        if mine != its:
            return mine > its
    return origin[row] > other_origin[other]


@callable_
def places_among(columns, origin, order, others, other_origin, other_order):
    """Return the place of each of some sorted rows among others, which `order` sorts, as `np.insert` takes them."""
    places = np.empty(len(other_order), dtype=np.int64)
    low = 0
    for i in range(len(other_order)):
        high = len(order)
        while low < high:  # the next row is not before this one
            middle = (low + high) >> 1
            if _is_after(columns, origin, order[middle], others, other_origin, other_order[i]):
                high = middle
            else:
                low = middle + 1
        places[i] = low
    return places
