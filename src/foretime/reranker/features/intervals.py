"""How the facts around a candidate lie to the interval asked about: features of the re-ranker for graphs of intervals.

A player whose contracts end where the one asked about begins, and begin again where it ends, fits into the gap; one who
is elsewhere all the while does not. And who has had the same partners as the subject tends to have the next one too: a
*co-neighbour* of the subject stands in the same relation to the same neighbour.

A fact is never its own evidence: facts of the subject do not count for a candidate, and the subject's own facts under
the predicate and with the interval asked about lead to no co-neighbour. With `past_only`, ends at or after the first
one asked about are not known, and facts that have no other end are not there.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, Facts, Ids, concatenate
from foretime.evidence.events import Ints, Offsets, offsets_of
from foretime.evidence.lookups import compiled, is_own_span, lower_bound
from foretime.evidence.merging import places_among
from foretime.evidence.threads import in_runs
from foretime.reranker.features.words import FAR, INTERVAL_FEATURES

_ACTIVE: Final = INTERVAL_FEATURES.index("active_gap_before")
_SHARED: Final = INTERVAL_FEATURES.index("shared_neighbours")
_LENGTH: Final = INTERVAL_FEATURES.index("span_length")
_SUMS: Final = _LENGTH - _SHARED
STEPS: Final = 10_000_000
"""Facts that are looked at for the co-neighbours of one question at most: about a tenth of a second."""
HUB: Final = 400
"""An entity with more facts than this is no shared neighbour and no co-neighbour: too many have it in common."""
NEVER: Final = np.iinfo(np.int32).max


class SpanIndex(NamedTuple):
    """Facts with their inverses by object: y has the facts `of[y] … of[y + 1]`, each `(other, predicate, y)`.

    `known` are the first known ends of the same facts, sorted within each object: how many facts it had at a step.
    """

    predicates: int
    of: Offsets
    other: Ints
    predicate: Ints
    start: Ints
    end: Ints
    known: Ints


class SortedSpans:
    """Facts with their inverses, sorted once: an index without some facts, or with more, follows without sorting."""

    def __init__(self, facts: Facts, entities: int, predicates: int) -> None:
        """Sort the facts; `predicates` counts them without inverses."""
        self._sizes, self._facts = (entities, predicates), facts.with_inverses(predicates)
        self._fact = np.tile(np.arange(len(facts)), 2)
        self._order = np.lexsort(_keys(self._facts)[::-1])

    def index(self, kept: NDArray[np.bool_] | None = None) -> SpanIndex:
        """Return the index of the facts, or of those that are `kept`, (facts,)."""
        order = self._order if kept is None else self._order[kept[self._fact[self._order]]]
        rows, (entities, predicates) = self._facts.take(order), self._sizes
        first = np.minimum(*rows.known_ends())
        return SpanIndex(
            predicates=predicates,
            of=offsets_of(rows.object, entities),
            other=rows.subject.astype(np.int32),
            predicate=rows.predicate.astype(np.int32),
            start=rows.start.astype(np.int32),
            end=rows.end.astype(np.int32),
            known=first[np.lexsort([first, rows.object])].astype(np.int32),
        )

    def grown(self, facts: Facts, entities: int, predicates: int) -> SortedSpans:
        """Return the facts with more of them merged in; the sizes are the new ones, none smaller than before."""
        old, shift = self._facts, predicates - self._sizes[1]
        if shift:  # inverses are numbered after all predicates; their order stays
            moved = np.where(old.predicate >= self._sizes[1], old.predicate + shift, old.predicate)
            old = replace(old, predicate=moved)
        new, other = facts.with_inverses(predicates), copy(self)
        order, nothing = np.lexsort(_keys(new)[::-1]), np.zeros(len(old) + len(new), dtype=np.int64)
        places = places_among(_keys(old), nothing, self._order, _keys(new), nothing, order)
        other._sizes, other._facts = (entities, predicates), concatenate([old, new])
        other._fact = np.append(self._fact, len(old) // 2 + np.tile(np.arange(len(facts)), 2))
        other._order = np.insert(self._order, places, len(old) + order)
        return other


def _keys(facts: Facts) -> tuple[Ids, ...]:
    """Return the columns that facts are sorted by: equal in all, two facts are the same."""
    return facts.object, facts.predicate, facts.subject, facts.start, facts.end


def span_index(facts: Facts, entities: int, predicates: int) -> SpanIndex:
    """Return the index of the facts; `predicates` counts them without inverses."""
    return SortedSpans(facts, entities, predicates).index()


@compiled
def _limits(start, end):
    """Return the first and the last known end of an interval, twice the same if the other is not known."""
    last = max(start, end)
    first = min(start, end)
    return (last if first == UNKNOWN else first), last


@compiled
def _seen(index, i, until):
    """Return start and end of a fact as far as they are known before a step, and the first and the last of them."""
    start = index.start[i] if index.start[i] < until else UNKNOWN
    end = index.end[i] if index.end[i] < until else UNKNOWN
    first, last = _limits(start, end)
    return start, end, first, last


@compiled
def _apart(first, last, other_first, other_last):
    """Return how many steps lie between two intervals: 0 if they have one step in common, below 0 if more."""
    return max(first, other_first) - min(last, other_last)


@compiled
def _facts_before(index, y, until):
    """Return how many facts of an entity are known before a step."""
    begin, end = index.of[y], index.of[y + 1]
    return (end if until == NEVER else lower_bound(index.known, begin, end, until)) - begin


@compiled
def _around(index, x, p, start, end, y, until, out):
    """Fill the features of the candidate's facts with others than x, under p and at all; x itself has none."""
    first, last = _limits(start, end)
    for at in (0, _ACTIVE):
        out[at] = out[at + 1] = out[at + 11] = out[at + 12] = FAR
    for i in range(index.of[y], index.of[y + 1]):
        if index.other[i] == x or y == x:
            continue
        its_start, its_end, its_first, its_last = _seen(index, i, until)
        if its_last == UNKNOWN:
            continue
        apart = _apart(first, last, its_first, its_last)
        for at in (0, _ACTIVE):
            if at == 0 and index.predicate[i] != p:
                continue
            if its_end != UNKNOWN and its_end <= first:
                out[at] = min(out[at], first - its_end)
            if its_start >= last:
                out[at + 1] = min(out[at + 1], its_start - last)
            out[at + 2] += apart < 0
            out[at + 3] += its_first <= first and its_last >= last
            out[at + 4] += its_first >= first and its_last <= last
            out[at + 5] += its_start == start and its_end == end
            out[at + 6] += its_start == start and start != UNKNOWN
            out[at + 7] += its_end == end and end != UNKNOWN
            out[at + 8] += its_start == end and end != UNKNOWN
            out[at + 9] += its_end == start and start != UNKNOWN
            if apart <= 0:
                both = max(last, its_last) - min(first, its_first) + 1
                out[at + 10] = max(out[at + 10], (1 - apart) / both)
            out[at + 11] = min(out[at + 11], its_first - first)
            out[at + 12] = min(out[at + 12], last - its_last)


