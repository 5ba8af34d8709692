"""Counting static rules: loops over sorted arrays, compiled by numba.

`pair` is where the predicates of each ordered pair begin, `node` where the pairs of each entity begin, as in
`EventIndex`. A body of two atoms is the number q1 · (2·predicates) + q2; the counts of a body's heads lie side by
side, because they are raised together.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from foretime.kernels import UNCOUNTED


@njit(cache=True, **UNCOUNTED)
def invert(predicate, predicates):
    """Return the inverse of a predicate id."""
    return predicate + predicates if predicate < predicates else predicate - predicates


@njit(cache=True, **UNCOUNTED)
def first_at(values, begin, end, wanted):
    """Return the first position in the sorted run `begin … end` whose value is not below the wanted one."""
    while begin < end:
        middle = (begin + end) >> 1
        if values[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(cache=True, **UNCOUNTED)
def find_sorted(values, begin, end, wanted):
    """Return the position of a value in the sorted run `begin … end` of the values, −1 if it is not there."""
    place = first_at(values, begin, end, wanted)
    return place if place < end and values[place] == wanted else -1


@njit(cache=True, **UNCOUNTED)
def find_pair(node, other, x, y):
    """Return the position of the pair (x, y), −1 if there is none."""
    return find_sorted(other, node[x], node[x + 1], y)


@njit(cache=True)
def count_singles(pair, predicate, predicates):
    """Return how many pairs have head and body predicate, (predicates, 2·predicates); no head is an inverse."""
    support = np.zeros((predicates, 2 * predicates), np.int64)
    for k in range(len(pair) - 1):
        for i in range(pair[k], pair[k + 1]):
            if predicate[i] < predicates:
                for j in range(pair[k], pair[k + 1]):
                    support[predicate[i], predicate[j]] += 1
    return support


@njit(cache=True, parallel=True)
def count_conjunctions(pair, predicate, predicates, first_head, last_head, threads):
    """Return how many pairs have both body predicates and the head: (threads, bodies, heads), bodies with q1 < q2."""
    width = 2 * predicates
    support = np.zeros((threads, width * width, last_head - first_head), np.int32)
    for thread in prange(threads):
        for k in range(thread, len(pair) - 1, threads):
            begin, end = pair[k], pair[k + 1]
            if end - begin < 3:
                continue
            for i in range(begin, end):
                for j in range(i + 1, end):
                    body = predicate[i] * width + predicate[j]
                    for h in range(begin, end):
                        head = predicate[h]
                        if first_head <= head < last_head and h != i and h != j:
                            support[thread, body, head - first_head] += 1
    return support


@njit(cache=True, parallel=True)
def count_paths(node, other, pair, predicate, predicates, first_head, last_head, threads):
    """Return how many pairs are joined by a path and have the head: (threads, bodies, heads).

    For each pair, the neighbours that both ends share are found by walking both sorted lists at once; each body counts
    once for a pair, however many ways there are.
    """
    width = 2 * predicates
    support = np.zeros((threads, width * width, last_head - first_head), np.int32)
    for thread in prange(threads):
        seen = np.full(width * width, -1, np.int64)
        heads = np.empty(width, np.int32)
        for x in range(thread, len(node) - 1, threads):
            for k in range(node[x], node[x + 1]):
                count = 0
                for i in range(pair[k], pair[k + 1]):
                    if first_head <= predicate[i] < last_head:
                        heads[count] = predicate[i] - first_head
                        count += 1
                if count == 0:
                    continue
                y = other[k]
                a, b = node[x], node[y]
                while a < node[x + 1] and b < node[y + 1]:
                    if other[a] < other[b]:
                        a += 1
                    elif other[a] > other[b]:
                        b += 1
                    else:
                        for i in range(pair[a], pair[a + 1]):
                            for j in range(pair[b], pair[b + 1]):
                                body = predicate[i] * width + invert(predicate[j], predicates)
                                if seen[body] != k:
                                    seen[body] = k
                                    for h in range(count):
                                        support[thread, body, heads[h]] += 1
                        a += 1
                        b += 1
    return support


@njit(cache=True)
def count_conjunction_bodies(node, other, pair, predicate, predicates, group, rule_head, subject_has, by_subject):
    """Return the pairs of each body, (bodies,), and of each rule those whose head is known with anyone, (rules,).

    The rules of a body are `group[body] … group[body+1]`; `by_subject` says on which side of the pair the head must be
    known, and `subject_has` which predicates (inverses too) each entity is a subject of.
    """
    width = 2 * predicates
    bodies = np.zeros(width * width, np.int64)
    partial = np.zeros(len(rule_head), np.int64)
    for x in range(len(node) - 1):
        for k in range(node[x], node[x + 1]):
            for i in range(pair[k], pair[k + 1]):
                for j in range(i + 1, pair[k + 1]):
                    body = predicate[i] * width + predicate[j]
                    bodies[body] += 1
                    for r in range(group[body], group[body + 1]):
                        head = rule_head[r]
                        if by_subject[r]:
                            known = subject_has[x, head]
                        else:
                            known = subject_has[other[k], invert(head, predicates)]
                        partial[r] += known
    return bodies, partial


@njit(cache=True, parallel=True)
def count_path_bodies(
    edge, edge_other, entities, predicates, wanted, group, rule_head, rule_place, subject_has, threads, rules
):
    """Return the pairs joined by each wanted path, (threads, bodies), and those whose head is known, (threads, rules).

    `edge[x · width + q] …` are the objects of (x, q). For each subject and first predicate the objects of each second
    predicate are marked once; entries of `group` are the rules whose subject must be known to have the head
    `rule_head`, and `rule_place` says which rule that is.
    """
    width = 2 * predicates
    bodies = np.zeros((threads, width * width), np.int64)
    partial = np.zeros((threads, rules), np.int64)
    for thread in prange(threads):
        seen = np.full(entities, -1, np.int64)
        stamp = 0
        for x in range(thread, entities, threads):
            for first in range(width):
                begin, end = edge[x * width + first], edge[x * width + first + 1]
                if begin == end:
                    continue
                for second in range(width):
                    body = first * width + second
                    if not wanted[body]:
                        continue
                    count = 0
                    if end - begin == 1:
                        z = edge_other[begin]
                        count = edge[z * width + second + 1] - edge[z * width + second]
                    else:
                        stamp += 1
                        for i in range(begin, end):
                            z = edge_other[i]
                            for j in range(edge[z * width + second], edge[z * width + second + 1]):
                                y = edge_other[j]
                                if seen[y] != stamp:
                                    seen[y] = stamp
                                    count += 1
                    if count:
                        bodies[thread, body] += count
                        for r in range(group[body], group[body + 1]):
                            if subject_has[x, rule_head[r]]:
                                partial[thread, rule_place[r]] += count
    return bodies, partial
