"""The walk through the facts without a time: what a candidate shares with the subject by way of them.

A fact without a time is always known. Where a path leads over an event as well, the question sees it as every other
walk does: never its own facts, and with `past_only` nothing that is not before the time asked about.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foretime.evidence.background import HUB
from foretime.evidence.events import Ints
from foretime.evidence.families import BACKGROUND_FEATURES, BACKGROUND_GROUPS
from foretime.evidence.lookups import (
    affinity_bucket,
    compiled,
    count_bucket,
    find,
    has_met,
    is_hidden,
    lower_bound,
    making_arrays,
    partners_before,
)
from foretime.evidence.threads import in_runs

_PAIR, _OBJECT = BACKGROUND_GROUPS["background_pair"].first, BACKGROUND_GROUPS["background_object"].first
_AFFINITY, _PATH = BACKGROUND_GROUPS["background_affinity"].first, BACKGROUND_GROUPS["background_path"].first


class Found(NamedTuple):
    """What is found of each candidate, (entities,) each, all 0 where nothing is; `met` lists who has any.

    `facts` are those between it and the subject, `same` and `inverse` those of the predicate asked about and of its
    inverse; `others` have it under the predicate; `common` neighbours have an `affinity`; `paths` are of mined rules.
    """

    met: Ints
    is_met: NDArray[np.bool_]
    facts: Ints
    same: Ints
    inverse: Ints
    others: Ints
    common: Ints
    affinity: NDArray[np.float32]
    paths: Ints


class BackgroundHits(NamedTuple):
    """Features of candidates, (hits,) each: a candidate, a feature, its rule or −1, and the value behind it."""

    candidate: Ints
    feature: Ints
    rule: Ints
    value: NDArray[np.float32]


@making_arrays
def make_found(entities):
    """Return working memory in which nothing is found yet."""
    return Found(
        met=np.empty(entities, dtype=np.int32),
        is_met=np.zeros(entities, dtype=np.bool_),
        facts=np.zeros(entities, dtype=np.int32),
        same=np.zeros(entities, dtype=np.int32),
        inverse=np.zeros(entities, dtype=np.int32),
        others=np.zeros(entities, dtype=np.int32),
        common=np.zeros(entities, dtype=np.int32),
        affinity=np.zeros(entities, dtype=np.float32),
        paths=np.zeros(entities, dtype=np.int32),
    )


@compiled
def forget(found, count):
    """Empty the working memory of a question that has met `count` candidates."""
    for i in range(count):
        y = found.met[i]
        found.is_met[y] = False
        found.facts[y] = found.same[y] = found.inverse[y] = found.others[y] = 0
        found.common[y] = found.paths[y] = 0
        found.affinity[y] = 0.0


@compiled
def _meet(found, y, count):
    """Note that a candidate has something; return how many have."""
    if found.is_met[y]:
        return count
    found.is_met[y] = True
    found.met[count] = y
    return count + 1


@compiled
def _have_met(events, z, y, past_only, t):
    """Return whether two entities have an event, before t if only the past counts."""
    m = find(events.other, events.node[z], events.node[z + 1], y)
    return m >= 0 and (not past_only or events.first_met[m] < t)


@compiled
def size_without(lists, events, z, x, past_only, t):
    """Return how many partners an entity has, in facts without a time and in events: x apart.

    Whether it has met x may be what is asked.
    """
    size = lists.partners[z] + partners_before(events.met, events.node[z], events.node[z + 1], past_only, t)
    size -= find(lists.other, lists.node[z], lists.node[z + 1], x) >= 0
    return size - _have_met(events, z, x, past_only, t)


@compiled
def _add_neighbour(lists, events, past_only, z, x, t, by_event, by_fact, found, count):
    """Add a neighbour of the subject to the common neighbours of its own partners; return how many are met.

    The affinity of events counts what events connect on both sides; here is all that it does not.
    """
    size = size_without(lists, events, z, x, past_only, t)
    if size == 0 or size > HUB:
        return count  # it has no other partner, or too many
    share = np.float32(1.0 / np.log(1.0 + size))
    for i in range(lists.node[z], lists.node[z + 1]):
        y = lists.other[i]
        if y == x or y == z or (i > lists.node[z] and lists.other[i - 1] == y):
            continue
        if by_event and _have_met(events, z, y, past_only, t):
            continue
        count = _meet(found, y, count)
        found.common[y] += 1
        found.affinity[y] += share
    if by_event or not by_fact:
        return count
    for m in range(events.node[z], events.node[z + 1]):
        y = events.other[m]
        if y == x or y == z or (past_only and events.first_met[m] >= t):
            continue
        if find(lists.other, lists.node[z], lists.node[z + 1], y) >= 0:
            continue
        count = _meet(found, y, count)
        found.common[y] += 1
        found.affinity[y] += share
    return count


@compiled
def _find_neighbours(lists, events, past_only, x, p, t, found, count):
    """Add up the common neighbours of the subject and each candidate that events alone do not connect."""
    for e in range(lists.node[x], lists.node[x + 1]):
        z = lists.other[e]
        if z == x or (e > lists.node[x] and lists.other[e - 1] == z):
            continue
        k = find(events.other, events.node[x], events.node[x + 1], z)
        by_event = k >= 0 and has_met(events, k, p, past_only, t)
        count = _add_neighbour(lists, events, past_only, z, x, t, by_event, True, found, count)
    for k in range(events.node[x], events.node[x + 1]):
        z = events.other[k]
        if z == x or lists.partners[z] == 0 or find(lists.other, lists.node[x], lists.node[x + 1], z) >= 0:
            continue
        if has_met(events, k, p, past_only, t):
            count = _add_neighbour(lists, events, past_only, z, x, t, True, False, found, count)
    return count


@compiled
def _follow(lists, body, low, high, first, z, x, found, count):
    """Count the paths that go on from z over a fact without a time; `first` is the predicate that has led there."""
    every = 2 * lists.predicates
    r = lower_bound(body, low, high, first * every)
    if r == high or body[r] // every != first:
        return count
    for i in range(lists.node[z], lists.node[z + 1]):
        y = lists.other[i]
        if y != x and y != z and find(body, low, high, first * every + lists.predicate[i]) >= 0:
            count = _meet(found, y, count)
            found.paths[y] += 1
    return count


@compiled
def _find_paths(lists, events, body, low, high, reach, x, p, t, found, count):
    """Count the paths of mined rules with a fact without a time in them; an event in them is near the time asked."""
    every, half = 2 * lists.predicates, lists.predicates
    times, others, predicates = events.by_entity_time, events.by_entity_other, events.by_entity_predicate
    mirror, until = (p + half) % every, t - 1 if reach.past_only else t + reach.path_window
    for e in range(lists.node[x], lists.node[x + 1]):
        z, first = lists.other[e], np.int64(lists.predicate[e])
        if z == x or size_without(lists, events, z, x, reach.past_only, t) > HUB:
            continue
        count = _follow(lists, body, low, high, first, z, x, found, count)
        begin, end = events.by_entity[z], events.by_entity[z + 1]
        for i in range(lower_bound(times, begin, end, t - reach.path_window), end):
            if times[i] > until:
                break
            y, second = others[i], (predicates[i] + half) % every
            if y != x and y != z and find(body, low, high, first * every + second) >= 0:
                count = _meet(found, y, count)
                found.paths[y] += 1
    begin, end = events.by_entity[x], events.by_entity[x + 1]
    for i in range(lower_bound(times, begin, end, t - reach.path_window), end):
        if times[i] > until:
            break
        z, first = others[i], np.int64((predicates[i] + half) % every)
        if z == x or is_hidden(predicates[i] == mirror, times[i], events.by_entity_twin[i], t, False):
            continue
        if size_without(lists, events, z, x, reach.past_only, t) <= HUB:
            count = _follow(lists, body, low, high, first, z, x, found, count)
    return count


@compiled
def search(lists, events, rules, reach, x, p, t, found):
    """Find what the facts without a time say of every candidate; return how many are met."""
    count, mirror = 0, (p + lists.predicates) % (2 * lists.predicates)
    for e in range(lists.node[x], lists.node[x + 1]):
        y, q = lists.other[e], lists.predicate[e]
        count = _meet(found, y, count)
        found.facts[y] += 1
        found.same[y] += q == p
        found.inverse[y] += q == mirror
    for j in range(lists.objects[p], lists.objects[p + 1]):
        y = lists.object[j]
        others = lists.object_count[j] - found.same[y]
        if y != x and others > 0:
            count = _meet(found, y, count)
            found.others[y] = others
    count = _find_neighbours(lists, events, reach.past_only, x, p, t, found, count)
    low, high = rules.path[p], rules.path[p + 1]
    if low < high:
        count = _find_paths(lists, events, rules.path_body, low, high, reach, x, p, t, found, count)
    return count


@making_arrays
def make_hits(lists):
    """Return room for the features of one question."""
    entities, most = len(lists.node) - 1, 0
    for x in range(entities):
        most = max(most, lists.node[x + 1] - lists.node[x])
    room = most + 3 * entities
    return BackgroundHits(
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.float32),
    )


@compiled
def _hit(hits, size, candidate, feature, rule, value):
    hits.candidate[size], hits.feature[size], hits.rule[size], hits.value[size] = candidate, feature, rule, value
    return size + 1


@compiled
def find_hits(lists, own_rules, events, rules, reach, x, p, t, found, hits):
    """Find the features of every candidate of a question; return how many there are."""
    count, size = search(lists, events, rules, reach, x, p, t, found), 0
    mirror = (p + lists.predicates) % (2 * lists.predicates)
    for e in range(lists.node[x], lists.node[x + 1]):
        q = lists.predicate[e]
        kind = 0 if q == p else 1 if q == mirror else 2
        rule = find(own_rules.body, own_rules.first[p], own_rules.first[p + 1], q)
        size = _hit(hits, size, lists.other[e], _PAIR + kind, rule, q)
    for i in range(count):
        y = found.met[i]
        if found.others[y] > 0:
            size = _hit(hits, size, y, _OBJECT + count_bucket(found.others[y]), -1, found.others[y])
        if found.common[y] > 0:
            size = _hit(hits, size, y, _AFFINITY + affinity_bucket(found.affinity[y]), -1, found.affinity[y])
        if found.paths[y] > 0:
            size = _hit(hits, size, y, _PATH + count_bucket(found.paths[y]), -1, found.paths[y])
    forget(found, count)
    return size


@compiled
def _places(first, p, every, feature, rule):
    """Return where the weights of a feature stand: that of all predicates, the predicate's own, the rule's or −1.

    `first` is where those of the family begin.
    """
    own = first + BACKGROUND_FEATURES * (1 + p) + feature
    return first + feature, own, first + BACKGROUND_FEATURES * (1 + every) + rule if rule >= 0 else -1


@compiled
def add_hits(hits, size, learn, table, first, every, p, scores):
    """Add the weights of features to the scores, (entities,), or `learn`: add their gradient to the weights."""
    for h in range(size):
        shared, own, rule = _places(first, p, every, hits.feature[h], hits.rule[h])
        y = hits.candidate[h]
        if learn:
            table[shared] += scores[y]
            table[own] += scores[y]
            if rule >= 0:
                table[rule] += scores[y]
        else:
            scores[y] += table[shared] + table[own] + (table[rule] if rule >= 0 else np.float32(0.0))


@in_runs
def walk_background(
    lists, own_rules, events, rules, reach, tables, first, scores, learn, subject, predicate, time, order, cuts, runs,
    run,
):  # fmt: skip
    """Add to the scores of all questions, (questions, entities), or `learn`: add their gradient to the tables.

    The weights of the family begin at `first` in a table. Questions come in runs as those of `walk_all` do.
    """
    found, hits, every = make_found(len(lists.node) - 1), make_hits(lists), 2 * lists.predicates
    table = tables[run % len(tables)]
    for place in range(cuts[run], cuts[run + 1]):
        i = order[place]
        p = predicate[i]
        size = find_hits(lists, own_rules, events, rules, reach, subject[i], p, time[i], found, hits)
        add_hits(hits, size, learn, table, first, every, p, scores[i])


@in_runs
def score_background(
    lists, own_rules, events, rules, reach, table, first, subject, predicate, objects, time, out, runs, run
):
    """Add the evidence of one candidate of each question to `out`, (questions,)."""
    found, hits, every = make_found(len(lists.node) - 1), make_hits(lists), 2 * lists.predicates
    before, size = -1, 0
    for i in range(len(subject) * run // runs, len(subject) * (run + 1) // runs):
        x, p, t = subject[i], predicate[i], time[i]
        if before < 0 or subject[before] != x or predicate[before] != p or time[before] != t:
            size = find_hits(lists, own_rules, events, rules, reach, x, p, t, found, hits)
        before = i  # candidates of one question mostly come one after the other
        for h in range(size):
            if hits.candidate[h] == objects[i]:
                shared, own, rule = _places(first, p, every, hits.feature[h], hits.rule[h])
                out[i] += table[shared] + table[own] + (table[rule] if rule >= 0 else np.float32(0.0))


@njit(cache=True, nogil=True)
def record_background(lists, own_rules, events, rules, reach, x, p, t, only):
    """Return the features of one candidate: (features, 3), feature, rule or −1, and value."""
    found, hits = make_found(len(lists.node) - 1), make_hits(lists)
    size, rows = find_hits(lists, own_rules, events, rules, reach, x, p, t, found, hits), 0
    recorded = np.empty((size, 3))
    for h in range(size):
        if hits.candidate[h] == only:
            recorded[rows, 0], recorded[rows, 1], recorded[rows, 2] = hits.feature[h], hits.rule[h], hits.value[h]
            rows += 1
    return recorded[:rows]
