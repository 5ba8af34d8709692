"""Features of a candidate by facts without a time: what `evidence.background_walk` finds, and co-neighbours.

Who stands in the same relation to the same neighbour as the subject is its *co-neighbour*. A path to what a
co-neighbour has under the predicate counts here if a fact without a time is in it; paths over dated facts alone have
features of their own.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Final

import numpy as np

from foretime.evidence.background_walk import forget, make_found, search, size_without
from foretime.evidence.lookups import compiled, find, is_hidden
from foretime.evidence.threads import in_runs
from foretime.reranker.features.words import BACKGROUND_FEATURES

_AT = namedtuple("_At", BACKGROUND_FEATURES)(*range(len(BACKGROUND_FEATURES)))
"""The place of each feature."""
HUB: Final = 400
"""An entity with more partners than this is no shared neighbour and no co-neighbour: too many have it in common."""
STEPS: Final = 2_000_000
"""Facts that are looked at for the co-neighbours of one question at most."""


@compiled
def _is_seen(events, g, watched, past_only, t):
    """Return whether any event of a group may be seen by the question."""
    if not watched:
        return not past_only or events.time[events.group[g]] < t
    for e in range(events.group[g], events.group[g + 1]):
        if not is_hidden(True, events.time[e], events.twin[e], t, past_only):
            return True
    return False


@compiled
def _add_objects(lists, events, z, x, neighbour, p, t, past_only, timeless, weight, same, sums, met, count, left):
    """Add what a co-neighbour has under p; `timeless` is whether the path to it has a fact without a time already."""
    for i in range(lists.node[z], lists.node[z + 1]):
        left -= 1
        y = lists.other[i]
        if lists.predicate[i] != p or y == x or y == neighbour:
            continue
        if sums[y, 0] == 0.0:
            met[count] = y
            count += 1
        sums[y, 0] += weight
        sums[y, 1] += weight * same
    if not timeless:
        return count, left
    for k in range(events.node[z], events.node[z + 1]):
        left -= 1
        y = events.other[k]
        if y == x or y == neighbour:
            continue
        g = find(events.group_predicate, events.pair[k], events.pair[k + 1], p)
        if g < 0 or not _is_seen(events, g, False, past_only, t):
            continue
        if sums[y, 0] == 0.0:
            met[count] = y
            count += 1
        sums[y, 0] += weight
        sums[y, 1] += weight * same
    return count, left


@compiled
def _gather_from(lists, events, neighbour, relation, x, p, t, past_only, timeless, sums, met, count, left):
    """Add what all co-neighbours have who stand in the same relation to a neighbour of the subject."""
    size = size_without(lists, events, neighbour, x, past_only, t)
    if size == 0 or size > HUB:
        return count, left
    back, same = (relation + lists.predicates) % (2 * lists.predicates), relation == p
    for i in range(lists.node[neighbour], lists.node[neighbour + 1]):
        z = lists.other[i]
        if lists.predicate[i] != back or z == x or left <= 0:
            continue
        other = size_without(lists, events, z, x, past_only, t)
        if other <= HUB:
            weight = 1.0 / np.sqrt(float(size) * max(other, 1))
            count, left = _add_objects(
                lists, events, z, x, neighbour, p, t, past_only, True, weight, same, sums, met, count, left
            )
    for k in range(events.node[neighbour], events.node[neighbour + 1]):
        z = events.other[k]
        g = find(events.group_predicate, events.pair[k], events.pair[k + 1], back)
        if g < 0 or z == x or left <= 0 or not _is_seen(events, g, False, past_only, t):
            continue
        other = size_without(lists, events, z, x, past_only, t)
        if other <= HUB:
            weight = 1.0 / np.sqrt(float(size) * max(other, 1))
            count, left = _add_objects(
                lists, events, z, x, neighbour, p, t, past_only, timeless, weight, same, sums, met, count, left
            )
    return count, left


@compiled
def _gather(lists, events, x, p, t, past_only, sums, met):
    """Add up what co-neighbours of x have under p, (entities, 2): by any relation, by p; return how many are met."""
    count, left = 0, STEPS
    for e in range(lists.node[x], lists.node[x + 1]):
        neighbour, relation = lists.other[e], lists.predicate[e]
        if neighbour != x:
            count, left = _gather_from(
                lists, events, neighbour, relation, x, p, t, past_only, True, sums, met, count, left
            )
    for k in range(events.node[x], events.node[x + 1]):
        neighbour = events.other[k]
        if neighbour == x:
            continue
        for g in range(events.pair[k], events.pair[k + 1]):
            relation = events.group_predicate[g]
            if _is_seen(events, g, relation == p, past_only, t):
                count, left = _gather_from(
                    lists, events, neighbour, relation, x, p, t, past_only, False, sums, met, count, left
                )
    return count


@compiled
def _facts_of(lists, x, p):
    """Return how many facts without a time an entity has under a predicate."""
    count = 0
    for e in range(lists.node[x], lists.node[x + 1]):
        count += lists.predicate[e] == p
    return count


@in_runs
def background_all(lists, events, rules, reach, subject, predicate, time, first, objects, out, runs, run):
    """Fill the features of each candidate, all 0 before: question k has `objects[first[k]:first[k + 1]]`."""
    entities = len(lists.node) - 1
    found, sums = make_found(entities), np.zeros((entities, 2))
    met = np.empty(entities, dtype=np.int64)
    for row in range(len(subject) * run // runs, len(subject) * (run + 1) // runs):
        x, p, t = subject[row], predicate[row], time[row]
        count = search(lists, events, rules, reach, x, p, t, found)
        gathered = _gather(lists, events, x, p, t, reach.past_only, sums, met)
        own = _facts_of(lists, x, p)
        for i in range(first[row], first[row + 1]):
            y, features = objects[i], out[i]
            features[_AT.background_same], features[_AT.background_inverse] = found.same[y], found.inverse[y]
            features[_AT.background_facts], features[_AT.background_object_facts] = found.facts[y], found.others[y]
            features[_AT.background_partners] = lists.partners[y]
            features[_AT.background_common], features[_AT.background_affinity] = found.common[y], found.affinity[y]
            features[_AT.background_paths] = found.paths[y]
            features[_AT.background_shared], features[_AT.background_shared_same] = sums[y, 0], sums[y, 1]
            features[_AT.background_subject_facts] = own
        forget(found, count)
        for i in range(gathered):
            sums[met[i]] = 0.0
