"""Sums of events that fade with time, looked up without adding them up again.

An event d steps before the question weighs exp(−(d − 1) / τ), so that one of the step before weighs 1. Each list of
events keeps the sum as it stood at each of its events; the sum at any later step is that of the last event before it,
faded once more.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from foretime.evidence.families import FADING
from foretime.evidence.lookups import compiled, lower_bound

DAYS, WEEK, MONTH, SEASON = range(len(FADING))
TAU: Final = np.array(FADING)


@njit(cache=True, nogil=True)
def fading_sums(times, first):
    """Return the sum of each rate as it stands at each event, (rates, events); list k has `first[k]:first[k + 1]`."""
    sums = np.zeros((len(TAU), len(times)), dtype=np.float32)
    for rate in range(len(TAU)):
        for k in range(len(first) - 1):
            total, last = 0.0, 0
            for e in range(first[k], first[k + 1]):
                total = 1.0 + total * np.exp((last - times[e]) / TAU[rate])
                last = times[e]
                sums[rate, e] = total
    return sums


@compiled
def faded(sums, rate, times, begin, place, t):
    """Return the sum at t of the events of a list before `place`, the first that is not before t."""
    if place == begin:
        return 0.0
    return sums[rate, place - 1] * np.exp((times[place - 1] + 1 - t) / TAU[rate])


@compiled
def rates_of_group(events, g, watched, t, out):
    """Add the rates of the events of a group that a question at t sees to `out`; return how many, and the last step.

    In a watched group the question's own events are left out: those that end at t.
    """
    times, twins, begin = events.time, events.twin, events.group[g]
    place = lower_bound(times, begin, events.group[g + 1], t)
    own = 0
    if watched:
        for e in range(begin, place):
            own += twins[e] == t
    if own == 0:
        for rate in range(len(TAU)):
            out[rate] += faded(events.fading, rate, times, begin, place, t)
        return place - begin, times[place - 1] if place > begin else -1
    last = -1
    for e in range(begin, place):
        if twins[e] != t:
            last = times[e]
            for rate in range(len(TAU)):
                out[rate] += np.exp((last + 1 - t) / TAU[rate])
    return place - begin - own, last


@compiled
def add_own_rates(events, g, t, sign, out):
    """Add the rates of the question's own events of a group, those before t that end at t, to `out`, times a sign."""
    for e in range(events.group[g], lower_bound(events.time, events.group[g], events.group[g + 1], t)):
        if events.twin[e] == t:
            for rate in range(len(TAU)):
                out[rate] += sign * np.exp((events.time[e] + 1 - t) / TAU[rate])


@compiled
def first_seen(events, g, watched, t):
    """Return the first step of the events of a group that a question at t sees, t if it sees none."""
    for e in range(events.group[g], events.group[g + 1]):
        if events.time[e] >= t:
            break
        if not watched or events.twin[e] != t:
            return events.time[e]
    return t
