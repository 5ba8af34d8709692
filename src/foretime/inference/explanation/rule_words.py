"""How often the rule behind a reason has come true, in words; or that such events count in general."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from foretime.evidence.buckets import offset_bounds
from foretime.inference.explanation.reasons import ReasonPart, ShownReason
from foretime.inference.explanation.vocabulary import FactIds, GraphWords

_USUALLY = 0.5
"""From which share on a rule is said to hold usually."""
_GENERAL = {
    "pair": "events between the two",
    "object": "such events with others",
    "active": "events with others",
}
Count = Callable[[int, int, int], tuple[int, int]]
"""Returns support and body count of a pair rule, from its head, its body and a distance."""


def with_counts(words: GraphWords, asked: FactIds, reason: ShownReason, count: Count) -> ShownReason:
    """Return a reason with its rule, if it is of a pair rule, counted at each distance, and what that says."""

    def counted(part: ReasonPart) -> ReasonPart:
        if part.group != "pair_offset":
            return part
        support, body_count = count(asked.predicate, int(reason.key[1]), int(part.value))
        return replace(part, support=support, body_count=body_count)

    parts = tuple(map(counted, reason.parts))
    dated = [part for part in parts if part.group.endswith("_offset")]
    if not dated:
        return replace(reason, parts=parts)
    strongest = max(dated, key=lambda part: abs(part.contribution))
    if strongest.body_count and strongest.is_of_rule:
        return replace(reason, parts=parts, counted=_came_true(words, asked, int(reason.key[1]), strongest))
    return replace(reason, parts=parts, rule=None, counted=_in_general(words, reason, strongest))


def _came_true(words: GraphWords, asked: FactIds, body: int, part: ReasonPart) -> str:
    """Return `"A" was followed by "B" 8–14 days later 12 of 64 times`."""
    usually = (part.confidence or 0.0) >= _USUALLY
    way = "" if words.is_inverse(body) == words.is_inverse(asked.predicate) else " the other way"
    distance, head = int(part.value), f"{words.quoted(asked.predicate)}{way}"
    verb, when = (
        ("came with", f"the same {words.unit}")
        if distance == 0
        else ("followed by", f"{_span(words, distance)} later")
        if distance < 0
        else ("preceded by", f"{_span(words, distance)} before")
    )
    if distance == 0:
        verb = "usually comes with" if usually else verb
    else:
        verb = f"is usually {verb}" if usually else f"was {verb}"
    times = f"came true {part.support:,} of {part.body_count:,} times"
    return f"{words.quoted(body)} {verb} {head} {when}: {times}"


def _in_general(words: GraphWords, reason: ShownReason, part: ReasonPart) -> str | None:
    """Return that a contribution is not the rule's own, but that of all such events."""
    if reason.family not in _GENERAL or part.contribution * reason.contribution <= 0:
        return None  # what the event adds here is not what such events add in the base score
    distance = int(part.value)
    when = f"the same {words.unit}" if distance == 0 else f"{_span(words, distance)} {_side(distance)}"
    verb = "support" if part.contribution >= 0 else "count against"
    return f"in general, {_GENERAL[reason.family]} {when} {verb} such an answer"


def _side(distance: int) -> str:
    return "before" if distance < 0 else "later"


def _span(words: GraphWords, distance: int) -> str:
    """Return the bucket of a distance: `a day`, `8–14 days`, `91 or more days`."""
    low, high = offset_bounds(distance)
    if low == high:
        return f"{low} {words.unit}{'' if low == 1 else 's'}"
    return f"{low} or more {words.unit}s" if high is None else f"{low}–{high} {words.unit}s"
