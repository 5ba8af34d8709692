"""Fading counts of events by key, as they stand just before any step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Ids
from foretime.evidence.rates import TAU, fading_sums

Floats = NDArray[np.float64]


class Counted(NamedTuple):
    """What was counted of some keys: the fading sums, (rates, keys), how many events, and the step of the last one."""

    rates: Floats
    events: Ids
    last: Ids
    """−1 without any."""


class FadingCounts:
    """Events by key. What is asked as of a step sees only events before it, whatever comes later."""

    def __init__(self, keys: Ids, times: Ids) -> None:
        order = np.lexsort((times, keys))
        self.keys, first, place = np.unique(keys[order], return_index=True, return_inverse=True)
        self._first = np.append(first, len(keys)).astype(np.int64)
        self._times = times[order].astype(np.int64)
        self._sums = fading_sums(self._times, self._first)  # (events, rates)
        self._span = int(times.max(initial=0)) + 2
        self._when = place * self._span + self._times  # sorted

    def at(self, keys: Ids, start: int) -> Counted:
        """Return what was counted of each key before a step."""
        if len(self.keys) == 0:
            nothing = np.zeros(len(keys), dtype=np.int64)
            return Counted(np.zeros((len(TAU), len(keys))), nothing, nothing - 1)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        until = np.searchsorted(self._when, place * self._span + min(start, self._span - 1))
        count = np.where(self.keys[place] == keys, until - self._first[place], 0)
        last = np.where(count > 0, self._times[until - 1], -1)
        faded = self._sums[until - 1].T * np.exp((last + 1 - start) / TAU[:, None])
        return Counted(np.where(count > 0, faded, 0.0), count, last)

    def before(self, start: int) -> Ids:
        """Return the keys that have an event before a step."""
        return np.asarray(self.keys[self._times[self._first[:-1]] < start])
