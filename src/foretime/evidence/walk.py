"""The walk of a question through the events: every feature of every candidate, or of one, each met once.

A walk takes `only`, the candidate that it is about, or −1 for all of them: it then looks that one up in each sorted
list through which it would go, and meets the same features in the same order.
"""

from __future__ import annotations

import numpy as np
from numba import njit

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
    partners_before,
    places_of,
)
from foretime.evidence.path_walk import walk_paths
from foretime.evidence.rate_walk import walk_contact, walk_popularity, walk_recurrence
from foretime.evidence.sink import NO_FEATURE, Sink, accumulate, make_scratch, record
from foretime.evidence.threads import in_runs

_PAIR, _COUNT = GROUPS["pair_offset"].first, GROUPS["pair_count"].first
_OBJECT, _OBJECT_COUNT = GROUPS["object_offset"].first, GROUPS["object_count"].first
_ACTIVE, _ACTIVE_COUNT = GROUPS["active_offset"].first, GROUPS["active_count"].first
_AFFINITY = GROUPS["affinity"].first
RUNS = 4
"""Into how many runs the questions of a batch are cut: threads take runs, and gradients are summed run by run."""


@compiled
def _walk_pairs(events, rules, reach, scratch, sink, x, p, t, only):
    """Accumulate the events between the subject and each of its partners: pair rules."""
    learn, own, table, scores, rows, hits = sink
    others, pair, predicates, group = events.other, events.pair, events.group_predicate, events.group
    times, twins, past_only, place = events.time, events.twin, reach.past_only, scratch.rule
    mirror = (p + events.predicates) % (2 * events.predicates)
    base = FEATURES * (1 + 2 * events.predicates)
    first, last = places_of(others, events.node[x], events.node[x + 1], only)
    if first == last:
        return
    for r in range(rules.pair[p], rules.pair[p + 1]):
        place[rules.pair_body[r]] = base + RULED * r
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
                accumulate(learn, own, table, scores, rows, hits, y, _PAIR, rule, 0, g)
            if before >= 0:
                far = before - t
                f = offset_bucket(far)
                accumulate(learn, own, table, scores, rows, hits, y, _PAIR + f, rule + f if rule >= 0 else -1, far, g)
            if after >= 0:
                far = after - t
                f = offset_bucket(far)
                accumulate(learn, own, table, scores, rows, hits, y, _PAIR + f, rule + f if rule >= 0 else -1, far, g)
            f = _COUNT + count_bucket(count)
            accumulate(learn, own, table, scores, rows, hits, y, f, rule + f if rule >= 0 else -1, count, g)
    for r in range(rules.pair[p], rules.pair[p + 1]):
        place[rules.pair_body[r]] = -1


@compiled
def _count_objects(events, reach, scratch, sink, x, p, t, only):
    """Accumulate how often the predicate has each object with other subjects."""
    learn, own, table, scores, rows, hits = sink
    others, pair, predicates, group = events.other, events.pair, events.group_predicate, events.group
    lists, with_x = events.by_object, scratch.with_subject
    first, last = places_of(others, events.node[x], events.node[x + 1], only)
    for k in range(first, last):
        g = find(predicates, pair[k], pair[k + 1], p)
        if g >= 0:
            seen = lower_bound(events.time, group[g], group[g + 1], t) if reach.past_only else group[g + 1]
            with_x[others[k]] = seen - group[g]
    begin, end = places_of(events.object, events.objects[p], events.objects[p + 1], only)
    for j in range(begin, end):
        y = events.object[j]
        if y == x:
            continue
        if reach.past_only:
            count = lower_bound(events.by_object_time, lists[j], lists[j + 1], t) - lists[j] - with_x[y]
        else:
            count = lists[j + 1] - lists[j] - with_x[y]
            if with_x[y] == 0:
                f = _OBJECT_COUNT + events.object_bucket[j]
                accumulate(learn, own, table, scores, rows, hits, y, f, -1, count, j)
                continue
        if count > 0:
            accumulate(learn, own, table, scores, rows, hits, y, _OBJECT_COUNT + count_bucket(count), -1, count, j)
    for k in range(first, last):
        with_x[others[k]] = 0


@compiled
def _walk_objects(events, reach, scratch, sink, x, p, t, only):
    """Accumulate the objects that the predicate has with other subjects: how often, and how near in time."""
    learn, own, table, scores, rows, hits = sink
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
            far = times[e] - t
            accumulate(learn, own, table, scores, rows, hits, y, _OBJECT + offset_bucket(far), -1, far, j)
            if only >= 0:
                break
    if reach.past_only:
        return
    for e in range(place, end):
        if times[e] - t > reach.object_window:
            break
        seen = round_ + 1 if times[e] == t else round_ + 2
        y = objects[e] if only < 0 else only
        if subjects[e] != x and y != x and mark[y + 1] != seen:
            mark[y + 1] = seen
            far = times[e] - t
            accumulate(learn, own, table, scores, rows, hits, y, _OBJECT + offset_bucket(far), -1, far, j)
            if only >= 0 and times[e] > t:
                break


