"""The features of every predicate as what the subject does to the object at a time, counted in the events.

The fact asked about is hidden from all candidates, and no candidate counts its own events between the two at that time.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from foretime.evidence.lookups import compiled, find, lower_bound
from foretime.evidence.threads import in_runs
from foretime.reranker.features.event_sums import MONTH, NO_SUMS, add_events, without_events
from foretime.reranker.features.words import FAR
from foretime.reranker.slots.words import COUNTED_OF_PREDICATES

_AT = namedtuple("_PredicateAt", COUNTED_OF_PREDICATES)(*range(len(COUNTED_OF_PREDICATES)))
_NO_EVENTS = without_events(COUNTED_OF_PREDICATES)


@compiled
def _side(events, k, p, q, t, own, past_only, loop):
    """Return the sums of the events q of a pair as candidate p may see them."""
    g = find(events.group_predicate, events.pair[k], events.pair[k + 1], q)
    if g < 0:
        return NO_SUMS
    plain = q % events.predicates
    watched = q == p or q == own or (loop and (plain == p or plain == own))
    return add_events(events, g, watched, t, past_only, NO_SUMS)


@compiled
def _pair_row(events, k, t, own, past_only, loop, out):
    """Fill what all candidates share: the events between the two without the fact asked about."""
    sums, kinds = NO_SUMS, 0
    for g in range(events.pair[k], events.pair[k + 1]):
        q = events.group_predicate[g]
        watched = own >= 0 and (q == own or (loop and q % events.predicates == own))
        counted = sums[5]
        sums = add_events(events, g, watched, t, past_only, sums)
        kinds += sums[5] > counted
    before, after, now, _, _, count, _, _ = sums
    out[_AT.pair_nearest] = 0 if now else min(before, after)
    out[_AT.pair_now], out[_AT.pair_events], out[_AT.pair_predicates] = now, count, kinds


@compiled
def _with_others(times, others, begin, end, x, t, past_only, out):
    """Fill before, after, now, within a month of sorted events with others than x; return how many there are."""
    before, after, now, month, count = FAR, FAR, 0, 0, 0
    for e in range(begin, end):
        if others[e] == x or (past_only and times[e] >= t):
            continue
        distance = times[e] - t
        count += 1
        month += abs(distance) <= MONTH
        if distance == 0:
            now += 1
        elif distance < 0:
            before = min(before, -distance)
        else:
            after = min(after, distance)
    out[0], out[1], out[2], out[3] = before, after, now, month
    return count


@compiled
def _active_with_others(events, x, y, t, past_only):
    """Return how many events x has with others than y."""
    begin, end = events.by_entity[x], events.by_entity[x + 1]
    count = (lower_bound(events.by_entity_time, begin, end, t) if past_only else end) - begin
    k = find(events.other, events.node[x], events.node[x + 1], y)
    if k >= 0:
        for g in range(events.pair[k], events.pair[k + 1]):
            begin, end = events.group[g], events.group[g + 1]
            count -= (lower_bound(events.time, begin, end, t) if past_only else end) - begin
    return count


@compiled
def _volume(events, k, p, t, past_only, out):
    """Fill how often the predicate happens, at the time and at all, without the events between the two."""
    times, begin, end = events.by_predicate_time, events.by_predicate[p], events.by_predicate[p + 1]
    place = lower_bound(times, begin, end, t)
    month = place - lower_bound(times, begin, end, t - MONTH)
    now, total = 0, place - begin
    if not past_only:
        now = lower_bound(times, begin, end, t + 1) - place
        month = lower_bound(times, begin, end, t + MONTH + 1) - place + month
        total = end - begin
    g = find(events.group_predicate, events.pair[k], events.pair[k + 1], p) if k >= 0 else -1
    if g >= 0:
        for e in range(events.group[g], events.group[g + 1]):
            far = abs(events.time[e] - t)
            if not (past_only and events.time[e] >= t):
                total -= 1
                now -= far == 0
                month -= far <= MONTH
    out[_AT.predicate_events], out[_AT.predicate_now], out[_AT.predicate_month] = total, now, month


@compiled
def _candidate(events, k, x, y, p, t, own, past_only, active, out):
    """Fill the features of predicate p; `active` has how many events each of the two has with others."""
    mirror = p + events.predicates
    if k >= 0:
        before, after, _, _, _, count, recent, lasting = _side(events, k, p, p, t, own, past_only, x == y)
        out[_AT.same_before], out[_AT.same_after], out[_AT.same_events] = before, after, count
        out[_AT.same_recent], out[_AT.same_lasting] = recent, lasting
        out[_AT.same_share] = count / max(out[_AT.pair_events], 1.0)
        before, after, now, _, _, count, _, lasting = _side(events, k, p, mirror, t, own, past_only, x == y)
        out[_AT.inverse_before], out[_AT.inverse_after], out[_AT.inverse_now] = before, after, now
        out[_AT.inverse_events], out[_AT.inverse_lasting] = count, lasting
    times, subjects = events.by_object_time, events.by_object_subject
    j = find(events.object, events.objects[mirror], events.objects[mirror + 1], x)
    if j >= 0:
        begin, end = events.by_object[j], events.by_object[j + 1]
        count = _with_others(times, subjects, begin, end, y, t, past_only, out[_AT.subject_before :])
        out[_AT.subject_events], out[_AT.subject_habit] = count, count / max(active[0], 1)
    j = find(events.object, events.objects[p], events.objects[p + 1], y)
    if j >= 0:
        begin, end = events.by_object[j], events.by_object[j + 1]
        count = _with_others(times, subjects, begin, end, x, t, past_only, out[_AT.object_before :])
        out[_AT.object_events], out[_AT.object_habit] = count, count / max(active[1], 1)
    _volume(events, k, p, t, past_only, out)


@in_runs
def predicate_features(events, past_only, subject, object_, time, own, candidates, out, runs, run):
    """Fill `out`, (questions, candidates, features), of the predicates in `candidates`, (questions, candidates).

    `own` is the predicate of the fact asked about, −1 where nothing is to be hidden.
    """
    for row in range(len(subject) * run // runs, len(subject) * (run + 1) // runs):
        x, y, t = subject[row], object_[row], time[row]
        k = find(events.other, events.node[x], events.node[x + 1], y)
        shared = _NO_EVENTS.astype(np.float32)
        if k >= 0:
            _pair_row(events, k, t, own[row], past_only, x == y, shared)
        active = (
            _active_with_others(events, x, y, t, past_only),
            _active_with_others(events, y, x, t, past_only),
        )
        for i in range(candidates.shape[1]):
            out[row, i] = shared
            _candidate(events, k, x, y, candidates[row, i], t, own[row], past_only, active, out[row, i])
