"""How often and how lately, as numbers: the features that a re-ranker of forecasts has beside its profile.

Only events before the time asked about count, and each counts less the older it is.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Final

import numpy as np

from foretime.evidence.lookups import compiled, find, is_watched, lower_bound, making_arrays
from foretime.evidence.rates import (
    EACH,
    LONG,
    MONTH,
    SEASON,
    TAU,
    add_own_rates,
    faded,
    first_seen,
    rate_followed,
    rates_between,
    rates_of,
)
from foretime.evidence.threads import in_runs
from foretime.reranker.features.words import FAR, RATE_FEATURES

_AT = namedtuple("_At", RATE_FEATURES)(*range(len(RATE_FEATURES)))
"""The place of each feature."""
_RATES: Final = len(TAU)
LATELY: Final = 500
"""After how many events of a predicate, the newest first, their names are looked at no farther."""
WEEK: Final = 7
WEEKLY: Final = 60.0
ON_A_PATH: Final = 10.0
PATH_WINDOW: Final = 30
SMALLEST: Final = 0.01
"""What is added to what a part is of, so that a part of nearly nothing is nearly nothing."""

Subject = namedtuple("Subject", ("near", "objects", "last", "often", "met", "words", "alike"))
"""What is noted of the subject of a question: how near each neighbour is, (2, entities), below 0 for others; its
objects under the predicate, when each was last and how often of late; when each neighbour was last met; and how often
the words of names were lately had, by all and by those whose names are like the subject's."""


@making_arrays
def _note_subject(events, x, p, t, noted, shared):
    """Note the neighbours and objects of the subject; fill its own rates; return how many objects, how many met."""
    objects, met, rates, same = 0, 0, np.zeros(_RATES), np.zeros(_RATES)
    times, twins, sums, group = events.time, events.twin, events.fading, events.group
    for k in range(events.node[x], events.node[x + 1]):
        if events.first_met[k] >= t:
            continue
        y = events.other[k]
        rates[:] = 0.0
        _, latest = rates_between(events, k, x, p, t, EACH, rates)
        g = find(events.group_predicate, events.pair[k], events.pair[k + 1], p)
        if g >= 0:
            same[:] = 0.0
            count, last = rates_of(times, twins, sums, group[g], group[g + 1], events.intervals, t, EACH, same)
            if events.intervals:
                own = shared[_AT.predicate_rate_2 : _AT.predicate_rate_2 + _RATES]
                add_own_rates(times, twins, group[g], group[g + 1], t, -1, own)
            if count > 0:
                noted.objects[objects], noted.last[objects] = y, last
                noted.often[objects] = same[SEASON]
                objects += 1
                shared[_AT.subject_same_rate_2 : _AT.subject_same_rate_2 + _RATES] += same
        if latest >= 0:
            noted.near[0, y], noted.near[1, y] = rates[MONTH], rates[SEASON]
            noted.met[met] = latest
            met += 1
            shared[_AT.subject_rate_2 : _AT.subject_rate_2 + _RATES] += rates
    return objects, met


@compiled
def _note_predicate(events, names, x, p, t, noted, shared, sign):
    """Fill the rates of the predicate, and count the words of its latest objects, or with `sign` −1 forget them."""
    begin, times = events.by_predicate[p], events.by_predicate_time
    place = lower_bound(times, begin, events.by_predicate[p + 1], t)
    for rate in range(_RATES):
        shared[_AT.predicate_rate_2 + rate] += faded(events.by_predicate_fading, rate, times, begin, place, t)
    for e in range(max(begin, place - LATELY), place):
        y, z = events.by_predicate_object[e], events.by_predicate_subject[e]
        if z == x:
            continue
        weight, alike = np.exp((times[e] + 1 - t) / TAU[SEASON]), sign > 0 and _overlap(names, x, z) > 0.0
        for i in range(names.of[y], names.of[y + 1]):
            if sign > 0:
                noted.words[names.word[i]] += weight
                noted.alike[names.word[i]] += weight * alike
            else:
                noted.words[names.word[i]] = 0.0
                noted.alike[names.word[i]] = 0.0


@compiled
def _overlap(names, x, y):
    """Return how much two names have in common: their words, each by its rarity."""
    found = 0.0
    for i in range(names.of[y], names.of[y + 1]):
        for j in range(names.of[x], names.of[x + 1]):
            if names.word[i] == names.word[j]:
                found += names.rarity[names.word[i]]
    return found


