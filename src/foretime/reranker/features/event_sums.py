"""The events between two entities summed up, compiled by numba: what the features of every slot are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from foretime.evidence.lookups import compiled, is_hidden
from foretime.reranker.features.words import FAR

WEEK: Final = 7
MONTH: Final = 30
RECENT: Final = 10.0
LASTING: Final = 60.0
"""Steps in which the weight of an event falls to 1/e, in the two sums over the events of a pair."""
NO_SUMS: Final = (FAR, FAR, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The sums of no events: before, after, now, within a week, within a month, how many, recent, lasting."""


def without_events(names: Sequence[str]) -> NDArray[np.float64]:
    """Return the features of one who does nothing."""
    return np.array([FAR if name.endswith(("_before", "_after", "_nearest")) else 0.0 for name in names])


@compiled
def add_events(events, g, watched, t, past_only, sums):
    """Return the sums with the events of a group of a pair added, those that a question at t may see."""
    before, after, now, week, month, count, recent, lasting = sums
    for e in range(events.group[g], events.group[g + 1]):
        if is_hidden(watched, events.time[e], events.twin[e], t, past_only):
            continue
        distance = events.time[e] - t
        far = abs(distance)
        count += 1
        if distance == 0:
            now += 1
        elif distance < 0:
            before = min(before, far)
        else:
            after = min(after, far)
        week += far <= WEEK
        month += far <= MONTH
        recent += np.exp(-far / RECENT)
        lasting += np.exp(-far / LASTING)
    return before, after, now, week, month, count, recent, lasting
