"""What a statement of Wikidata or RDF becomes: a fact by ids, or something left out for a reason."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from foretime.data.linked.dates import UNKNOWN, KnownTime
from foretime.data.times import parse_time

NO_TIME = ""
"""Start and end of a fact that has no time."""


class LinkedFact(NamedTuple):
    """One fact, its names still ids; `remarks` say what was done to its times."""

    subject: str
    predicate: str
    object: str
    start: str
    end: str
    remarks: tuple[str, ...] = ()


class LeftOut(NamedTuple):
    """A statement that becomes no fact: the kind of reason, which is counted, and the statement itself."""

    reason: str
    text: str


class EntityNote(NamedTuple):
    """What is known of one entity or predicate beside its facts."""

    entity: str
    label: str
    types: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


class HeldSpan(NamedTuple):
    """From when to when a statement holds, both empty if it has no time."""

    start: str
    end: str
    remarks: tuple[str, ...] = ()


class AmbiguousTimesError(ValueError):
    """Several starts and ends, and no way to tell which belong together."""


def spans_of(starts: Sequence[KnownTime], ends: Sequence[KnownTime], points: Sequence[KnownTime]) -> list[HeldSpan]:
    """Return when a statement holds, going by its starts and ends, and by its points in time only if it has neither.

    Several points are several spans. Several starts and ends are, where they alternate: a term of office, and a second
    one. A time of which nothing is known is no time, unless the other end is known.
    """
    if not starts and not ends:
        return [_span(point, point) for point in points] or [HeldSpan(NO_TIME, NO_TIME)]
    if len(starts) <= 1 and len(ends) <= 1:
        return [_span(*[*starts, KnownTime(UNKNOWN)][:1], *[*ends, KnownTime(UNKNOWN)][:1])]
    return [_span(start, end) for start, end in _alternating(starts, ends)]


def _span(start: KnownTime, end: KnownTime) -> HeldSpan:
    remarks = tuple(dict.fromkeys(time.remark for time in (start, end) if time.remark))
    if start.text == UNKNOWN and end.text == UNKNOWN:
        return HeldSpan(NO_TIME, NO_TIME, remarks)
    return HeldSpan(start.text, end.text, remarks)


def _alternating(starts: Sequence[KnownTime], ends: Sequence[KnownTime]) -> list[tuple[KnownTime, KnownTime]]:
    """Return each start with its end, the last end being open if there is one less; they must alternate in time."""
    ordered_starts, ordered_ends = sorted(starts, key=_instant), sorted(ends, key=_instant)
    if len(starts) - len(ends) not in (0, 1):
        raise AmbiguousTimesError(f"{len(starts)} starts and {len(ends)} ends")
    along = [time for pair in zip(ordered_starts, ordered_ends, strict=False) for time in pair]
    along += ordered_starts[len(ends) :]
    if any(_instant(earlier) > _instant(later) for earlier, later in pairwise(along)):
        raise AmbiguousTimesError("starts and ends do not alternate")
    return list(zip(ordered_starts, [*ordered_ends, KnownTime(UNKNOWN)], strict=False))


def _instant(time: KnownTime) -> int:
    moment = parse_time(time.text)
    if moment is None or time.text == UNKNOWN:
        raise AmbiguousTimesError(f"one of several times is {time.text}")
    return moment.value
