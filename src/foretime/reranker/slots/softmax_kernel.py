"""The descent of the softmax over predicates, one question after the other, compiled by numba."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath=True)
def descend(first, row, groups, answers, order, weights, squares, rate):
    """Take one step of Adagrad for each question in `order`; `squares` are the sums of its squared gradients.

    Question k has the rows `row[first[groups * k]:first[groups * (k + 1)]]` of the weights, (rows, predicates).
    """
    scores = np.empty(weights.shape[1], dtype=np.float32)
    for k in order:
        begin, end = first[groups * k], first[groups * (k + 1)]
        scores[:] = 0.0
        for i in range(begin, end):
            scores += weights[row[i]]
        scores -= scores.max()
        np.exp(scores, scores)
        scores /= scores.sum()
        scores[answers[k]] -= np.float32(1.0)
        for i in range(begin, end):
            own, sums = weights[row[i]], squares[row[i]]
            for p in range(len(scores)):
                sums[p] += scores[p] * scores[p]
                own[p] -= rate * scores[p] / np.sqrt(sums[p])