@compiled
def _between(events, k, x, p, t, hidden, out):
    """Fill the features of the events between the pair; return the last step at which the two met.

    `hidden` takes the rates of the question's own events.
    """
    if events.first_met[k] >= t:
        return -1
    mirror, loop = (p + events.predicates) % (2 * events.predicates), events.other[k] == x
    times, twins, sums, group = events.time, events.twin, events.fading, events.group
    rates = out[_AT.pair_rate_2 : _AT.pair_rate_2 + _RATES]
    _, latest = rates_between(events, k, x, p, t, EACH, rates)
    if latest >= 0:
        out[_AT.pair_since] = t - _first_between(events, k, p, mirror, loop, t)
    for q, at in ((p, _AT.same_rate_2), (mirror, _AT.inverse_rate_2)):
        g = find(events.group_predicate, events.pair[k], events.pair[k + 1], q)
        if g >= 0:
            watched = is_watched(q, p, mirror, loop) and events.intervals
            rates_of(times, twins, sums, group[g], group[g + 1], watched, t, EACH, out[at : at + _RATES])
            if q == p:
                if events.intervals:
                    add_own_rates(times, twins, group[g], group[g + 1], t, 1, hidden)
                _recurring(events, g, t, out)
    return latest


@compiled
def _first_between(events, k, p, mirror, loop, t):
    """Return the first step of the events between a pair that a question at t sees."""
    if not events.intervals:
        return events.first_met[k]
    first, times, twins = t, events.time, events.twin
    for g in range(events.pair[k], events.pair[k + 1]):
        watched = is_watched(events.group_predicate[g], p, mirror, loop)
        first = min(first, first_seen(times, twins, events.group[g], events.group[g + 1], watched, t))
    return first


@compiled
def _recurring(events, g, t, out):
    """Fill how the events of a group recur: the pause between the last two, and those of whole weeks ago."""
    begin = events.group[g]
    place, later = lower_bound(events.time, begin, events.group[g + 1], t), -1
    for e in range(place - 1, begin - 1, -1):
        step = events.time[e]
        if events.twin[e] == t:
            continue
        if later >= 0 and step < later and out[_AT.same_pause] == FAR:
            out[_AT.same_pause] = later - step
        later = step if later < 0 else later
        if (t - step) % WEEK == 0:
            out[_AT.same_weekly] += np.exp(-(t - step) / WEEKLY)


@compiled
def _with_others(events, k, x, p, y, t, noted, hidden, out):
    """Fill what the candidate has with others than the subject, and with the subject's neighbours."""
    j = find(events.object, events.objects[p], events.objects[p + 1], y)
    if j >= 0:
        begin, times = events.by_object[j], events.by_object_time
        place = lower_bound(times, begin, events.by_object[j + 1], t)
        for rate in range(_RATES):
            own = out[_AT.same_rate_2 + rate] + hidden[rate]
            found = faded(events.by_object_fading, rate, times, begin, place, t) - own
            out[_AT.object_rate_2 + rate] = max(found, 0.0)
        if place > begin:
            out[_AT.object_subjects] = events.by_object_subjects[place - 1] - _has_had(events, k, p, t)
        for e in range(lower_bound(times, begin, place, t - 1 - LONG * TAU[SEASON]), place):
            z = events.by_object_subject[e]
            if z != x and z != y and noted.near[0, z] >= 0.0:
                near, far = noted.near[:, z], t - 1 - times[e]
                out[_AT.neighbour_rate_30] += np.exp(-far / TAU[MONTH]) * near[0] / (1.0 + near[0])
                out[_AT.neighbour_rate_120] += np.exp(-far / TAU[SEASON]) * near[1] / (1.0 + near[1])
    if y == x:  # has its own events in its list, which its rates leave out
        for rate in range(_RATES):
            out[_AT.active_rate_2 + rate] = max(out[_AT.subject_rate_2 + rate] - out[_AT.pair_rate_2 + rate], 0.0)
        return
    begin, times = events.by_entity[y], events.by_entity_time
    place = lower_bound(times, begin, events.by_entity[y + 1], t)
    for rate in range(_RATES):
        between = out[_AT.pair_rate_2 + rate] + hidden[rate]
        found = faded(events.by_entity_fading, rate, times, begin, place, t) - between
        out[_AT.active_rate_2 + rate] = max(found, 0.0)
    for e in range(lower_bound(times, begin, place, t - PATH_WINDOW), place):
        z = events.by_entity_other[e]
        if z != x and z != y and noted.near[0, z] >= 0.0:
            near = noted.near[0, z]
            out[_AT.path_rate] += np.exp((times[e] + 1 - t) / ON_A_PATH) * near / (1.0 + near)


