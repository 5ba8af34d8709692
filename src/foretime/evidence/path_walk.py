"""The walk along paths: two events near the time asked about that a mined rule connects with the predicate."""

from __future__ import annotations

import numpy as np

from foretime.evidence.families import FEATURES, GROUPS, PATH_SLOTS, RULED
from foretime.evidence.lookups import compiled, find, is_hidden, lower_bound, offset_bucket
from foretime.evidence.sink import NO_FEATURE, accumulate, record

_PATH = GROUPS["path"].first
_KEPT, _FULL = -1, -2


@compiled
def _keep_path(scratch, key, farther):
    """Keep the nearest grounding of a (candidate, rule) pair; return the slot of a new pair, or `_KEPT`, or `_FULL`.

    Nearer is a smaller distance; of two that are as near, the one before.
    """
    slot = (key * 0x9E3779B97F4A7C15 >> 17) & (PATH_SLOTS - 1)
    for _ in range(PATH_SLOTS // 4):
        if scratch.path_key[slot] == key:
            best = scratch.path_best[slot]
            if abs(farther) < abs(best) or (abs(farther) == abs(best) and farther < best):
                scratch.path_best[slot] = farther
            return _KEPT
        if scratch.path_key[slot] < 0:
            scratch.path_key[slot] = key
            scratch.path_best[slot] = farther
            return slot
        slot = (slot + 1) & (PATH_SLOTS - 1)
    return _FULL


@compiled
def _find_near(events, reach, x, p, t, entity, out):
    """Fill `out` with an entity's events near t, distance by distance, until they are enough; return how many.

    Left out are events with the subject x or with itself, and the question's own.
    """
    times, others, predicates = events.by_entity_time, events.by_entity_other, events.by_entity_predicate
    begin, end = events.by_entity[entity], events.by_entity[entity + 1]
    left = lower_bound(times, begin, end, t)
    right, count = left, 0
    mirror = (p + events.predicates) % (2 * events.predicates)
    for distance in range(reach.path_window + 1):
        if count >= reach.path_events:
            break
        for side in (-1, 1):
            if (side == 1 and reach.past_only) or (side == -1 and distance == 0):
                continue
            while True:
                e = left - 1 if side == -1 else right
                if e < begin or e >= end or times[e] != t + side * distance:
                    break
                if side == -1:
                    left -= 1
                else:
                    right += 1
                watched = entity == x and predicates[e] == mirror
                if (
                    others[e] == x
                    or others[e] == entity
                    or is_hidden(watched, times[e], events.by_entity_twin[e], t, False)
                ):
                    continue
                out[count] = e
                count += 1
    return count


@compiled
def walk_paths(events, rules, reach, scratch, sink, x, p, t, only):
    """Accumulate the ends of paths of two events near t that a mined rule connects with the predicate."""
    learn, own, table, scores, rows, hits = sink
    every, body = 2 * events.predicates, rules.path_body
    low, high = rules.path[p], rules.path[p + 1]
    if low == high:
        return
    times, others, predicates = events.by_entity_time, events.by_entity_other, events.by_entity_predicate
    base = FEATURES * (1 + every) + RULED * len(rules.pair_body)
    found = 0
    for i in range(_find_near(events, reach, x, p, t, x, scratch.near[0])):
        e1 = scratch.near[0][i]
        q1 = np.int64((predicates[e1] + events.predicates) % every)
        r = lower_bound(body, low, high, q1 * every)
        if r == high or body[r] // every != q1:
            continue
        first = times[e1] - t
        for j in range(_find_near(events, reach, x, p, t, others[e1], scratch.near[1])):
            e2 = scratch.near[1][j]
            r = find(body, low, high, q1 * every + (predicates[e2] + events.predicates) % every)
            if r < 0:
                continue
            second = times[e2] - t
            farther = first if abs(first) > abs(second) or (abs(first) == abs(second) and first < second) else second
            slot = _keep_path(scratch, np.int64(others[e2]) * len(body) + r, farther)
            if slot >= 0:
                scratch.path_slots[found] = slot
                found += 1
            if others[e2] == only and slot != _FULL:
                record(rows, NO_FEATURE, base + r, e1, e2, farther)
    for i in range(found):
        slot = scratch.path_slots[i]
        key, farther = scratch.path_key[slot], scratch.path_best[slot]
        if only < 0 or key // len(body) == only:
            feature, y, rule = _PATH + offset_bucket(farther), key // len(body), base + key % len(body)
            accumulate(learn, own, table, scores, rows, hits, y, feature, rule, farther, -1)
        scratch.path_key[slot] = -1
