"""The walk along paths: two events near the time asked about that a mined rule connects with the predicate."""

from __future__ import annotations

import numpy as np
from numba import njit

from foretime.evidence.families import FEATURES, PATH, PATH_SLOTS, RULED
from foretime.evidence.lookups import lower_bound, offset_feature
from foretime.evidence.note_kernels import meet

_PATH = PATH.first


@njit(cache=True, nogil=True)
def _keep_path(notes, key, farther):
    """Keep the nearest grounding of a (candidate, rule) pair; return whether the pair is new. A full table keeps none.

    Nearer is a smaller distance; of two that are as near, the one before.
    """
    slot = (key * 0x9E3779B97F4A7C15 >> 17) & (PATH_SLOTS - 1)
    for _ in range(PATH_SLOTS // 4):
        if notes.path_key[slot] == key:
            best = notes.path_best[slot]
            if abs(farther) < abs(best) or (abs(farther) == abs(best) and farther < best):
                notes.path_best[slot] = farther
            return -1
        if notes.path_key[slot] < 0:
            notes.path_key[slot] = key
            notes.path_best[slot] = farther
            return slot
        slot = (slot + 1) & (PATH_SLOTS - 1)
    return -1


@njit(cache=True, nogil=True)
def _walk_second(index, vocabulary, reach, notes, x, p, t, q1, z, first, found):
    """Keep the path rules that go on from (x, q1, z) at the distance `first`; return how many are kept in all."""
    every = 2 * index.predicates
    low, high = vocabulary.path[p], vocabulary.path[p + 1]
    begin, end = index.around[z], index.around[z + 1]
    left = lower_bound(index.around_time, begin, end, t)
    right = left
    seen = 0
    for distance in range(reach.path_window + 1):
        if seen >= reach.path_events:
            break
        for side in (-1, 1):
            if (side == 1 and reach.past_only) or (side == -1 and distance == 0):
                continue
            while True:
                e = left - 1 if side == -1 else right
                if e < begin or e >= end or index.around_time[e] != t + side * distance:
                    break
                if side == -1:
                    left -= 1
                else:
                    right += 1
                y = index.around_other[e]
                if y == x or y == z:
                    continue
                seen += 1
                q2 = (index.around_predicate[e] + index.predicates) % every
                body = np.int64(q1) * every + q2
                r = lower_bound(vocabulary.path_body, low, high, body)
                if r == high or vocabulary.path_body[r] != body:
                    continue
                second = side * distance
                farther = (
                    first if abs(first) > abs(second) or (abs(first) == abs(second) and first < second) else second
                )
                slot = _keep_path(notes, np.int64(y) * len(vocabulary.path_body) + r, farther)
                if slot >= 0 and found < len(notes.touched):
                    notes.touched[found] = slot
                    found += 1
    return found


@njit(cache=True, nogil=True)
def walk_paths(index, vocabulary, reach, notes, table, scores, learn, x, p, t):
    """Meet the ends of paths of two events near t that a mined rule connects with the predicate."""
    own = notes.own
    every = 2 * index.predicates
    low, high = vocabulary.path[p], vocabulary.path[p + 1]
    if low == high:
        return
    base = FEATURES * (1 + every) + RULED * len(vocabulary.pair_body)
    begin, end = index.around[x], index.around[x + 1]
    left = lower_bound(index.around_time, begin, end, t)
    right = left
    seen, found = 0, 0
    for distance in range(reach.path_window + 1):
        if seen >= reach.path_events:
            break
        for side in (-1, 1):
            if (side == 1 and reach.past_only) or (side == -1 and distance == 0):
                continue
            while True:
                e = left - 1 if side == -1 else right
                if e < begin or e >= end or index.around_time[e] != t + side * distance:
                    break
                if side == -1:
                    left -= 1
                else:
                    right += 1
                z = index.around_other[e]
                q1 = (index.around_predicate[e] + index.predicates) % every
                if z == x or (q1 == p and (distance == 0 or index.around_twin[e] == t)):
                    continue
                seen += 1
                r = lower_bound(vocabulary.path_body, low, high, np.int64(q1) * every)
                if r == high or vocabulary.path_body[r] // every != q1:
                    continue
                found = _walk_second(index, vocabulary, reach, notes, x, p, t, q1, z, side * distance, found)
    for i in range(found):
        slot = notes.touched[i]
        y = notes.path_key[slot] // len(vocabulary.path_body)
        r = notes.path_key[slot] % len(vocabulary.path_body)
        meet(own, table, scores, learn, y, _PATH + offset_feature(notes.path_best[slot]), base + r)
        notes.path_key[slot] = -1