@compiled
def _has_had(events, k, p, t):
    """Return whether the subject has an event of the predicate with its partner k before t, the question's own too."""
    if k < 0:
        return False
    g = find(events.group_predicate, events.pair[k], events.pair[k + 1], p)
    return g >= 0 and events.time[events.group[g]] < t


@compiled
def _named(names, x, y, noted, out):
    """Fill the features of the candidate's name."""
    out[_AT.name_shared] = _overlap(names, x, y)
    for i in range(names.of[y], names.of[y + 1]):
        out[_AT.name_rate] += np.log1p(noted.words[names.word[i]])
        out[_AT.name_alike_rate] += np.log1p(noted.alike[names.word[i]])


@compiled
def _ranked(noted, objects, met, y, t, latest, out):
    """Fill how many others the subject has had since, and more often."""
    last, often = -1, 0.0
    for i in range(objects):
        if noted.objects[i] == y:
            last, often = noted.last[i], noted.often[i]
    for i in range(objects):
        out[_AT.same_newer] += noted.last[i] > last
        out[_AT.same_oftener] += noted.often[i] > often
    for i in range(met):
        out[_AT.pair_newer] += noted.met[i] > latest


@compiled
def _parts(out):
    """Fill the parts that the candidate has of what the subject and the predicate do."""
    for rate in range(_RATES):
        same, pair = out[_AT.same_rate_2 + rate], out[_AT.pair_rate_2 + rate]
        out[_AT.same_part_2 + rate] = same / (out[_AT.subject_same_rate_2 + rate] + SMALLEST)
        out[_AT.pair_part_2 + rate] = pair / (out[_AT.subject_rate_2 + rate] + SMALLEST)
        out[_AT.object_part_2 + rate] = out[_AT.object_rate_2 + rate] / (out[_AT.predicate_rate_2 + rate] + SMALLEST)


@in_runs
def rates_all(events, rules, names, subject, predicate, time, first, objects, out, runs, run):
    """Fill the features of each candidate: question k has the candidates `objects[first[k]:first[k + 1]]`."""
    entities, words = len(events.node), len(names.rarity)
    noted = Subject(
        np.full((2, entities), -1.0),
        np.zeros(entities, dtype=np.int64),
        np.zeros(entities, dtype=np.int64),
        np.zeros(entities),
        np.zeros(entities, dtype=np.int64),
        np.zeros(words),
        np.zeros(words),
    )
    shared, hidden = np.zeros(len(_AT), dtype=np.float32), np.zeros(_RATES)
    confidence = np.zeros(2 * events.predicates, dtype=np.float32)
    for row in range(len(subject) * run // runs, len(subject) * (run + 1) // runs):
        x, p, t = subject[row], predicate[row], time[row]
        shared[:] = 0.0
        shared[_AT.same_pause] = shared[_AT.pair_since] = FAR
        had, met = _note_subject(events, x, p, t, noted, shared)
        _note_predicate(events, names, x, p, t, noted, shared, 1)
        confidence[rules.pair_body[rules.pair[p] : rules.pair[p + 1]]] = rules.pair_confidence[
            rules.pair[p] : rules.pair[p + 1]
        ]
        for i in range(first[row], first[row + 1]):
            y, features, latest = objects[i], out[i], -1
            features[:] = shared
            hidden[:] = 0.0
            k = find(events.other, events.node[x], events.node[x + 1], y)
            if k >= 0:
                latest = _between(events, k, x, p, t, hidden, features)
                features[_AT.pair_rules] = rate_followed(events, k, x, p, t, confidence)
            _with_others(events, k, x, p, y, t, noted, hidden, features)
            _ranked(noted, had, met, y, t, latest, features)
            _named(names, x, y, noted, features)
            _parts(features)
        _note_predicate(events, names, x, p, t, noted, shared, -1)
        confidence[:] = 0.0
        for k in range(events.node[x], events.node[x + 1]):
            noted.near[:, events.other[k]] = -1.0
