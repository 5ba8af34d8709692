"""The walk of a question through the index: every feature of every candidate, each met once.

The same walk serves to score (weights are added to the candidates) and to learn (the gradient of the candidates is
added to the weights), so that the two can never disagree.

A question `(x, p, ?, t)` never sees its own facts, whatever its answer is: facts of x and p with an end at t are left
out between a pair, and events that involve x are left out of what a candidate does with others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from foretime.evidence.families import (
    ACTIVE_COUNT,
    ACTIVE_OFFSET,
    AFFINITY,
    FEATURES,
    OBJECT_COUNT,
    OBJECT_OFFSET,
    PAIR_COUNT,
    PAIR_OFFSET,
    PATH,
    PATH_SLOTS,
    RULED,
)
from foretime.evidence.index import Ints, Offsets
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

Floats = NDArray[np.float32]
_PAIR, _COUNT = PAIR_OFFSET.first, PAIR_COUNT.first
_OBJECT, _OBJECT_COUNT = OBJECT_OFFSET.first, OBJECT_COUNT.first
_ACTIVE, _ACTIVE_COUNT = ACTIVE_OFFSET.first, ACTIVE_COUNT.first
_AFFINITY, _PATH = AFFINITY.first, PATH.first


class Scratch(NamedTuple):
    """The notes of one walk at a time, so that none are made anew.

    `mark` has the number of the current round first, and then for each entity the last round in which it was met.
    """

    own: Floats
    rule: Ints
    mark: Ints
    sum: Floats
    touched: Ints
    path_key: Offsets
    path_best: Ints


RUNS = 4
"""Into how many runs the questions of a batch are cut: threads take runs, and gradients are summed run by run."""


@njit(cache=True, nogil=True)
def scratch(entities, predicates):
    """Return empty notes; `predicates` counts inverses too."""
    return Scratch(
        own=np.zeros(FEATURES, dtype=np.float32),
        rule=np.full(predicates, -1, dtype=np.int32),
        mark=np.zeros(entities + 1, dtype=np.int32),
        sum=np.zeros(entities, dtype=np.float32),
        # room for every slot of the path table too: a slot that is not noted would never be emptied
        touched=np.empty(max(entities, PATH_SLOTS), dtype=np.int32),
        path_key=np.full(PATH_SLOTS, -1, dtype=np.int64),
        path_best=np.zeros(PATH_SLOTS, dtype=np.int32),
    )


@njit(cache=True, nogil=True)
def _meet(own, table, scores, learn, candidate, feature, rule):
    """Add a feature's weight to a candidate, or a candidate's gradient to the feature's weights.

    `own` holds the feature's weights that have no rule, summed for the question's predicate; `rule` is the place of a
    rule's weight in `table`, −1 for a rule without one.
    """
    if learn:
        gradient = scores[candidate]
        own[feature] += gradient
        if rule >= 0:
            table[rule] += gradient
    else:
        total = own[feature]
        if rule >= 0:
            total += table[rule]
        scores[candidate] += total


@njit(cache=True, nogil=True)
def _walk_pairs(index, vocabulary, reach, notes, table, scores, learn, x, p, t):
    """Meet the events between the subject and each of its partners: pair rules."""
    own = notes.own
    others, pair, predicates, group = index.other, index.pair, index.group_predicate, index.group
    times, twins, past_only, rules = index.time, index.twin, reach.past_only, notes.rule
    mirror = (p + index.predicates) % (2 * index.predicates)
    base = FEATURES * (1 + 2 * index.predicates)
    for r in range(vocabulary.pair[p], vocabulary.pair[p + 1]):
        rules[vocabulary.pair_body[r]] = base + RULED * r
    for k in range(index.node[x], index.node[x + 1]):
        y = others[k]
        for g in range(pair[k], pair[k + 1]):
            q = predicates[g]
            watched = q == p or (y == x and q == mirror)
            before, now, after, count = nearest(times, twins, group[g], group[g + 1], watched, t, past_only)
            if count == 0:
                continue
            rule = rules[q]
            if now:
                _meet(own, table, scores, learn, y, _PAIR, rule)
            if before >= 0:
                f = offset_feature(before - t)
                _meet(own, table, scores, learn, y, _PAIR + f, rule + f if rule >= 0 else -1)
            if after >= 0:
                f = offset_feature(after - t)
                _meet(own, table, scores, learn, y, _PAIR + f, rule + f if rule >= 0 else -1)
            f = _COUNT + count_feature(count)
            _meet(own, table, scores, learn, y, f, rule + f if rule >= 0 else -1)
    for r in range(vocabulary.pair[p], vocabulary.pair[p + 1]):
        rules[vocabulary.pair_body[r]] = -1


@njit(cache=True, nogil=True)
def _walk_objects(index, reach, notes, table, scores, learn, x, p, t):
    """Meet the objects that the predicate has with other subjects: how often, and how near in time."""
    own = notes.own
    others, pair, predicates, group = index.other, index.pair, index.group_predicate, index.group
    slots, slot_objects, with_x, mark = index.slot, index.slot_object, notes.sum, notes.mark
    for k in range(index.node[x], index.node[x + 1]):
        g = find(predicates, pair[k], pair[k + 1], p)
        if g >= 0:
            with_x[others[k]] = group[g + 1] - group[g]
    for j in range(index.head[p], index.head[p + 1]):
        y = slot_objects[j]
        if y == x:
            continue
        if reach.past_only:
            count = others_before(index.slot_time, index.slot_subject, slots[j], slots[j + 1], x, t)
        else:
            count = slots[j + 1] - slots[j] - np.int64(with_x[y])
        if count > 0:
            _meet(own, table, scores, learn, y, _OBJECT_COUNT + count_feature(count), -1)
    for k in range(index.node[x], index.node[x + 1]):
        with_x[others[k]] = 0.0
    times, objects, subjects = index.said_time, index.said_object, index.said_subject
    begin, end = index.said[p], index.said[p + 1]
    place = lower_bound(times, begin, end, t)
    round_ = mark[0] + 1
    mark[0] += 3
    for e in range(place - 1, begin - 1, -1):
        if t - times[e] > reach.object_window:
            break
        y = objects[e]
        if subjects[e] != x and y != x and mark[y + 1] != round_:
            mark[y + 1] = round_
            _meet(own, table, scores, learn, y, _OBJECT + offset_feature(times[e] - t), -1)
    if reach.past_only:
        return
    for e in range(place, end):
        if times[e] - t > reach.object_window:
            break
        seen = round_ + 1 if times[e] == t else round_ + 2
        y = objects[e]
        if subjects[e] != x and y != x and mark[y + 1] != seen:
            mark[y + 1] = seen
            _meet(own, table, scores, learn, y, _OBJECT + offset_feature(times[e] - t), -1)


@njit(cache=True, nogil=True)
def _walk_active(index, reach, notes, table, scores, learn, x, p, t):
    """Meet the entities that do anything with others than the subject: that step, and near it."""
    own = notes.own
    step, objects, subjects = index.step, index.step_object, index.step_subject
    sums, mark, touched = notes.sum, notes.mark, notes.touched
    if not reach.past_only and t < index.steps:
        count = 0
        for e in range(step[t], step[t + 1]):
            y = objects[e]
            if y == x or subjects[e] == x:
                continue
            if sums[y] == 0.0:
                touched[count] = y
                count += 1
            sums[y] += 1.0
        for i in range(count):
            y = touched[i]
            _meet(own, table, scores, learn, y, _ACTIVE_COUNT + count_feature(np.int64(sums[y])), -1)
            sums[y] = 0.0
    for side in (-1, 1):
        if side == 1 and reach.past_only:
            continue
        mark[0] += 1
        round_ = mark[0]
        for distance in range(1, reach.active_window + 1):
            when = t + side * distance
            if when < 0 or when >= index.steps:
                continue
            f = _ACTIVE + offset_feature(side * distance)
            for e in range(step[when], step[when + 1]):
                y = objects[e]
                if y != x and subjects[e] != x and mark[y + 1] != round_:
                    mark[y + 1] = round_
                    _meet(own, table, scores, learn, y, f, -1)


@njit(cache=True, nogil=True)
def _walk_affinity(index, reach, notes, table, scores, learn, x, p, t):
    """Meet the partners of the subject's partners: Adamic–Adar over the graph without times."""
    own = notes.own
    others, node, pair, first_met, met = index.other, index.node, index.pair, index.first_met, index.met
    predicates, group, times, twins = index.group_predicate, index.group, index.time, index.twin
    sums, touched, past_only = notes.sum, notes.touched, reach.past_only
    count = 0
    for k in range(node[x], node[x + 1]):
        z = others[k]
        if z == x or not knows(predicates, group, times, twins, pair[k], pair[k + 1], p, past_only, t):
            continue
        begin, end = node[z], node[z + 1]
        share = np.float32(1.0 / np.log(1.0 + partners_before(met, begin, end, past_only, t)))
        for m in range(begin, end):
            y = others[m]
            if y == x or y == z or (past_only and first_met[m] >= t):
                continue
            if sums[y] == 0.0:
                touched[count] = y
                count += 1
            sums[y] += share
    for i in range(count):
        y = touched[i]
        _meet(own, table, scores, learn, y, _AFFINITY + affinity_feature(sums[y]), -1)
        sums[y] = 0.0


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
def _walk_paths(index, vocabulary, reach, notes, table, scores, learn, x, p, t):
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
        _meet(own, table, scores, learn, y, _PATH + offset_feature(notes.path_best[slot]), base + r)
        notes.path_key[slot] = -1


