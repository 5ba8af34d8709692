"""The evidence of one candidate of a question: what `kernels.walk` adds to it, without a walk through all others.

Every weight is met in the order of the walk, so that the sums are the same to the last digit.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from foretime.evidence.families import (
    ACTIVE_COUNT,
    ACTIVE_OFFSET,
    AFFINITY,
    FEATURES,
    OBJECT_COUNT,
    OBJECT_OFFSET,
    PAIR_COUNT,
    PAIR_OFFSET,
    RULED,
)
from foretime.evidence.kernels import RUNS
from foretime.evidence.lookups import (
    affinity_feature,
    count_feature,
    find,
    knows,
    lower_bound,
    nearest,
    offset_feature,
    others_before,
    partners_before,
)
from foretime.evidence.note_kernels import scratch
from foretime.evidence.path_kernels import walk_paths

_PAIR, _COUNT = PAIR_OFFSET.first, PAIR_COUNT.first
_OBJECT, _OBJECT_COUNT = OBJECT_OFFSET.first, OBJECT_COUNT.first
_ACTIVE, _ACTIVE_COUNT = ACTIVE_OFFSET.first, ACTIVE_COUNT.first
_AFFINITY = AFFINITY.first


@njit(cache=True, nogil=True)
def _pair(index, vocabulary, past_only, own, table, x, p, y, t, total):
    """Return `total` with the weights of the events between the two."""
    k = find(index.other, index.node[x], index.node[x + 1], y)
    if k < 0:
        return total
    mirror = (p + index.predicates) % (2 * index.predicates)
    base = FEATURES * (1 + 2 * index.predicates)
    for g in range(index.pair[k], index.pair[k + 1]):
        q = index.group_predicate[g]
        watched = q == p or (y == x and q == mirror)
        begin, end = index.group[g], index.group[g + 1]
        before, now, after, count = nearest(index.time, index.twin, begin, end, watched, t, past_only)
        if count == 0:
            continue
        r = find(vocabulary.pair_body, vocabulary.pair[p], vocabulary.pair[p + 1], q)
        rule = base + RULED * r
        for there, f in (
            (now, _PAIR),
            (before >= 0, _PAIR + offset_feature(before - t)),
            (after >= 0, _PAIR + offset_feature(after - t)),
            (True, _COUNT + count_feature(count)),
        ):
            if there:
                total += own[f] + table[rule + f] if r >= 0 else own[f]
    return total


@njit(cache=True, nogil=True)
def _near(times, others, begin, end, x, t, window, past_only):
    """Return the nearest sorted event with another than x before t and the nearest after, 0 for none within a window.

    Also how many there are at t.
    """
    place = lower_bound(times, begin, end, t)
    before, now, after = 0, 0, 0
    for e in range(place - 1, begin - 1, -1):
        if t - times[e] > window:
            break
        if others[e] != x:
            before = times[e] - t
            break
    if past_only:
        return before, now, after
    for e in range(place, end):
        if times[e] - t > window:
            break
        if others[e] != x:
            if times[e] > t:
                after = times[e] - t
                break
            now += 1
    return before, now, after


@njit(cache=True, nogil=True)
def _object(index, reach, own, x, p, y, t, total):
    """Return `total` with the weights of what the predicate does with the candidate and others."""
    j = find(index.slot_object, index.head[p], index.head[p + 1], y)
    if j < 0:
        return total
    begin, end = index.slot[j], index.slot[j + 1]
    if reach.past_only:
        count = others_before(index.slot_time, index.slot_subject, begin, end, x, t)
    else:
        count = end - begin
        k = find(index.other, index.node[x], index.node[x + 1], y)
        g = find(index.group_predicate, index.pair[k], index.pair[k + 1], p) if k >= 0 else -1
        if g >= 0:
            count -= index.group[g + 1] - index.group[g]
    if count > 0:
        total += own[_OBJECT_COUNT + count_feature(count)]
    window, past_only = reach.object_window, reach.past_only
    before, now, after = _near(index.slot_time, index.slot_subject, begin, end, x, t, window, past_only)
    if before:
        total += own[_OBJECT + offset_feature(before)]
    if now:
        total += own[_OBJECT]
    if after:
        total += own[_OBJECT + offset_feature(after)]
    return total


@njit(cache=True, nogil=True)
def _active(index, reach, own, x, y, t, total):
    """Return `total` with the weights of what the candidate does with others."""
    begin, end = index.around[y], index.around[y + 1]
    window, past_only = reach.active_window, reach.past_only
    before, now, after = _near(index.around_time, index.around_other, begin, end, x, t, window, past_only)
    if now:
        total += own[_ACTIVE_COUNT + count_feature(now)]
    if before:
        total += own[_ACTIVE + offset_feature(before)]
    if after:
        total += own[_ACTIVE + offset_feature(after)]
    return total


@njit(cache=True, nogil=True)
def _affinity(index, past_only, own, x, p, y, t, total):
    """Return `total` with the weight of the partners that both have."""
    affinity = np.float32(0.0)
    for m in range(index.node[y], index.node[y + 1]):
        z = index.other[m]
        if z == x or z == y or (past_only and index.first_met[m] >= t):
            continue
        k = find(index.other, index.node[x], index.node[x + 1], z)
        if k < 0:
            continue
        first, last = index.pair[k], index.pair[k + 1]
        if knows(index.group_predicate, index.group, index.time, index.twin, first, last, p, past_only, t):
            partners = partners_before(index.met, index.node[z], index.node[z + 1], past_only, t)
            affinity += np.float32(1.0 / np.log(1.0 + partners))
    if affinity > 0.0:
        total += own[_AFFINITY + affinity_feature(affinity)]
    return total


@njit(cache=True, nogil=True)
def _score(index, vocabulary, reach, notes, table, row, x, p, y, t):
    """Return the evidence of one candidate; `row` is a note of all entities, zero before and after."""
    own, first = notes.own, FEATURES * (1 + p)
    for f in range(FEATURES):
        own[f] = table[f] + table[first + f]
    total = np.float32(0.0)
    if reach.pair:
        total = _pair(index, vocabulary, reach.past_only, own, table, x, p, y, t, total)
    if y != x:
        if reach.object:
            total = _object(index, reach, own, x, p, y, t, total)
        if reach.active:
            total = _active(index, reach, own, x, y, t, total)
        if reach.affinity:
            total = _affinity(index, reach.past_only, own, x, p, y, t, total)
    if reach.path:
        row[y] = total
        walk_paths(index, vocabulary, reach, notes, table, row, False, x, p, t)
        total = row[y]
        row[:] = 0.0
    return total


@njit(cache=True, nogil=True, parallel=True)
def score_single(index, vocabulary, reach, table, entities, subject, predicate, objects, time, out):
    """Fill `out`, (questions,), with the evidence of one candidate of each question."""
    for run in prange(RUNS):
        notes = scratch(entities, 2 * index.predicates)
        row = np.zeros(entities, dtype=np.float32)
        for i in range(len(subject) * run // RUNS, len(subject) * (run + 1) // RUNS):
            x, p, y, t = subject[i], predicate[i], objects[i], time[i]
            out[i] = _score(index, vocabulary, reach, notes, table, row, x, p, y, t)
