"""What is known of one candidate as numbers: the features that the re-ranker learns from.

Every number is counted without the question's own facts, as `evidence.visibility` defines them.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from foretime.evidence.lookups import (
    compiled,
    find,
    has_met,
    is_hidden,
    is_watched,
    lower_bound,
    nearest,
    partners_before,
)
from foretime.evidence.threads import in_runs
from foretime.reranker.features.event_sums import MONTH, NO_SUMS, WEEK, add_events, without_events
from foretime.reranker.features.words import FAR, PROFILE_FEATURES

_AT = namedtuple("_At", PROFILE_FEATURES)(*range(len(PROFILE_FEATURES)))
"""The place of each feature."""
_NO_EVENTS = without_events(PROFILE_FEATURES)


@compiled
def _between(events, k, x, p, t, past_only, out):
    """Fill the features of the events between the pair."""
    predicates, group, times, twins = events.group_predicate, events.group, events.time, events.twin
    mirror = (p + events.predicates) % (2 * events.predicates)
    y = events.other[k]
    sums, same_lasting, kinds = NO_SUMS, 0.0, 0
    for g in range(events.pair[k], events.pair[k + 1]):
        watched = is_watched(predicates[g], p, mirror, y == x)
        counted = sums[5]
        sums = add_events(events, g, watched, t, past_only, sums)
        kinds += sums[5] > counted
        if predicates[g] == p:
            same_lasting = add_events(events, g, watched, t, past_only, NO_SUMS)[7]
    before, after, now, week, month, count, recent, lasting = sums
    out[_AT.pair_before], out[_AT.pair_after] = before, after
    out[_AT.pair_nearest] = 0 if now else min(before, after)
    out[_AT.pair_now], out[_AT.pair_week], out[_AT.pair_month], out[_AT.pair_events], out[_AT.pair_predicates] = (
        now,
        week,
        month,
        count,
        kinds,
    )
    out[_AT.pair_recent], out[_AT.pair_lasting], out[_AT.same_lasting] = recent, lasting, same_lasting
    for at, q in ((_AT.same_before, p), (_AT.inverse_before, mirror)):
        g = find(predicates, events.pair[k], events.pair[k + 1], q)
        if g >= 0:
            watched = is_watched(q, p, mirror, y == x)
            last, now_, first, same = nearest(times, twins, group[g], group[g + 1], watched, t, past_only)
            out[at] = t - last if last >= 0 else FAR
            out[at + 1] = first - t if first >= 0 else FAR
            out[at + 2] = same if q == p else now_


@compiled
def _with_others(times, others, begin, end, x, t, past_only, out):
    """Fill before, after and now of the events with others than x in a sorted run; return those in a week, a month."""
    place = lower_bound(times, begin, end, t)
    before, after, now, week, month = FAR, FAR, 0, 0, 0
    for e in range(place - 1, begin - 1, -1):
        far = t - times[e]
        if far > MONTH and before < FAR:
            break
        if others[e] != x:
            before = min(before, far)
            week += far <= WEEK
            month += far <= MONTH
    if not past_only:
        for e in range(place, end):
            far = times[e] - t
            if far > MONTH and after < FAR:
                break
            if others[e] != x:
                if far == 0:
                    now += 1
                else:
                    after = min(after, far)
                week += far <= WEEK
                month += far <= MONTH
    out[0], out[1], out[2] = before, after, now
    return week, month


@compiled
def _near(events, x, p, t, past_only, mark, near, stamp):
    """Mark the partners of the subject: `mark` for those it has met, `near` how near in time if within a week."""
    for k in range(events.node[x], events.node[x + 1]):
        z = events.other[k]
        if z != x and has_met(events, k, p, past_only, t):
            mark[z] = stamp
            near[z] = WEEK + 1
            for g in range(events.pair[k], events.pair[k + 1]):
                begin, end, watched = events.group[g], events.group[g + 1], events.group_predicate[g] == p
                before, now, after, _ = nearest(events.time, events.twin, begin, end, watched, t, past_only)
                if now:
                    near[z] = 0
                if before >= 0:
                    near[z] = min(near[z], t - before)
                if after >= 0:
                    near[z] = min(near[z], after - t)


@compiled
def _subject_row(events, x, p, t, past_only, mark, stamp, out):
    """Fill the features that all candidates of a question share."""
    mirror = (p + events.predicates) % (2 * events.predicates)
    own, looped, now, same, partners = 0, 0, 0, 0, 0
    for k in range(events.node[x], events.node[x + 1]):
        y = events.other[k]
        partners += y != x and mark[y] == stamp
        for q in (p, mirror):
            if q == mirror and y != x:
                continue
            g = find(events.group_predicate, events.pair[k], events.pair[k + 1], q)
            if g < 0:
                continue
            for e in range(events.group[g], events.group[g + 1]):
                if past_only and events.time[e] >= t:
                    continue
                if is_hidden(True, events.time[e], events.twin[e], t, False):
                    own += q == p
                    looped += q == mirror
                else:
                    same += q == p
    begin, end = events.by_entity[x], events.by_entity[x + 1]
    place = lower_bound(events.by_entity_time, begin, end, t)
    total = (place if past_only else end) - begin - own - looped
    if not past_only:
        for e in range(place, end):
            if events.by_entity_time[e] != t:
                break
            now += events.by_entity_predicate[e] != mirror and events.by_entity_other[e] != x
    begin, end = events.by_predicate[p], events.by_predicate[p + 1]
    same_at_all = (lower_bound(events.by_predicate_time, begin, end, t) if past_only else end) - begin - own
    out[_AT.subject_events], out[_AT.subject_partners], out[_AT.subject_now] = total, partners, now
    out[_AT.subject_same_events], out[_AT.predicate_events], out[_AT.predicate] = same, same_at_all, p


@compiled
def _alone(events, k, x, p, y, t, past_only, out):
    """Fill the features of what a candidate does with others than the subject."""
    with_x, with_x_same = 0, 0
    if k >= 0:
        for g in range(events.pair[k], events.pair[k + 1]):
            begin, end = events.group[g], events.group[g + 1]
            count = (lower_bound(events.time, begin, end, t) if past_only else end) - begin
            with_x += count
            with_x_same += count if events.group_predicate[g] == p else 0
    others = 0
    j = find(events.object, events.objects[p], events.objects[p + 1], y)
    if j >= 0:
        begin, end = events.by_object[j], events.by_object[j + 1]
        others = (lower_bound(events.by_object_time, begin, end, t) if past_only else end) - begin - with_x_same
        _, month = _with_others(
            events.by_object_time, events.by_object_subject, begin, end, x, t, past_only, out[_AT.object_before :]
        )
        out[_AT.object_month], out[_AT.object_events] = month, others
    begin, end = events.by_entity[y], events.by_entity[y + 1]
    week, month = _with_others(
        events.by_entity_time, events.by_entity_other, begin, end, x, t, past_only, out[_AT.active_before :]
    )
    total = (lower_bound(events.by_entity_time, begin, end, t) if past_only else end) - begin - with_x
    out[_AT.active_week], out[_AT.active_month], out[_AT.events] = week, month, total
    out[_AT.object_share] = others / max(out[_AT.predicate_events], 1.0)
    out[_AT.object_habit] = others / max(total, 1)


@compiled
def _together(events, x, y, t, past_only, mark, near, stamp, out):
    """Fill the features of the partners that candidate and subject share."""
    partners, common, affinity = 0, 0, 0.0
    for m in range(events.node[y], events.node[y + 1]):
        z = events.other[m]
        if z == x or z == y or (past_only and events.first_met[m] >= t):
            continue
        partners += 1
        if mark[z] == stamp:
            common += 1
            begin, end = events.node[z], events.node[z + 1]
            affinity += 1.0 / np.log(1.0 + partners_before(events.met, begin, end, past_only, t))
    now, week = 0, 0
    begin, end = events.by_entity[y], events.by_entity[y + 1]
    for e in range(lower_bound(events.by_entity_time, begin, end, t - WEEK), end):
        far = events.by_entity_time[e] - t
        if far > WEEK or (past_only and far >= 0):
            break
        z = events.by_entity_other[e]
        if z != x and z != y and mark[z] == stamp and near[z] <= WEEK:
            week += 1
            now += far == 0 and near[z] == 0
    out[_AT.partners] = partners
    out[_AT.affinity], out[_AT.common_partners], out[_AT.path_now], out[_AT.path_week] = affinity, common, now, week


@compiled
def _called(names, p, x, y, with_x, out):
    """Fill the features of the candidate's name; `with_x` counts the words of the subject's own objects."""
    overlap, least, total = 0.0, 0.0, 0.0
    for i in range(names.of[y], names.of[y + 1]):
        word = names.word[i]
        for j in range(names.of[x], names.of[x + 1]):
            if names.word[j] == word:
                overlap += names.rarity[word]
        place = find(names.by_predicate_word, names.by_predicate[p], names.by_predicate[p + 1], word)
        count = names.by_predicate_count[place] - with_x[word] if place >= 0 else 0
        total += np.log1p(count)
        least = count if i == names.of[y] else min(least, count)
    out[_AT.name_overlap], out[_AT.name_count] = overlap, least
    out[_AT.name_share] = total / max(names.of[y + 1] - names.of[y], 1)


@compiled
def _count_words(events, names, x, p, with_x, sign):
    """Count the words of the objects that the subject itself has under the predicate."""
    for k in range(events.node[x], events.node[x + 1]):
        g = find(events.group_predicate, events.pair[k], events.pair[k + 1], p)
        if g >= 0:
            y = events.other[k]
            for i in range(names.of[y], names.of[y + 1]):
                with_x[names.word[i]] += sign * (events.group[g + 1] - events.group[g])


@in_runs
def profile_all(events, names, past_only, subject, predicate, time, first, objects, out, runs, run):
    """Fill the features of each candidate: question k has the candidates `objects[first[k]:first[k + 1]]`."""
    mark = np.full(len(events.node), -1, dtype=np.int64)
    near = np.zeros(len(events.node), dtype=np.int64)
    with_x = np.zeros(len(names.rarity), dtype=np.int64)
    shared = _NO_EVENTS.astype(np.float32)
    for row in range(len(subject) * run // runs, len(subject) * (run + 1) // runs):
        x, p, t = subject[row], predicate[row], time[row]
        _near(events, x, p, t, past_only, mark, near, row)
        _subject_row(events, x, p, t, past_only, mark, row, shared)
        if not past_only:
            _count_words(events, names, x, p, with_x, 1)
        for i in range(first[row], first[row + 1]):
            y, features = objects[i], out[i]
            features[:] = shared
            k = find(events.other, events.node[x], events.node[x + 1], y)
            if k >= 0:
                _between(events, k, x, p, t, past_only, features)
            features[_AT.pair_share] = features[_AT.pair_events] / max(shared[_AT.subject_events], 1.0)
            features[_AT.same_share] = features[_AT.same_events] / max(shared[_AT.subject_same_events], 1.0)
            if y != x:
                _alone(events, k, x, p, y, t, past_only, features)
                _together(events, x, y, t, past_only, mark, near, row, features)
            if not past_only:
                _called(names, p, x, y, with_x, features)
        if not past_only:
            _count_words(events, names, x, p, with_x, -1)
