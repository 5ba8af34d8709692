"""Finding and sorting into buckets, compiled by numba: shared by the walk and by the columns."""

from __future__ import annotations

import numpy as np
from numba import njit

from foretime.evidence.families import AFFINITIES, COUNTS, OFFSET_EDGES

_SIDE = len(OFFSET_EDGES) + 1
_BUCKETS = np.searchsorted(np.array((0, *OFFSET_EDGES)), np.arange(OFFSET_EDGES[-1] + 2))
"""The bucket of each distance up to the first that is in the last bucket."""


@njit(cache=True, nogil=True)
def offset_feature(distance):
    """Return the feature of a signed distance: 0 for the same step, then before, then after."""
    if distance < 0:
        return _BUCKETS[min(-distance, len(_BUCKETS) - 1)]
    return _BUCKETS[min(distance, len(_BUCKETS) - 1)] + (_SIDE if distance > 0 else 0)


@njit(cache=True, nogil=True)
def count_feature(count):
    """Return the feature of a count from 1 on: 1, 2, 3–4, 5–8, …"""
    bucket, edge = 0, 1
    while bucket < COUNTS - 1 and count > edge:
        bucket += 1
        edge *= 2
    return bucket


@njit(cache=True, nogil=True)
def affinity_feature(affinity):
    """Return the feature of an affinity: below 1/8, below 1/4, …"""
    bucket, edge = 0, 0.125
    while bucket < AFFINITIES - 1 and affinity >= edge:
        bucket += 1
        edge *= 2.0
    return bucket


@njit(cache=True, nogil=True)
def lower_bound(values, low, high, value):
    """Return the first place in sorted `values[low:high]` whose value is not below."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def find(sorted_ids, begin, end, wanted):
    """Return the place of an id in `sorted_ids[begin:end]`, −1 if it is not there."""
    place = lower_bound(sorted_ids, begin, end, wanted)
    return place if place < end and sorted_ids[place] == wanted else -1


@njit(cache=True, nogil=True)
def partners_before(met, begin, end, past_only, t):
    """Return how many partners an entity has whose sorted first meetings are `met[begin:end]`.

    If only the past counts, those that it met before t.
    """
    return (lower_bound(met, begin, end, t) if past_only else end) - begin


@njit(cache=True, nogil=True)
def others_before(times, subjects, begin, end, x, t):
    """Return how many sorted events before t have another subject than x."""
    count = 0
    for e in range(begin, end):
        if times[e] >= t:
            break
        count += subjects[e] != x
    return count


@njit(cache=True, nogil=True)
def nearest(times, twins, begin, end, watched, t, past_only):
    """Return what sorted events are to step t: (last step before, is there one now, first after, how many).

    A step that does not exist is −1. In a watched group, events with an end at t are the question's own: left out.
    """
    if not watched:
        place = lower_bound(times, begin, end, t)
        before = times[place - 1] if place > begin else -1
        if past_only:
            return before, False, -1, place - begin
        later = place
        while later < end and times[later] == t:
            later += 1
        return before, later > place, times[later] if later < end else -1, end - begin
    before, after, count = -1, -1, 0
    for e in range(begin, end):
        step = times[e]
        if step == t or twins[e] == t or (past_only and step > t):
            continue
        count += 1
        if step < t:
            before = step
        elif after < 0:
            after = step
    return before, False, after, count


@njit(cache=True, nogil=True)
def knows(group_predicate, group, times, twins, begin, end, p, past_only, t):
    """Return whether x and another have met in any event but the question's own, in the groups `begin … end`.

    If only the past counts: before t.
    """
    for g in range(begin, end):
        if group_predicate[g] != p:
            if not past_only or times[group[g]] < t:
                return True
            continue
        for e in range(group[g], group[g + 1]):
            if times[e] != t and twins[e] != t and not (past_only and times[e] > t):
                return True
    return False
