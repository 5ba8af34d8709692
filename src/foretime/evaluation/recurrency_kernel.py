"""The recurrency baseline, compiled: one question after the other, sorted so that neighbours share their relation."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def score_all(
    keys, objects, times, first, relation_objects, relation_times, steps, subject, predicate, time, until, order,
    decay, mix, out,
):  # fmt: skip
    """Fill the scores of every entity for each question, (questions, entities); `order` sorts questions by relation."""
    relations = len(decay)
    relaxed = np.zeros(out.shape[1])
    total, last_predicate, last_until, last_time = 1.0, -1, -1, -1
    for q in order:
        p, t, end = predicate[q], time[q], until[q]
        if p != last_predicate or end != last_until:
            relaxed[:] = 0.0
            count = np.searchsorted(relation_times[first[p] : first[p + 1]], end)
            for e in range(first[p], first[p] + count):
                relaxed[relation_objects[e]] += 1.0 / count
        if p != last_predicate or end != last_until or t != last_time:
            total = 0.0
            for k in steps:
                if k < end:
                    total += 2.0 ** (decay[p] * (k - t))
        last_predicate, last_until, last_time = p, end, t
        out[q] = (1.0 - mix[p]) * relaxed
        key = subject[q] * relations + p
        for e in range(np.searchsorted(keys, key), len(keys)):
            if keys[e] != key or times[e] >= end:
                break
            out[q, objects[e]] += mix[p] * 2.0 ** (decay[p] * (times[e] - t)) / total