@compiled
def _walk_active(events, reach, scratch, sink, x, t, only):
    """Accumulate the entities that do anything with others than the subject: at that step, and near it."""
    learn, own, table, scores, rows, hits = sink
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
            accumulate(learn, own, table, scores, rows, hits, y, _ACTIVE_COUNT + count_bucket(count), -1, count, y)
    for side in (-1, 1):
        if side == 1 and reach.past_only:
            continue
        mark[0] += 1
        round_ = mark[0]
        for distance in range(1, reach.active_window + 1):
            when = t + side * distance
            if when < 0 or when >= events.steps:
                continue
            if only >= 0 and mark[only + 1] == round_:
                break
            f = _ACTIVE + offset_bucket(side * distance)
            first, last = places_of(objects, step[when], step[when + 1], only)
            for e in range(first, last):
                y = objects[e]
                if mark[y + 1] != round_ and sole[e] != x and y != x:
                    mark[y + 1] = round_
                    accumulate(learn, own, table, scores, rows, hits, y, f, -1, side * distance, y)


@compiled
def _find_two_hop(events, past_only, scratch, sink, x, p, t, only):
    """Find the two-hop neighbours of the subject with their features: Adamic–Adar over the graph without times.

    A subject has the same ones in all its questions but those whose own facts are all that it has with some partner.
    """
    rows = sink.rows
    others, node, first_met = events.other, events.node, events.first_met
    affinity, two_hop = scratch.affinity, scratch.two_hop
    for i in range(2, 2 + two_hop[1]):
        affinity[two_hop[i]] = 0.0
    always, count = not past_only and only < 0, 0
    begin = x if only < 0 else only  # the partners of one candidate are mostly fewer than those of the subject
    for i in range(node[begin], node[begin + 1]):
        z = others[i]
        k = i if only < 0 else find(others, node[x], node[x + 1], z)
        if z == x or k < 0:
            continue
        if not has_met(events, k, p, past_only, t):
            always = False
            continue
        first, last = i, i + 1  # one candidate and its partner; a record wants the pair as the partner has it
        if only < 0 or rows is not None:
            first, last = places_of(others, node[z], node[z + 1], only)
        share = np.float32(1.0 / np.log(1.0 + partners_before(events.met, node[z], node[z + 1], past_only, t)))
        for m in range(first, last):
            y = others[m] if only < 0 else only
            if y == x or y == z or (past_only and first_met[m] >= t):
                continue
            if affinity[y] == 0.0:
                two_hop[2 + count] = y
                count += 1
            affinity[y] += share
            record(rows, NO_FEATURE, -1, k, m, share)
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
    learn, own, table, scores, rows, hits = sink
    two_hop, feature = scratch.two_hop, scratch.two_hop_feature
    if only >= 0 or two_hop[0] != x or not _has_met_all(events, x, p, t):
        _find_two_hop(events, reach.past_only, scratch, sink, x, p, t, only)
    for i in range(2, 2 + two_hop[1]):
        y = two_hop[i]
        accumulate(learn, own, table, scores, rows, hits, y, _AFFINITY + feature[y], -1, scratch.affinity[y], -1)


@compiled
def walk(events, rules, reach, scratch, sink, x, p, t, only):
    """Accumulate every feature of every candidate of one question, or of the one that it is `only` about.

    A table of weights has one for each feature, then one for each predicate and feature, then those of the pair rules,
    then those of the path rules.
    """
    own, table, learn, first = sink.own, sink.table, sink.learn, FEATURES * (1 + p)
    for f in range(FEATURES):
        own[f] = 0.0 if learn else table[f] + table[first + f]
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
    if reach.recurrence:
        walk_recurrence(events, scratch, sink, x, p, t, only)
    if reach.contact:
        walk_contact(events, rules, scratch, sink, x, p, t, only)
    if reach.popularity:
        walk_popularity(events, scratch, sink, x, p, t, only)
    if learn:
        for f in range(FEATURES):
            table[f] += own[f]
            table[first + f] += own[f]


@in_runs
def walk_all(events, rules, reach, tables, scores, learn, subject, predicate, time, order, cuts, runs, run):
    """Walk all questions in runs, each with a table of its own if there is more than one table.

    `scores` is (questions, entities). `order` has the questions of a subject one after the other, which is quicker.
    Run r has those from `cuts[r]` to `cuts[r + 1]`, whatever threads are free, so that sums are the same every time.
    """
    scratch = make_scratch(events)
    for place in range(cuts[run], cuts[run + 1]):
        i = order[place]
        sink = Sink(learn, scratch.own, tables[run % len(tables)], scores[i], None, None)
        walk(events, rules, reach, scratch, sink, subject[i], predicate[i], time[i], np.int64(-1))


@in_runs
def score_each(events, rules, reach, weights, subject, predicate, objects, time, out, runs, run):
    """Fill `out`, (questions,), with the evidence of one candidate of each question."""
    scratch, scores = make_scratch(events), np.zeros(len(events.node), dtype=np.float32)
    for i in range(len(subject) * run // runs, len(subject) * (run + 1) // runs):
        sink = Sink(False, scratch.own, weights, scores, None, None)
        walk(events, rules, reach, scratch, sink, subject[i], predicate[i], time[i], objects[i])
        out[i] = scores[objects[i]]
        scores[objects[i]] = 0.0


@njit(cache=True, nogil=True)
def record_one(events, rules, reach, x, p, t, only, rows):
    """Record the features of one candidate in `rows`, all 0 before."""
    scratch, weights = make_scratch(events), np.zeros(FEATURES * (2 + p), dtype=np.float32)
    walk(events, rules, reach, scratch, Sink(False, scratch.own, weights, weights, rows, None), x, p, t, only)
