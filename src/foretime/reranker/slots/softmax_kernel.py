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


@njit(cache=True, nogil=True, fastmath=True)
def descend_steps(first, row, predicate, right, sizes, order, weights, squares, rate):
    """Take one step of Adagrad for each question in `order`, over a softmax of its candidate steps.

    Step i has the rows `row[first[i]:first[i + 1]]`; question k has the steps from `sizes[k]` to `sizes[k + 1]`, of
    which `right` is true. A row has a weight for each predicate and one for all: weights are (predicates + 1, rows).
    """
    shared, shared_squares = weights[len(weights) - 1], squares[len(weights) - 1]
    for k in order:
        begin, end = sizes[k], sizes[k + 1]
        own, own_squares = weights[predicate[k]], squares[predicate[k]]
        scores = np.zeros(end - begin, dtype=np.float32)
        for i in range(begin, end):
            for e in range(first[i], first[i + 1]):
                scores[i - begin] += own[row[e]] + shared[row[e]]
        scores = np.exp(scores - scores.max())
        scores /= scores.sum()
        for i in range(begin, end):
            gradient = scores[i - begin] - right[i]
            for e in range(first[i], first[i + 1]):
                q = row[e]
                own_squares[q] += gradient * gradient
                own[q] -= rate * gradient / np.sqrt(own_squares[q])
                shared_squares[q] += gradient * gradient
                shared[q] -= rate * gradient / np.sqrt(shared_squares[q])
