"""The largest gap to the last event: as of when a question is looked at that lies far behind it.

How old an event is, and how far sums of events have faded, are features whose weights are learned close behind the last
events. Asked weeks later, everything may look as if it had ended, only because nothing is known any more. What is known
can then be taken as of a time that is not so far behind the last event.
"""

from __future__ import annotations

import numpy as np

from foretime.data.facts import Facts, Ids


def largest_gap(training: Facts) -> int:
    """Return the largest gap from one step with events to the next, in the newer half of the training facts.

    The older half may be of a time of which hardly anything is known.
    """
    first = training.known_ends()[0]
    if len(first) == 0:
        return 1
    steps = np.unique(first)
    newer = steps[steps >= np.sort(first)[(len(first) - 1) // 2]]
    return int(np.diff(newer).max(initial=1))


def looked_at_from(asked: Ids, eventful: Ids, max_gap: int) -> Ids:
    """Return the step as of which questions at steps are looked at: `max_gap` steps after the last event, or their own.

    `eventful` are the steps with events, sorted. Only those before a question are looked at, so that nothing of its
    own time or later decides; with none there it stays where it is. What was moved once is not moved again.
    """
    place = np.searchsorted(eventful, asked)
    if len(eventful) == 0:
        return asked
    last = eventful[np.maximum(place - 1, 0)]
    return np.where(place > 0, np.minimum(asked, last + max_gap), asked)