@compiled
def _gather(index, x, p, start, end, until, facts_with_x, left, sums, touched, only, paths):
    """Add up what co-neighbours of x have under p, (entities, sums), and return how many entities have any.

    A path leads from x to a neighbour, from there to a co-neighbour, and on under p; it weighs the less the more facts
    both have. `facts_with_x` counts the facts of each entity with x. The search ends after `left` facts; those of x do
    not count, nor what is not seen, so the question's own facts make no difference. Also returned is how many paths
    lead to the entity `only`: as far as there is room, they are in `paths` as the places of three facts and the weight.
    """
    first, last = _limits(start, end)
    back, count, found = (p + index.predicates) % (2 * index.predicates), 0, 0
    for i in range(index.of[x], index.of[x + 1]):
        neighbour, relation = index.other[i], index.predicate[i]
        same = relation == back
        size = _facts_before(index, neighbour, until) - facts_with_x[neighbour]
        _, _, x_first, x_last = _seen(index, i, until)
        own = is_own_span(same, index.start[i], index.end[i], start, end)
        if neighbour == x or own or x_last == UNKNOWN or size > HUB:
            continue
        near = _apart(first, last, x_first, x_last) <= 1
        alike = (relation + index.predicates) % (2 * index.predicates)
        for j in range(index.of[neighbour], index.of[neighbour + 1]):
            z = index.other[j]
            if index.predicate[j] != alike or z == x:
                continue
            _, _, z_first, z_last = _seen(index, j, until)
            size_of_z = _facts_before(index, z, until) - facts_with_x[z]
            if z_last == UNKNOWN or size_of_z > HUB:
                continue
            if left <= 0:
                return count, found
            together = _apart(x_first, x_last, z_first, z_last) <= 0
            weight = 1.0 / np.sqrt(float(size) * size_of_z)
            for k in range(index.of[z], index.of[z + 1]):
                y = index.other[k]
                _, _, y_first, y_last = _seen(index, k, until)
                if y == x or y_last == UNKNOWN:
                    continue
                left -= 1
                if index.predicate[k] != back or y == neighbour:
                    continue
                if y == only:
                    if found < len(paths):
                        row = paths[found]
                        row[0], row[1], row[2], row[3] = i, j, k, weight
                    found += 1
                if sums[y, 0] == 0.0:
                    touched[count] = y
                    count += 1
                apart = _apart(first, last, y_first, y_last)
                sums[y, 0] += weight
                sums[y, 1] += weight * (apart <= 0)
                sums[y, 2] += weight * same
                sums[y, 3] += weight * (same and apart <= 0)
                sums[y, 4] += weight * (same and together and apart <= 0)
                sums[y, 5] += weight * (same and near and apart <= 1)
    return count, found


