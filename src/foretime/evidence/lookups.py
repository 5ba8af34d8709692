"""Looking events up, compiled by numba: shared by the walk and by the features of the re-ranker."""

from __future__ import annotations

from typing import Any, Final

from numba import njit

from foretime.evidence import buckets, visibility
from foretime.kernels import COUNTED, UNCOUNTED

_UNWRAPPED: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
compiled = njit(cache=True, nogil=True, **_UNWRAPPED, **UNCOUNTED)
"""For what only kernels call: the wrappers for Python, which unpack every array of an index, are slow to compile."""
making_arrays = njit(cache=True, nogil=True, **_UNWRAPPED, **COUNTED)
"""The same for what makes arrays, or returns some. No `compiled` kernel may call it."""
callable_ = njit(cache=True, nogil=True, **COUNTED)
offset_bucket = callable_(buckets.offset_bucket)
count_bucket = callable_(buckets.count_bucket)
affinity_bucket = callable_(buckets.affinity_bucket)
rate_bucket = callable_(buckets.rate_bucket)
is_watched = compiled(visibility.is_watched)
is_hidden = compiled(visibility.is_hidden)
is_own_span = compiled(visibility.is_own_span)
NO_STEP: Final = -1


@compiled
def lower_bound(values, low, high, value):
    """Return the first place in sorted `values[low:high]` whose value is not below."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def find(sorted_ids, begin, end, wanted):
    """Return the place of an id in `sorted_ids[begin:end]`, −1 if it is not there."""
    place = lower_bound(sorted_ids, begin, end, wanted)
    return place if place < end and sorted_ids[place] == wanted else -1


@compiled
def places_of(sorted_ids, begin, end, only):
    """Return where to look in `sorted_ids[begin:end]` for one id, everywhere if it is below 0."""
    if only < 0:
        return begin, end
    place = find(sorted_ids, begin, end, only)
    return place, place + (place >= 0)


@compiled
def partners_before(met, begin, end, past_only, t):
    """Return how many partners an entity has whose sorted first meetings are `met[begin:end]`.

    If only the past counts, those that it met before t.
    """
    return (lower_bound(met, begin, end, t) if past_only else end) - begin


@compiled
def nearest(times, twins, begin, end, watched, t, past_only, own=NO_STEP):
    """Return what sorted events are to step t: (last step before, is there one now, first after, how many).

    A step that does not exist is −1. In a watched group the question's own events are left out, and those of the fact
    with an end at the step `own`.
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
        if is_hidden(True, step, twins[e], t, past_only) or is_hidden(True, step, twins[e], own, False):
            continue
        count += 1
        if step < t:
            before = step
        elif after < 0:
            after = step
    return before, False, after, count


@compiled
def has_met(events, k, p, past_only, t):
    """Return whether the pair k of the subject and another entity has met in an event that the question may see."""
    times, twins, group = events.time, events.twin, events.group
    for g in range(events.pair[k], events.pair[k + 1]):
        if events.group_predicate[g] != p:
            if not past_only or times[group[g]] < t:
                return True
            continue
        for e in range(group[g], group[g + 1]):
            if not is_hidden(True, times[e], twins[e], t, past_only):
                return True
    return False
