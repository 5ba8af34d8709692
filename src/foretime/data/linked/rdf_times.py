"""When a node of RDF holds: its own dates, those of the times that it points to, or the date in the name of a graph."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from foretime.data.linked import rdf_vocabulary as words
from foretime.data.linked.dates import UNKNOWN, XSD, KnownTime, UnreadableTimeError, literal_time, stamp_time
from foretime.data.linked.rdf_intake import NODE, SOMETHING, STAMP

_DEPTH = 3  # a statement has a time, an interval, which has a beginning, an instant
_FINEST_FIRST = ("dateTimeStamp", "dateTime", "date", "gYearMonth", "gYear")
_DATE_AT_END = re.compile(r"(?:^|.*\D)(?P<date>\d{4}-\d\d(?:-\d\d)?)/?#?")
_DIGITS_AT_END = re.compile(r"(?:^|.*\D)(?P<date>\d{4}(?:\d{4})?)/?#?")


class Mark(NamedTuple):
    """One thing that is said of a node."""

    role: str
    value: str
    kind: str
    named: bool


class NodeTimes(NamedTuple):
    """The starts, the ends and the points in time of a node."""

    starts: tuple[KnownTime, ...] = ()
    ends: tuple[KnownTime, ...] = ()
    points: tuple[KnownTime, ...] = ()


class TimeFinder:
    """Finds the times of nodes among the marks on the shelf."""

    def __init__(self, database: sqlite3.Connection, precision: int | None) -> None:
        self._database = database
        self._precision = precision

    def marks(self, node: str) -> list[Mark]:
        """Return everything that is said of a node."""
        found = self._database.execute(
            "select role, value, kind, named from mark where node = ? order by rowid", (node,)
        )
        return [Mark(role, value, kind, bool(named)) for role, value, kind, named in found]

    def times(self, marks: Iterable[Mark], depth: int = _DEPTH) -> NodeTimes:
        """Return the times that marks give; raise `UnreadableTimeError` where one of them cannot be read."""
        listed = list(marks)
        starts, ends, times = (
            [self._mark_times(mark, listed, depth) for mark in _believed(listed, role)]
            for role in ("start", "end", "time")
        )
        return NodeTimes(  # a time may be an interval, and then gives a start and an end
            _once(
                [*(t for found in starts for t in found.points or found.starts), *(t for f in times for t in f.starts)]
            ),
            _once([*(t for found in ends for t in found.points or found.ends), *(t for f in times for t in f.ends)]),
            _once(t for found in times for t in found.points),
        )

    def _mark_times(self, mark: Mark, beside: list[Mark], depth: int) -> NodeTimes:
        if mark.kind == SOMETHING:
            return NodeTimes(points=(KnownTime(UNKNOWN),))
        if mark.kind == STAMP:
            return NodeTimes(points=(stamp_time(mark.value, self._precision),))
        if mark.kind == NODE:
            return self._node_times(mark.value, depth - 1)
        unit = next((words.UNITS.get(other.value) for other in beside if other.role == f"{mark.role} unit"), None)
        if unit is not None:
            return NodeTimes(points=(stamp_time(mark.value, unit),))
        return NodeTimes(points=(literal_time(mark.value, mark.kind),))

    def _node_times(self, node: str, depth: int) -> NodeTimes:
        """Return the times of an instant or an interval that something points to."""
        marks = self.marks(node) if depth else []
        stamp = next((mark.value for mark in marks if mark.role == "stamp"), None)
        if stamp is not None:
            precision = next((mark.value for mark in marks if mark.role == "precision"), "")
            return NodeTimes(points=(stamp_time(stamp, int(precision) if precision.isdecimal() else self._precision),))
        instants = sorted((mark for mark in marks if mark.role == "instant"), key=_coarseness)
        if instants:
            return NodeTimes(points=(literal_time(instants[0].value, instants[0].kind),))
        found = self.times(marks, depth) if depth else NodeTimes()
        if not any(found):
            raise UnreadableTimeError(f"{node} has no date, month or year of XSD")
        return found


def _believed(marks: list[Mark], role: str) -> Iterator[Mark]:
    """Yield the marks of a role; a time without its precision only where the same is not given with one."""
    own = [mark for mark in marks if mark.role == role]
    exact = any(mark.kind == NODE for mark in own)
    yield from (mark for mark in own if mark.kind != STAMP or not exact)


def _coarseness(mark: Mark) -> int:
    name = mark.kind.removeprefix(XSD)
    return _FINEST_FIRST.index(name) if name in _FINEST_FIRST else len(_FINEST_FIRST)


def _once(times: Iterable[KnownTime]) -> tuple[KnownTime, ...]:
    return tuple(dict.fromkeys(times))


def graph_name_time(graph: str, how: Literal["auto", "name", "no"]) -> KnownTime | None:
    """Return the time that ends the name of a graph, if there is one.

    `auto` believes `2014-05-13` and `2014-05` alone. `name` also takes `20140513` and `2014`, which may be numbers.
    """
    if how == "no":
        return None
    match = _DATE_AT_END.fullmatch(graph) or (_DIGITS_AT_END.fullmatch(graph) if how == "name" else None)
    if match is None:
        return None
    date = (
        match["date"]
        if len(match["date"]) != 8
        else "-".join((match["date"][:4], match["date"][4:6], match["date"][6:]))
    )
    try:
        return literal_time(date, XSD + {4: "gYear", 7: "gYearMonth", 10: "date"}[len(date)])
    except UnreadableTimeError:  # digits that are no date: the graph is called so
        return None
