"""The features of every step as the time of a fact: events of eighteen kinds, each counted at the step and around it.

The fact asked about is hidden from all steps, and no step counts events of the predicate between the two at itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from foretime.evidence.lookups import compiled, find, is_hidden
from foretime.evidence.threads import in_runs
from foretime.reranker.features.words import FAR
from foretime.reranker.slots.words import SERIES

NEAR: Final = 2
WEEK: Final = 7
MONTH: Final = 30
CLOSEST: Final = 1024
"""The weight of an event with a neighbour all of whose events are with the other one of the two."""
RARE: Final = 2.5
"""The rarity of a word that makes two names alike: fewer than one in twelve names have it."""
(
    _OTHER,
    _SAME,
    _INVERSE,
    _SUBJECT_SAME,
    _OBJECT_SAME,
    _SUBJECT,
    _OBJECT,
    _SHARED,
    _PREDICATE,
    _SUBJECT_ALIKE,
    _OBJECT_ALIKE,
    _SUBJECT_COMMON,
    _OBJECT_COMMON,
    _SUBJECT_SAME_ALIKE,
    _OBJECT_SAME_ALIKE,
    _SUBJECT_CLOSE,
    _OBJECT_CLOSE,
    _ALIKE,
) = range(len(SERIES))
KINDS: Final = len(SERIES)


@compiled
def _count_pair(events, x, p, y, own, series):
    """Count the events between the two, without the fact that has an end at `own`."""
    k = find(events.other, events.node[x], events.node[x + 1], y)
    if k < 0:
        return
    mirror = (p + events.predicates) % (2 * events.predicates)
    for g in range(events.pair[k], events.pair[k + 1]):
        q = events.group_predicate[g]
        same = q == p or (x == y and q == mirror)
        for e in range(events.group[g], events.group[g + 1]):
            if own >= 0 and is_hidden(same, events.time[e], events.twin[e], own, False):
                continue
            t = events.time[e]
            series[_SAME if same else _OTHER, t] += 1
            if q == mirror and not same:
                series[_INVERSE, t] += 1


@compiled
def _count_predicate(events, p, x, y, series):
    """Count the events of the predicate that each of the two has with others, and those of anybody but the two."""
    mirror = (p + events.predicates) % (2 * events.predicates)
    j = find(events.object, events.objects[mirror], events.objects[mirror + 1], x)
    if j >= 0:
        for e in range(events.by_object[j], events.by_object[j + 1]):
            if events.by_object_subject[e] != y:
                series[_SUBJECT_SAME, events.by_object_time[e]] += 1
    j = find(events.object, events.objects[p], events.objects[p + 1], y)
    if j >= 0:
        for e in range(events.by_object[j], events.by_object[j + 1]):
            if events.by_object_subject[e] != x:
                series[_OBJECT_SAME, events.by_object_time[e]] += 1
    for e in range(events.by_predicate[p], events.by_predicate[p + 1]):
        if events.by_predicate_subject[e] != x or events.by_predicate_object[e] != y:
            series[_PREDICATE, events.by_predicate_time[e]] += 1


@compiled
def _count_activity(events, x, y, mark, stamp, series):
    """Count what each of the two does with others, and with the same neighbour at one step; return the last mark."""
    times, others = events.by_entity_time, events.by_entity_other
    e, end = events.by_entity[x], events.by_entity[x + 1]
    f, last = events.by_entity[y], events.by_entity[y + 1]
    while e < end or f < last:
        t = min(times[e] if e < end else events.steps, times[f] if f < last else events.steps)
        stamp += 1
        while e < end and times[e] == t:
            if others[e] != y and others[e] != x:
                series[_SUBJECT, t] += 1
                mark[others[e]] = stamp
            e += 1
        while f < last and times[f] == t:
            if others[f] != x and others[f] != y:
                series[_OBJECT, t] += 1
                if mark[others[f]] == stamp:
                    series[_SHARED, t] += 1
            f += 1
    return stamp


@compiled
def _is_alike(names, z, word_mark, stamp):
    """Return whether the name of z has a rare word that is marked."""
    for i in range(names.of[z], names.of[z + 1]):
        word = names.word[i]
        if word_mark[word] == stamp and names.rarity[word] > RARE:
            return True
    return False


@compiled
def _count_relatives(events, names, x, y, wanted, mark, stamp, word_mark, close, kind, series):
    """Count what x does with those that have a rare word of the name of y, and with those that y has met.

    Events with the predicate `wanted` are counted once more, and events with a neighbour by how close it is to y: the
    share of its events that are with y.
    """
    for i in range(names.of[y], names.of[y + 1]):
        word_mark[names.word[i]] = stamp
    for k in range(events.node[y], events.node[y + 1]):
        z = events.other[k]
        mark[z] = stamp
        both = events.group[events.pair[k + 1]] - events.group[events.pair[k]]
        close[z] = CLOSEST * both // (events.by_entity[z + 1] - events.by_entity[z])
    for e in range(events.by_entity[x], events.by_entity[x + 1]):
        z = events.by_entity_other[e]
        if z == y or z == x:
            continue
        t = events.by_entity_time[e]
        if mark[z] == stamp:
            series[_SUBJECT_COMMON + kind, t] += 1
            series[_SUBJECT_CLOSE + kind, t] += close[z]
        if _is_alike(names, z, word_mark, stamp):
            series[_SUBJECT_ALIKE + kind, t] += 1
            series[_SUBJECT_SAME_ALIKE + kind, t] += events.by_entity_predicate[e] == wanted


@compiled
def _count_alike(events, names, p, x, y, like_x, like_y, stamp, series):
    """Count the events of the predicate between two others whose names have rare words of the names of x and y."""
    for e in range(events.by_predicate[p], events.by_predicate[p + 1]):
        a, b = events.by_predicate_subject[e], events.by_predicate_object[e]
        if a == x or a == y or b == x or b == y:
            continue
        if _is_alike(names, a, like_x, stamp + 2) and _is_alike(names, b, like_y, stamp + 1):
            series[_ALIKE, events.by_predicate_time[e]] += 1


@compiled
def _prefix(series, sums, before, after):
    """Fill sums of all steps before each, and the steps since the last event and to the next one."""
    steps = series.shape[1]
    for s in range(series.shape[0]):
        last = -1
        for t in range(steps):
            sums[s, t + 1] = sums[s, t] + series[s, t]
            before[s, t] = t - last if last >= 0 else FAR
            if series[s, t] > 0:
                last = t
        following = -1
        for t in range(steps - 1, -1, -1):
            after[s, t] = following - t if following >= 0 else FAR
            if series[s, t] > 0:
                following = t


@compiled
def _within(sums, s, t, far, past_only):
    """Return how many events lie within `far` steps of t."""
    end = t if past_only else min(t + far + 1, sums.shape[1] - 1)
    return sums[s, end] - sums[s, max(t - far, 0)]


@compiled
def _measure(series, sums, before, after, t, past_only, out):
    """Fill all measures of all kinds of events at step t."""
    at = 0
    for s in range(series.shape[0]):
        own = series[s, t] if s == _SAME else 0
        now = 0 if past_only else series[s, t] - own
        total = sums[s, t] if past_only else sums[s, sums.shape[1] - 1]
        out[at] = now
        hidden = 0 if past_only else own
        out[at + 1] = _within(sums, s, t, NEAR, past_only) - hidden
        out[at + 2] = _within(sums, s, t, WEEK, past_only) - hidden
        out[at + 3] = _within(sums, s, t, MONTH, past_only) - hidden
        out[at + 4] = before[s, t]
        out[at + 5] = FAR if past_only else after[s, t]
        out[at + 6] = now / max(total, 1)
        at += 7


@compiled
def _first_score(features):
    """Return a quick score that chooses which steps are looked at: mostly whether the two meet at or around it."""
    score = 3.0 * np.log1p(features[7 * _OTHER]) + np.log1p(features[7 * _OTHER + 1])
    score += 0.7 * np.log1p(features[7 * _OTHER + 2])
    score += 0.5 * np.log1p(features[7 * _OTHER + 3]) + 0.7 * np.log1p(features[7 * _SAME + 2])
    score += 0.5 * np.log1p(features[7 * _SAME + 1]) + 0.5 * np.log1p(features[7 * _SHARED])
    for s in (_SUBJECT_SAME, _OBJECT_SAME):
        score += 0.5 * np.log1p(features[7 * s]) + 0.2 * np.log1p(features[7 * s + 2])
    for s in (_SUBJECT, _OBJECT):
        score += 0.4 * np.log1p(features[7 * s]) + 0.1 * np.log1p(features[7 * s + 2])
    return score + 0.1 * np.log1p(features[7 * _PREDICATE])


@in_runs
def step_features(events, names, past_only, subject, predicate, object_, own, out, first, runs, run):
    """Fill `out`, (questions, steps, features), and the first score of each step, (questions, steps).

    `own` is a step of the fact asked about, −1 where nothing is to be hidden.
    """
    kinds, steps = KINDS, events.steps
    series = np.zeros((kinds, steps), dtype=np.int64)
    sums = np.zeros((kinds, steps + 1), dtype=np.int64)
    before, after = np.zeros((kinds, steps)), np.zeros((kinds, steps))
    mark = np.full(len(events.node), -1, dtype=np.int64)
    close = np.zeros(len(mark), dtype=np.int64)
    like_x = np.full(len(names.rarity), -1, dtype=np.int64)
    like_y = like_x.copy()
    stamp = 0
    for row in range(len(subject) * run // runs, len(subject) * (run + 1) // runs):
        x, p, y = subject[row], predicate[row], object_[row]
        series[:] = 0
        _count_pair(events, x, p, y, own[row], series)
        _count_predicate(events, p, x, y, series)
        stamp = _count_activity(events, x, y, mark, stamp, series)
        if not past_only:  # who the relatives are is known by all events, also by later ones
            mirror = (p + events.predicates) % (2 * events.predicates)
            _count_relatives(events, names, x, y, mirror, mark, stamp + 1, like_y, close, 0, series)
            _count_relatives(events, names, y, x, p, mark, stamp + 2, like_x, close, 1, series)
            _count_alike(events, names, p, x, y, like_x, like_y, stamp, series)
            stamp += 2
        _prefix(series, sums, before, after)
        for t in range(steps):
            _measure(series, sums, before, after, t, past_only, out[row, t])
            first[row, t] = _first_score(out[row, t])