@compiled
def _count_with(index, x, until, facts_with_x):
    """Count the facts of each entity with x that are known before a step."""
    for i in range(index.of[x], index.of[x + 1]):
        facts_with_x[index.other[i]] += _seen(index, i, until)[3] != UNKNOWN


@in_runs
def span_all(index, past_only, steps, subject, predicate, start, end, first, objects, out, runs, run):
    """Fill the features of each candidate, all 0 before: question k has `objects[first[k]:first[k + 1]]`.

    After `steps` facts no more co-neighbours of a question are looked for.
    """
    entities = len(index.of) - 1
    facts_with_x = np.zeros(entities, dtype=np.int64)
    sums, paths = np.zeros((entities, _SUMS)), np.empty((0, 4))
    touched = np.empty(entities, dtype=np.int64)
    for row in range(len(subject) * run // runs, len(subject) * (run + 1) // runs):
        x, p, s, e = subject[row], predicate[row], start[row], end[row]
        until = _limits(s, e)[0] if past_only else NEVER
        _count_with(index, x, until, facts_with_x)
        count, _ = _gather(index, x, p, s, e, until, facts_with_x, steps, sums, touched, -1, paths)
        for i in range(first[row], first[row + 1]):
            y, features = objects[i], out[i]
            _around(index, x, p, s, e, y, until, features)
            features[_SHARED : _SHARED + _SUMS] = sums[y]
            features[_LENGTH] = UNKNOWN if min(s, e) == UNKNOWN else abs(e - s)
        for i in range(count):
            sums[touched[i]] = 0.0
        for i in range(index.of[x], index.of[x + 1]):
            facts_with_x[index.other[i]] = 0


@njit(cache=True, nogil=True)
def record_paths(index, past_only, x, p, y, start, end, paths):
    """Write the paths from x to y into `paths` as far as there is room; return how many there are."""
    entities = len(index.of) - 1
    facts_with_x, touched = np.zeros(entities, dtype=np.int64), np.empty(entities, dtype=np.int64)
    until = _limits(start, end)[0] if past_only else NEVER
    _count_with(index, x, until, facts_with_x)
    sums = np.zeros((entities, _SUMS))
    return _gather(index, x, p, start, end, until, facts_with_x, STEPS, sums, touched, y, paths)[1]
