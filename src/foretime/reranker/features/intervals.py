"""How the facts around a candidate lie to the interval asked about: columns of the reranker for graphs of intervals.

A player whose contracts end where the one asked about begins, and begin again where it ends, fits into the gap; one who
is elsewhere all the while does not. And who has had the same partners as the subject tends to have the next one too:
the subject's *company* are those who stand in the same relation to the same third.

A fact is never its own evidence: facts of the subject do not count for a candidate, and the subject's own facts under
the predicate and with the very interval asked about lead to no company. With `past_only`, ends at or after the first
one asked about are not known, and facts that have no other end are not there.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit, prange

from foretime.data.facts import UNKNOWN, Facts
from foretime.evidence.index import Ints, Offsets
from foretime.evidence.lookups import lower_bound
from foretime.reranker.features.profile import FAR
from foretime.reranker.features.shared_neighbours import HUB, NEVER

_OF_FACTS: Final = (
    "gap_before", "gap_after", "overlapping", "covering", "within", "same_span", "same_start", "same_end",
    "following", "preceding", "likeness", "born_after", "gone_before",
)  # fmt: skip
COLUMNS: Final = (
    *(f"object_{name}" for name in _OF_FACTS),
    *(f"active_{name}" for name in _OF_FACTS),
    "company", "company_now", "company_same", "company_same_now", "company_same_together", "company_same_near",
    "span_length",
)  # fmt: skip
"""The columns, in order: of facts under the predicate asked about, of all facts, of the company, of the question."""
_ACTIVE: Final = len(_OF_FACTS)
_COMPANY: Final = 2 * len(_OF_FACTS)
_SUMS: Final = 6
_LENGTH: Final = _COMPANY + _SUMS
STEPS: Final = 10_000_000
"""Facts that are looked at for the company of one question at most: about a tenth of a second."""


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


def span_index(facts: Facts, entities: int, predicates: int) -> SpanIndex:
    """Return the index of the facts; `predicates` counts them without inverses."""
    both = facts.with_inverses(predicates)
    rows = both.take(np.lexsort([both.end, both.start, both.subject, both.predicate, both.object]))
    first = np.minimum(*rows.known_ends())
    return SpanIndex(
        predicates=predicates,
        of=np.searchsorted(rows.object, np.arange(entities + 1)).astype(np.int64),
        other=rows.subject.astype(np.int32),
        predicate=rows.predicate.astype(np.int32),
        start=rows.start.astype(np.int32),
        end=rows.end.astype(np.int32),
        known=first[np.lexsort([first, rows.object])].astype(np.int32),
    )


@njit(cache=True, nogil=True)
def _limits(start, end):
    """Return the first and the last known end of an interval, twice the same if the other is not known."""
    last = max(start, end)
    first = min(start, end)
    return (last if first == UNKNOWN else first), last


@njit(cache=True, nogil=True)
def _seen(index, i, until):
    """Return start and end of a fact as far as they are known before a step, and the first and the last of them."""
    start = index.start[i] if index.start[i] < until else UNKNOWN
    end = index.end[i] if index.end[i] < until else UNKNOWN
    first, last = _limits(start, end)
    return start, end, first, last


@njit(cache=True, nogil=True)
def _apart(first, last, other_first, other_last):
    """Return how many steps lie between two intervals: 0 if they have one step in common, below 0 if more."""
    return max(first, other_first) - min(last, other_last)


@njit(cache=True, nogil=True)
def _facts_before(index, y, until):
    """Return how many facts of an entity are known before a step."""
    begin, end = index.of[y], index.of[y + 1]
    return (end if until == NEVER else lower_bound(index.known, begin, end, until)) - begin


@njit(cache=True, nogil=True)
def _around(index, x, p, start, end, y, until, out):
    """Fill the columns of the candidate's facts with others than x, under p and at all; x itself has none."""
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


@njit(cache=True, nogil=True)
def _gather(index, x, p, start, end, until, facts_with_x, left, sums, touched):
    """Add up what the company of x has under p, (entities, sums), and return how many entities it has touched.

    A path leads from x to a third, from there to one who stands in the same relation to it, and on under p; it weighs
    the less the more facts both have. `facts_with_x` counts the facts of each entity with x. The search ends after
    `left` facts; those of x do not count, nor what is not seen, so the question's own facts make no difference.
    """
    first, last = _limits(start, end)
    back, count = (p + index.predicates) % (2 * index.predicates), 0
    for i in range(index.of[x], index.of[x + 1]):
        third, relation = index.other[i], index.predicate[i]
        own = relation == back and index.start[i] == start and index.end[i] == end
        of_third = _facts_before(index, third, until) - facts_with_x[third]
        _, _, x_first, x_last = _seen(index, i, until)
        if third == x or own or x_last == UNKNOWN or of_third > HUB:
            continue
        same, near = relation == back, _apart(first, last, x_first, x_last) <= 1
        alike = (relation + index.predicates) % (2 * index.predicates)
        for j in range(index.of[third], index.of[third + 1]):
            z = index.other[j]
            if index.predicate[j] != alike or z == x:
                continue
            _, _, z_first, z_last = _seen(index, j, until)
            of_z = _facts_before(index, z, until) - facts_with_x[z]
            if z_last == UNKNOWN or of_z > HUB:
                continue
            if left <= 0:
                return count
            together = _apart(x_first, x_last, z_first, z_last) <= 0
            weight = 1.0 / np.sqrt(float(of_third) * of_z)
            for k in range(index.of[z], index.of[z + 1]):
                y = index.other[k]
                _, _, y_first, y_last = _seen(index, k, until)
                if y == x or y_last == UNKNOWN:
                    continue
                left -= 1
                if index.predicate[k] != back or y == third:
                    continue
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
    return count


@njit(cache=True, nogil=True, parallel=True)
def span_all(index, past_only, steps, subject, predicate, start, end, first, objects, out, runs):
    """Fill the columns of each candidate, all 0 before: question k has `objects[first[k]:first[k + 1]]`.

    After `steps` facts no more company of a question is looked for.
    """
    entities = len(index.of) - 1
    for run in prange(runs):
        facts_with_x = np.zeros(entities, dtype=np.int64)
        sums = np.zeros((entities, _SUMS))
        touched = np.empty(entities, dtype=np.int64)
        for row in range(len(subject) * run // runs, len(subject) * (run + 1) // runs):
            x, p, s, e = subject[row], predicate[row], start[row], end[row]
            until = _limits(s, e)[0] if past_only else NEVER
            for i in range(index.of[x], index.of[x + 1]):
                facts_with_x[index.other[i]] += _seen(index, i, until)[3] != UNKNOWN
            count = _gather(index, x, p, s, e, until, facts_with_x, steps, sums, touched)
            for i in range(first[row], first[row + 1]):
                y, columns = objects[i], out[i]
                _around(index, x, p, s, e, y, until, columns)
                columns[_COMPANY : _COMPANY + _SUMS] = sums[y]
                columns[_LENGTH] = UNKNOWN if min(s, e) == UNKNOWN else abs(e - s)
            for i in range(count):
                sums[touched[i]] = 0.0
            for i in range(index.of[x], index.of[x + 1]):
                facts_with_x[index.other[i]] = 0
