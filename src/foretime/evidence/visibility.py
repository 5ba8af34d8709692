"""A fact is never its own evidence: the one definition, for single events in compiled loops and for whole columns.

A question `(x, p, ?, t)` must not see the facts that answer it, whoever the answer is. Between x and another entity
these are the events of p with an end at t, and those of its inverse where x meets itself; asking at one end of an
interval hides both. What a candidate does with others is looked at without any event of x. With `past_only` nothing is
seen that is not before t.
"""

from __future__ import annotations

from typing import Any


def is_watched(q: Any, p: Any, mirror: Any, loop: Any) -> Any:
    """Return whether events q(x, y) may be of facts asked about; `mirror` is the inverse of p, `loop` whether x = y."""
    return (q == p) | (loop & (q == mirror))


def is_hidden(watched: Any, time: Any, twin: Any, t: Any, past_only: Any) -> Any:
    """Return whether a question at t may not see an event: its own, or one that is still to come.

    `twin` is the other end of the event's fact.
    """
    return (watched & ((time == t) | (twin == t))) | (past_only & (time >= t))


def is_own_span(watched: Any, fact_start: Any, fact_end: Any, start: Any, end: Any) -> Any:
    """Return whether a fact is one that is asked about, with the same interval."""
    return watched & (fact_start == start) & (fact_end == end)
