"""The walk of a question through the index: every feature of every candidate, each met once.

The same walk serves to score (weights are added to the candidates) and to learn (the gradient of the candidates is
added to the weights), so that the two can never disagree.

A question `(x, p, ?, t)` never sees its own facts, whatever its answer is: facts of x and p with an end at t are left
out between a pair, and events that involve x are left out of what a candidate does with others.
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
from foretime.evidence.note_kernels import meet, scratch
from foretime.evidence.path_kernels import walk_paths

_PAIR, _COUNT = PAIR_OFFSET.first, PAIR_COUNT.first
_OBJECT, _OBJECT_COUNT = OBJECT_OFFSET.first, OBJECT_COUNT.first
_ACTIVE, _ACTIVE_COUNT = ACTIVE_OFFSET.first, ACTIVE_COUNT.first
_AFFINITY = AFFINITY.first


RUNS = 4
"""Into how many runs the questions of a batch are cut: threads take runs, and gradients are summed run by run."""


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
                meet(own, table, scores, learn, y, _PAIR, rule)
            if before >= 0:
                f = offset_feature(before - t)
                meet(own, table, scores, learn, y, _PAIR + f, rule + f if rule >= 0 else -1)
            if after >= 0:
                f = offset_feature(after - t)
                meet(own, table, scores, learn, y, _PAIR + f, rule + f if rule >= 0 else -1)
            f = _COUNT + count_feature(count)
            meet(own, table, scores, learn, y, f, rule + f if rule >= 0 else -1)
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
        elif with_x[y] > 0.0:
            count = slots[j + 1] - slots[j] - np.int64(with_x[y])
        else:
            meet(own, table, scores, learn, y, _OBJECT_COUNT + index.slot_bucket[j], -1)
            continue
        if count > 0:
            meet(own, table, scores, learn, y, _OBJECT_COUNT + count_feature(count), -1)
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
            meet(own, table, scores, learn, y, _OBJECT + offset_feature(times[e] - t), -1)
    if reach.past_only:
        return
    for e in range(place, end):
        if times[e] - t > reach.object_window:
            break
        seen = round_ + 1 if times[e] == t else round_ + 2
        y = objects[e]
        if subjects[e] != x and y != x and mark[y + 1] != seen:
            mark[y + 1] = seen
            meet(own, table, scores, learn, y, _OBJECT + offset_feature(times[e] - t), -1)


@njit(cache=True, nogil=True)
def _walk_active(index, reach, notes, table, scores, learn, x, p, t):
    """Meet the entities that do anything with others than the subject: that step, and near it."""
    own = notes.own
    step, objects, sole, mark = index.step, index.step_object, index.step_sole, notes.mark
    events, subjects = index.active, index.active_subject
    if not reach.past_only and t < index.steps:
        for e in range(step[t], step[t + 1]):
            y = objects[e]
            if y == x or sole[e] == x:
                continue
            count = events[e + 1] - events[e]
            if sole[e] < 0:
                for i in range(events[e], events[e + 1]):
                    if subjects[i] == x:
                        count -= 1
            meet(own, table, scores, learn, y, _ACTIVE_COUNT + count_feature(count), -1)
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
                if mark[y + 1] != round_ and sole[e] != x and y != x:
                    mark[y + 1] = round_
                    meet(own, table, scores, learn, y, f, -1)


@njit(cache=True, nogil=True)
def _find_kin(index, past_only, notes, x, p, t):
    """Note the partners of the subject's partners with their features: Adamic–Adar over the graph without times.

    A subject has the same ones in all its questions but those whose own facts are all that it has with some partner.
    """
    others, node, pair, first_met, met = index.other, index.node, index.pair, index.first_met, index.met
    predicates, group, times, twins = index.group_predicate, index.group, index.time, index.twin
    sums, kin = notes.sum, notes.kin
    always, count = not past_only, 0
    for k in range(node[x], node[x + 1]):
        z = others[k]
        if z == x:
            continue
        if not knows(predicates, group, times, twins, pair[k], pair[k + 1], p, past_only, t):
            always = False
            continue
        begin, end = node[z], node[z + 1]
        share = np.float32(1.0 / np.log(1.0 + partners_before(met, begin, end, past_only, t)))
        for m in range(begin, end):
            y = others[m]
            if y == x or y == z or (past_only and first_met[m] >= t):
                continue
            if sums[y] == 0.0:
                kin[2 + count] = y
                count += 1
            sums[y] += share
    for i in range(2, 2 + count):
        y = kin[i]
        notes.kin_feature[y] = affinity_feature(sums[y])
        sums[y] = 0.0
    kin[0], kin[1] = x if always else -1, count


@njit(cache=True, nogil=True)
def _knows_all(index, x, p, t):
    """Return whether x has met each of its partners in any event but the question's own."""
    predicates, group, times, twins = index.group_predicate, index.group, index.time, index.twin
    for k in range(index.node[x], index.node[x + 1]):
        if predicates[index.pair[k]] != p or index.pair[k + 1] - index.pair[k] > 1:
            continue  # another predicate than p is no fact of the question
        if not knows(predicates, group, times, twins, index.pair[k], index.pair[k + 1], p, False, t):
            return False
    return True


@njit(cache=True, nogil=True)
def _walk_affinity(index, reach, notes, table, scores, learn, x, p, t):
    """Meet the partners of the subject's partners. Questions of one subject after the other share one search."""
    own, kin, feature = notes.own, notes.kin, notes.kin_feature
    if kin[0] != x or not _knows_all(index, x, p, t):
        _find_kin(index, reach.past_only, notes, x, p, t)
    for i in range(2, 2 + kin[1]):
        y = kin[i]
        meet(own, table, scores, learn, y, _AFFINITY + feature[y], -1)


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
        walk_paths(index, vocabulary, reach, notes, table, scores, learn, x, p, t)
    if learn:
        for f in range(FEATURES):
            table[f] += own[f]
            table[first + f] += own[f]


@njit(cache=True, nogil=True, parallel=True)
def walk_all(index, vocabulary, reach, tables, scores, learn, subject, predicate, time, order, cuts):
    """Walk all questions in runs, each with a table of its own if there is more than one table.

    `scores` is (questions, entities). `order` has the questions of a subject one after the other, which is quicker.
    Run r has those from `cuts[r]` to `cuts[r + 1]`, whatever threads are free, so that sums are the same every time.
    """
    for run in prange(RUNS):
        notes = scratch(scores.shape[1], 2 * index.predicates)
        for place in range(cuts[run], cuts[run + 1]):
            row = order[place]
            x, p, t = subject[row], predicate[row], time[row]
            walk(index, vocabulary, reach, notes, tables[run % len(tables)], scores[row], learn, x, p, t)