@njit(cache=True, nogil=True)
def walk(index, vocabulary, reach, notes, table, scores, learn, x, p, t):
    """Meet every feature of every candidate of one question.

    To score, `table` holds the weights and `scores`, (entities,), takes their sums. To learn, `scores` holds the
    gradient of the candidates and `table` takes that of the weights. A table has one weight for each feature, then one
    for each predicate and feature, then those of the pair rules, then those of the path rules.
    """
    own, first = notes.own, FEATURES * (1 + p)
    for f in range(FEATURES):
        own[f] = 0.0 if learn else table[f] + table[first + f]
    if reach.pair:
        _walk_pairs(index, vocabulary, reach, notes, table, scores, learn, x, p, t)
    if reach.object:
        _walk_objects(index, reach, notes, table, scores, learn, x, p, t)
    if reach.active:
        _walk_active(index, reach, notes, table, scores, learn, x, p, t)
    if reach.affinity:
        _walk_affinity(index, reach, notes, table, scores, learn, x, p, t)
    if reach.path:
        _walk_paths(index, vocabulary, reach, notes, table, scores, learn, x, p, t)
    if learn:
        for f in range(FEATURES):
            table[f] += own[f]
            table[first + f] += own[f]


@njit(cache=True, nogil=True, parallel=True)
def walk_all(index, vocabulary, reach, tables, scores, learn, subject, predicate, time):
    """Walk all questions in equal runs, each with a table of its own if there is more than one table.

    `scores` is (questions, entities). The runs are cut by their number, not by the threads that are free, so that sums
    come out the same every time.
    """
    runs = RUNS
    for run in prange(runs):
        notes = scratch(scores.shape[1], 2 * index.predicates)
        for row in range(len(subject) * run // runs, len(subject) * (run + 1) // runs):
            x, p, t = subject[row], predicate[row], time[row]
            walk(index, vocabulary, reach, notes, tables[run % len(tables)], scores[row], learn, x, p, t)
