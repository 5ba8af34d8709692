"""The walk of a question through the events: every feature of every candidate, or of one, each met once.

A walk takes `only`, the candidate that it is about, or −1 for all of them: it then looks that one up in each sorted
list through which it would go, and meets the same features in the same order.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from foretime.evidence.families import FEATURES, GROUPS, RULED
from foretime.evidence.lookups import (
    affinity_bucket,
    compiled,
    count_bucket,
    find,
    has_met,
    is_watched,
    lower_bound,
    nearest,
    offset_bucket,
    others_before,
    partners_before,
    places_of,
)
from foretime.evidence.path_walk import walk_paths
from foretime.evidence.sink import LEARN, NO_FEATURE, RECORD, SCORE, Sink, accumulate, make_scratch, record

_PAIR, _COUNT = GROUPS["pair_offset"].first, GROUPS["pair_count"].first
_OBJECT, _OBJECT_COUNT = GROUPS["object_offset"].first, GROUPS["object_count"].first
_ACTIVE, _ACTIVE_COUNT = GROUPS["active_offset"].first, GROUPS["active_count"].first
_AFFINITY = GROUPS["affinity"].first
RUNS = 4
"""Into how many runs the questions of a batch are cut: threads take runs, and gradients are summed run by run."""


@compiled
def _walk_pairs(events, rules, reach, scratch, sink, x, p, t, only):
    """Accumulate the events between the subject and each of its partners: pair rules."""
    others, pair, predicates, group = events.other, events.pair, events.group_predicate, events.group
    times, twins, past_only, place = events.time, events.twin, reach.past_only, scratch.rule
    mirror = (p + events.predicates) % (2 * events.predicates)
    base = FEATURES * (1 + 2 * events.predicates)
    for r in range(rules.pair[p], rules.pair[p + 1]):
        place[rules.pair_body[r]] = base + RULED * r
    first, last = places_of(others, events.node[x], events.node[x + 1], only)
    for k in range(first, last):
        y = others[k]
        for g in range(pair[k], pair[k + 1]):
            q = predicates[g]
            watched = is_watched(q, p, mirror, y == x)
            before, now, after, count = nearest(times, twins, group[g], group[g + 1], watched, t, past_only)
            if count == 0:
                continue
            rule = place[q]
            if now:
                accumulate(sink, y, _PAIR, rule, 0, g)
            if before >= 0:
                f = offset_bucket(before - t)
                accumulate(sink, y, _PAIR + f, rule + f if rule >= 0 else -1, before - t, g)
            if after >= 0:
                f = offset_bucket(after - t)
                accumulate(sink, y, _PAIR + f, rule + f if rule >= 0 else -1, after - t, g)
            f = _COUNT + count_bucket(count)
            accumulate(sink, y, f, rule + f if rule >= 0 else -1, count, g)
    for r in range(rules.pair[p], rules.pair[p + 1]):
        place[rules.pair_body[r]] = -1


@compiled
def _count_objects(events, reach, scratch, sink, x, p, t, only):
    """Accumulate how often the predicate has each object with other subjects."""
    others, pair, predicates, group = events.other, events.pair, events.group_predicate, events.group
    lists, with_x = events.by_object, scratch.with_subject
    first, last = places_of(others, events.node[x], events.node[x + 1], only)
    for k in range(first, last):
        g = find(predicates, pair[k], pair[k + 1], p)
        if g >= 0:
            with_x[others[k]] = group[g + 1] - group[g]
    begin, end = places_of(events.object, events.objects[p], events.objects[p + 1], only)
    for j in range(begin, end):
        y = events.object[j]
        if y == x:
            continue
        if reach.past_only:
            count = others_before(events.by_object_time, events.by_object_subject, lists[j], lists[j + 1], x, t)
        else:
            count = lists[j + 1] - lists[j] - with_x[y]
            if with_x[y] == 0:
                accumulate(sink, y, _OBJECT_COUNT + events.object_bucket[j], -1, count, j)
                continue
        if count > 0:
            accumulate(sink, y, _OBJECT_COUNT + count_bucket(count), -1, count, j)
    for k in range(first, last):
        with_x[others[k]] = 0


@compiled
def _walk_objects(events, reach, scratch, sink, x, p, t, only):
    """Accumulate the objects that the predicate has with other subjects: how often, and how near in time."""
    _count_objects(events, reach, scratch, sink, x, p, t, only)
    times, objects, subjects = events.by_predicate_time, events.by_predicate_object, events.by_predicate_subject
    begin, end, j, mark = events.by_predicate[p], events.by_predicate[p + 1], -1, scratch.mark
    if only >= 0:  # the events of the predicate with one object have a list of their own
        j = find(events.object, events.objects[p], events.objects[p + 1], only)
        if j < 0:
            return
        times, subjects = events.by_object_time, events.by_object_subject
        begin, end = events.by_object[j], events.by_object[j + 1]
    place = lower_bound(times, begin, end, t)
    round_ = mark[0] + 1
    mark[0] += 3
    for e in range(place - 1, begin - 1, -1):
        if t - times[e] > reach.object_window:
            break
        y = objects[e] if only < 0 else only
        if subjects[e] != x and y != x and mark[y + 1] != round_:
            mark[y + 1] = round_
            accumulate(sink, y, _OBJECT + offset_bucket(times[e] - t), -1, times[e] - t, j)
    if reach.past_only:
        return
    for e in range(place, end):
        if times[e] - t > reach.object_window:
            break
        seen = round_ + 1 if times[e] == t else round_ + 2
        y = objects[e] if only < 0 else only
        if subjects[e] != x and y != x and mark[y + 1] != seen:
            mark[y + 1] = seen
            accumulate(sink, y, _OBJECT + offset_bucket(times[e] - t), -1, times[e] - t, j)


@compiled
def _walk_active(events, reach, scratch, sink, x, t, only):
    """Accumulate the entities that do anything with others than the subject: at that step, and near it."""
    step, objects, sole, mark = events.step, events.step_object, events.step_sole, scratch.mark
    lists, subjects = events.active, events.active_subject
    if not reach.past_only and t < events.steps:
        first, last = places_of(objects, step[t], step[t + 1], only)
        for e in range(first, last):
            y = objects[e]
            if y == x or sole[e] == x:
                continue
            count = lists[e + 1] - lists[e]
            if sole[e] < 0:
                for i in range(lists[e], lists[e + 1]):
                    if subjects[i] == x:
                        count -= 1
            accumulate(sink, y, _ACTIVE_COUNT + count_bucket(count), -1, count, y)
    for side in (-1, 1):
        if side == 1 and reach.past_only:
            continue
        mark[0] += 1
        round_ = mark[0]
        for distance in range(1, reach.active_window + 1):
            when = t + side * distance
            if when < 0 or when >= events.steps:
                continue
            f = _ACTIVE + offset_bucket(side * distance)
            first, last = places_of(objects, step[when], step[when + 1], only)
            for e in range(first, last):
                y = objects[e]
                if mark[y + 1] != round_ and sole[e] != x and y != x:
                    mark[y + 1] = round_
                    accumulate(sink, y, f, -1, side * distance, y)


@compiled
def _find_two_hop(events, past_only, scratch, sink, x, p, t, only):
    """Find the two-hop neighbours of the subject with their features: Adamic–Adar over the graph without times.

    A subject has the same ones in all its questions but those whose own facts are all that it has with some partner.
    """
    others, node, first_met = events.other, events.node, events.first_met
    affinity, two_hop = scratch.affinity, scratch.two_hop
    for i in range(2, 2 + two_hop[1]):
        affinity[two_hop[i]] = 0.0
    always, count = not past_only and only < 0, 0
    for k in range(node[x], node[x + 1]):
        z = others[k]
        first, last = places_of(others, node[z], node[z + 1], only)
        if z == x or first == last:
            continue
        if not has_met(events, k, p, past_only, t):
            always = False
            continue
        share = np.float32(1.0 / np.log(1.0 + partners_before(events.met, node[z], node[z + 1], past_only, t)))
        for m in range(first, last):
            y = others[m]
            if y == x or y == z or (past_only and first_met[m] >= t):
                continue
            if affinity[y] == 0.0:
                two_hop[2 + count] = y
                count += 1
            affinity[y] += share
            if sink.mode == RECORD:
                record(sink, NO_FEATURE, -1, k, m, share)
    for i in range(2, 2 + count):
        y = two_hop[i]
        scratch.two_hop_feature[y] = affinity_bucket(affinity[y])
    two_hop[0], two_hop[1] = x if always else -1, count


@compiled
def _has_met_all(events, x, p, t):
    """Return whether x has met each of its partners in any event but the question's own."""
    predicates, pair = events.group_predicate, events.pair
    for k in range(events.node[x], events.node[x + 1]):
        if predicates[pair[k]] != p or pair[k + 1] - pair[k] > 1:
            continue  # another predicate than p is no fact of the question
        if not has_met(events, k, p, False, t):
            return False
    return True


