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
from foretime.evidence.lookups import compiled, is_watched, lower_bound

DAYS, WEEK, MONTH, SEASON = range(len(FADING))
FORGOTTEN: Final = -87.0
"""What is so many τ old weighs less than the smallest number that features can hold."""
LONG: Final = 5
"""Where events are added up one by one, those more than so many τ old are not: one alone weighs less than 1/128."""
EACH: Final = (DAYS, WEEK, MONTH, SEASON)
TAU: Final = np.array(FADING)


@njit(cache=True, nogil=True)
def fading_sums(times, first):
    """Return the sum of each rate as it stands at each event, (events, rates); list k has `first[k]:first[k + 1]`."""
    sums = np.zeros((len(times), len(TAU)), dtype=np.float32)
    for k in range(len(first) - 1):
        for rate in range(len(TAU)):
            total, last = 0.0, 0
            for e in range(first[k], first[k + 1]):
                total = 1.0 + total * np.exp((last - times[e]) / TAU[rate])
                last = times[e]
                sums[e, rate] = total
    return sums


@njit(cache=True, nogil=True)
def distinct_so_far(owners, first, count):
    """Return how many different owners the events of a list have up to each event; list k has `first[k]:first[k + 1]`.

    Owners are numbered below `count`.
    """
    found, list_of = np.zeros(len(owners), dtype=np.int32), np.full(count, -1, dtype=np.int64)
    for k in range(len(first) - 1):
        total = 0
        for e in range(first[k], first[k + 1]):
            total += list_of[owners[e]] != k
            list_of[owners[e]] = k
            found[e] = total
    return found


@compiled
def faded(sums, rate, times, begin, place, t):
    """Return the sum at t of the events of a list before `place`, the first that is not before t."""
    if place == begin:
        return 0.0
    far = (times[place - 1] + 1 - t) / TAU[rate]
    return sums[place - 1, rate] * np.exp(far) if far > FORGOTTEN else 0.0


@compiled
def rates_of(times, twins, sums, begin, end, watched, t, wanted, out):
    """Add the wanted rates of a list of events that a question at t sees to `out`; return how many, and the last step.

    If they are watched the question's own events are left out: those that end at t. Lists are given as arrays, because
    taking these out of the lists of all events costs more than looking the rates up.
    """
    place, own = lower_bound(times, begin, end, t), 0
    if watched:
        for e in range(begin, place):
            own += twins[e] == t
    if own == 0:
        for rate in wanted:
            out[rate] += faded(sums, rate, times, begin, place, t)
        return place - begin, times[place - 1] if place > begin else -1
    last = -1
    for e in range(begin, place):
        if twins[e] != t:
            last = times[e]
            for rate in wanted:
                out[rate] += np.exp((last + 1 - t) / TAU[rate])
    return place - begin - own, last


@compiled
def rates_between(events, k, x, p, t, wanted, out):
    """Add the wanted rates of all events between the subject and its partner k; return how many, and the last step."""
    first, last = events.pair[k], events.pair[k + 1]
    begin, end, met = events.group[first], events.group[last], events.between_time
    if not events.intervals:
        return rates_of(met, met, events.between_fading, begin, end, False, t, wanted, out)
    times, twins, sums = events.time, events.twin, events.fading
    mirror, loop = (p + events.predicates) % (2 * events.predicates), events.other[k] == x
    total, latest = 0, -1
    for g in range(first, last):  # some events may be the question's own
        watched = is_watched(events.group_predicate[g], p, mirror, loop)
        count, step = rates_of(times, twins, sums, events.group[g], events.group[g + 1], watched, t, wanted, out)
        total, latest = total + count, max(latest, step)
    return total, latest


@compiled
def rate_followed(events, k, x, p, t, confidence):
    """Return the rate over a month of the events between a pair, each weighed by how often p follows its predicate."""
    begin, met = events.group[events.pair[k]], events.between_time
    predicates, twins = events.between_predicate, events.between_twin
    mirror, loop, total = (p + events.predicates) % (2 * events.predicates), events.other[k] == x, 0.0
    for e in range(lower_bound(met, begin, events.group[events.pair[k + 1]], t) - 1, begin - 1, -1):
        far, q = t - 1 - met[e], predicates[e]
        if far > LONG * TAU[MONTH]:
            break
        if confidence[q] > 0.0 and not (twins[e] == t and is_watched(q, p, mirror, loop)):
            total += confidence[q] * np.exp(-far / TAU[MONTH])
    return total


@compiled
def add_own_rates(times, twins, begin, end, t, sign, out):
    """Add the rates of the question's own events of a list, those before t that end at t, to `out`, times a sign."""
    for e in range(begin, lower_bound(times, begin, end, t)):
        if twins[e] == t:
            for rate in range(len(TAU)):
                out[rate] += sign * np.exp((times[e] + 1 - t) / TAU[rate])


@compiled
def first_seen(times, twins, begin, end, watched, t):
    """Return the first step of a list of events that a question at t sees, t if it sees none."""
    for e in range(begin, end):
        if times[e] >= t:
            break
        if not watched or twins[e] != t:
            return times[e]
    return t
