"""How often one predicate follows another between the same two, compiled by numba."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_followers(events, window):
    """Return how many events of each predicate came within a window after those of each other, and how many there are.

    The first is (predicates, predicates), head by body, inverses included; the second (predicates,).
    """
    every = 2 * events.predicates
    followers, bodies = np.zeros((every, every)), np.zeros(every)
    groups, group, times = events.group_predicate, events.group, events.time
    for k in range(len(events.pair) - 1):
        for body in range(events.pair[k], events.pair[k + 1]):
            bodies[groups[body]] += group[body + 1] - group[body]
            for head in range(events.pair[k], events.pair[k + 1]):
                low, high = group[head], group[head]
                for e in range(group[body], group[body + 1]):
                    while low < group[head + 1] and times[low] <= times[e]:
                        low += 1
                    while high < group[head + 1] and times[high] <= times[e] + window:
                        high += 1
                    followers[groups[head], groups[body]] += high - low
    return followers, bodies