@compiled
def _walk_affinity(events, reach, scratch, sink, x, p, t, only):
    """Accumulate the two-hop neighbours. Questions of one subject after the other share one search."""
    two_hop, feature = scratch.two_hop, scratch.two_hop_feature
    if only >= 0 or two_hop[0] != x or not _has_met_all(events, x, p, t):
        _find_two_hop(events, reach.past_only, scratch, sink, x, p, t, only)
    for i in range(2, 2 + two_hop[1]):
        y = two_hop[i]
        accumulate(sink, y, _AFFINITY + feature[y], -1, scratch.affinity[y] if sink.mode == RECORD else 0.0, -1)


@compiled
def walk(events, rules, reach, scratch, sink, x, p, t, only):
    """Accumulate every feature of every candidate of one question, or of the one that it is `only` about.

    A table of weights has one for each feature, then one for each predicate and feature, then those of the pair rules,
    then those of the path rules.
    """
    own, table, mode, first = sink.own, sink.table, sink.mode, FEATURES * (1 + p)
    for f in range(FEATURES):
        own[f] = table[f] + table[first + f] if mode == SCORE else 0.0
    if reach.pair:
        _walk_pairs(events, rules, reach, scratch, sink, x, p, t, only)
    if reach.object:
        _walk_objects(events, reach, scratch, sink, x, p, t, only)
    if reach.active:
        _walk_active(events, reach, scratch, sink, x, t, only)
    if reach.affinity:
        _walk_affinity(events, reach, scratch, sink, x, p, t, only)
    if reach.path:
        walk_paths(events, rules, reach, scratch, sink, x, p, t, only)
    if mode == LEARN:
        for f in range(FEATURES):
            table[f] += own[f]
            table[first + f] += own[f]


@njit(cache=True, nogil=True, parallel=True)
def walk_all(events, rules, reach, tables, scores, mode, subject, predicate, time, only, order, cuts):
    """Walk all questions in runs, each with a table of its own if there is more than one table.

    `scores` is (questions, entities), or (questions, 1) where each question is about one candidate, `only`.
    `order` has the questions of a subject one after the other, which is quicker. Run r has those from `cuts[r]` to
    `cuts[r + 1]`, whatever threads are free, so that sums are the same every time.
    """
    for run in prange(RUNS):
        if cuts[run] < cuts[run + 1]:
            scratch, alone = make_scratch(events), np.zeros(len(events.node), dtype=np.float32)
            rows, amounts, size = np.empty((0, 4), dtype=np.int64), np.empty(0), np.zeros(1, dtype=np.int64)
            for place in range(cuts[run], cuts[run + 1]):
                i = order[place]
                x, p, t, y = subject[i], predicate[i], time[i], only[i]
                row = scores[i] if y < 0 else alone
                sink = Sink(mode, scratch.own, tables[run % len(tables)], row, rows, amounts, size)
                walk(events, rules, reach, scratch, sink, x, p, t, y)
                if y >= 0:
                    scores[i, 0] = alone[y]
                    alone[y] = 0.0


@compiled
def record_one(events, rules, reach, x, p, t, only, rows, amounts):
    """Record the features of one candidate; return how many rows there are, of which too many are left out."""
    scratch, nothing, size = make_scratch(events), np.empty(0, dtype=np.float32), np.zeros(1, dtype=np.int64)
    sink = Sink(RECORD, scratch.own, nothing, nothing, rows, amounts, size)
    walk(events, rules, reach, scratch, sink, x, p, t, only)
    return size[0]
