"""Times as texts, and as whole numbers of the unit in which a graph counts time.

A text is read as an instant of the calendar with a *precision* (`2014-05-13` is precise to the day, `986-##-##` to the
year), as an unknown time (`####-##-##`), or as a plain integer. The calendar is the Gregorian one, carried back before
its introduction, so that the years -44, 19 and 2018 lie on one line.

A *tick* is a whole number of a unit: days since 1970-01-01, weeks from Monday to Sunday, months, years by their own
number, or an integer as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foretime.errors import ConfigError, DataError, suggestion

INTEGER = "step"
"""The precision, and the unit, of plain integers."""
ACCEPTED = "2014-05-13, 2014-05-13T09:30Z, 2014-05, 986, 986-##-##, an integer, or ####-##-## if it is not known"

UNITS = ("year", "month", "week", "day", "hour", "minute", "second")
"""The units of the calendar, from coarse to fine."""
NO_TICK = int(np.iinfo(np.int64).min)
"""Stands for a time that is not known, while steps are not numbered yet."""

_SECONDS = {"week": 7 * 86400, "day": 86400, "hour": 3600, "minute": 60, "second": 1}
_MONDAY = 3 * 86400  # 1970 began on a Thursday: the first full week is counted from the Monday three days before

EPOCH = date(1970, 1, 1).toordinal()
CYCLE_YEARS, CYCLE_DAYS = 400, 146_097  # the Gregorian calendar repeats, weekdays included, after 400 years

_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_WEEK = re.compile(r"(?P<year>[+-]?\d{1,6})-W(?P<week>\d\d)", re.ASCII)
_CALENDAR = re.compile(
    r"(?P<year>[+-]?\d{1,6})-(?P<month>\d\d|##)(-(?P<day>\d\d|##))?"
    r"([T ](?P<hour>\d\d)(:(?P<minute>\d\d)(:(?P<second>\d\d)([.,]\d+)?)?)?(?P<zone>Z|[+-]\d\d(:?\d\d)?)?)?",
    re.ASCII,
)


class Moment(NamedTuple):
    """A time that was read: seconds since 1970 with their precision, or an integer with the precision `step`."""

    precision: str
    value: int


NOT_KNOWN = Moment("unknown", 0)


def parse_time(text: str) -> Moment | None:
    """Return the time that a text names, `NOT_KNOWN` for `####-##-##`, or nothing if it names none."""
    if _INTEGER.fullmatch(text):
        return Moment(INTEGER, int(text))
    if text == "####-##-##":
        return NOT_KNOWN
    try:
        if match := _CALENDAR.fullmatch(text):
            return _calendar_moment(match)
        if match := _WEEK.fullmatch(text):
            return Moment("week", _week_seconds(int(match["year"]), int(match["week"])))
    except ValueError:  # there is no 30 February, and no week 54
        return None
    return None


def _calendar_moment(match: re.Match[str]) -> Moment | None:
    month, day, hour = match["month"], match["day"], match["hour"]
    year_only = month == "##"
    month_only = not year_only and (day is None or day == "##")
    if (year_only and day != "##") or (hour and (year_only or month_only)):
        return None
    days = _days(int(match["year"]), 1 if year_only else int(month), 1 if year_only or month_only else int(day))
    if hour is None:
        return Moment("year" if year_only else "month" if month_only else "day", days * 86400)
    seconds = _clock_seconds(int(hour), int(match["minute"] or 0), int(match["second"] or 0))
    precision = "second" if match["second"] else "minute" if match["minute"] else "hour"
    return Moment(precision, days * 86400 + seconds - _zone_seconds(match["zone"]))


def _days(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01, for any year."""
    cycles = year // CYCLE_YEARS - 5
    return date(2000 + year % CYCLE_YEARS, month, day).toordinal() - EPOCH + cycles * CYCLE_DAYS


def _week_seconds(year: int, week: int) -> int:
    """Return the Thursday of an ISO week: the day that says to which year and month the week belongs."""
    cycles = year // CYCLE_YEARS - 5
    thursday = date.fromisocalendar(2000 + year % CYCLE_YEARS, week, 4)
    return (thursday.toordinal() - EPOCH + cycles * CYCLE_DAYS) * 86400


def _clock_seconds(hour: int, minute: int, second: int) -> int:
    if (hour > 23 or minute > 59 or second > 60) and (hour, minute, second) != (24, 0, 0):
        raise ValueError("no such time of day")
    return hour * 3600 + minute * 60 + min(second, 59)  # a leap second belongs to its minute


def _zone_seconds(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return (1 if zone[0] == "+" else -1) * _clock_seconds(int(digits[:2]), int(digits[2:]), 0)


class Moments(NamedTuple):
    """Many times as columns, each (times,): the precision of each, `""` where a text names no time, and its value."""

    precision: NDArray[np.str_]
    value: NDArray[np.int64]


def parse_times(texts: Sequence[str]) -> Moments:
    """Return the times that the texts name. An empty text is an unknown time: an open end of an interval."""
    precision = np.full(len(texts), "second", dtype="U8")
    value = np.zeros(len(texts), dtype=np.int64)
    instants, value[instants] = _parse_instants(texts)
    for row in np.flatnonzero(~instants).tolist():
        precision[row], value[row] = NOT_KNOWN if texts[row] == "" else parse_time(texts[row]) or Moment("", 0)
    return Moments(precision, value)


def _parse_instants(texts: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which texts are plain date-times to the second, and their values.

    Only such texts come in millions of different ones, so only these are read all at once. If one of them is none,
    all are left to `parse_time`.
    """
    array = pa.array(texts, pa.large_string())
    plain = pc.match_substring_regex(array, r"^[12]\d{3}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?$")
    try:
        seconds = pc.utf8_slice_codeunits(array.filter(plain), 0, 19).cast(pa.timestamp("s")).cast(pa.int64())
    except pa.ArrowInvalid:
        return np.zeros(len(texts), dtype=bool), np.empty(0, dtype=np.int64)
    return plain.to_numpy(zero_copy_only=False), seconds.to_numpy()


def check_granularity(granularity: str) -> tuple[str, int]:
    """Return the granularity as a unit (or `auto`) and a number of bins, 0 for none."""
    if granularity.startswith("bins:"):
        count = granularity.removeprefix("bins:")
        if not count.isdecimal() or int(count) < 1:
            raise ConfigError(f"granularity {granularity!r}: write the number of bins, as in bins:100")
        return "auto", int(count)
    known = ("auto", *reversed(UNITS), INTEGER)
    if granularity not in known:
        near = suggestion(granularity, known)
        raise ConfigError(f"unknown granularity {granularity!r}{near or '; one of ' + ', '.join(known) + ', bins:N'}")
    return granularity, 0


def choose_unit(moments: Moments, granularity: str, place: Callable[[int], str]) -> str:
    """Return the unit in which the times are counted; raise `DataError` where they do not agree with the granularity.

    `place` says where the time with a given number stands. Plain integers are years if the granularity is `year` or if
    some other time is just a year; otherwise they and dates cannot be in one graph. `auto` is the day, or the month or
    the year if some time is no more precise than that; with bins it is the precision of the least precise time.
    """
    unit, bins = check_granularity(granularity)
    present = set(moments.precision.tolist())
    calendar = [name for name in UNITS if name in present]
    if not calendar:
        if unit not in ("auto", INTEGER, "year"):
            raise DataError(f"the times are plain integers and have no {unit}; use --granularity step, or year")
        return "year" if unit == "year" else INTEGER

    def first(*precisions: str) -> str:
        return place(int(np.flatnonzero(np.isin(moments.precision, precisions))[0]))

    coarsest = calendar[0]
    if INTEGER in present and unit != "year" and coarsest != "year":
        raise DataError(
            f"dates and plain integers in one graph:\n  {first(*UNITS)} is a date\n  {first(INTEGER)} is an integer\n"
            "if the integers are years, use --granularity year; otherwise write all times in one way"
        )
    if unit == INTEGER:
        raise DataError("the times are dates and have no integer step; use --granularity day, or a coarser unit")
    if unit == "auto":
        return coarsest if bins else min(coarsest, "day", key=UNITS.index)
    if UNITS.index(coarsest) < UNITS.index(unit):
        raise DataError(
            f"{first(coarsest)} is precise to the {coarsest} only; use --granularity {coarsest}, or a coarser unit"
        )
    return unit


def ticks_of(moments: Moments, unit: str) -> NDArray[np.int64]:
    """Return the tick of each time, `NO_TICK` where it is not known."""
    if unit in _SECONDS:
        ticks = (moments.value + (_MONDAY if unit == "week" else 0)) // _SECONDS[unit]
    else:
        ticks = moments.value.copy()
        dated = moments.precision != INTEGER
        ticks[dated] = _civil_ticks(moments.value[dated], unit)
    ticks[~np.isin(moments.precision, (*UNITS, INTEGER))] = NO_TICK
    return ticks


def _civil_ticks(seconds: NDArray[np.int64], unit: str) -> NDArray[np.int64]:
    """Return years by their own number, or months counted so that January of the year 0 is 0."""
    months = seconds.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64) + 1970 * 12
    return months // 12 if unit == "year" else months


def tick_text(tick: int, unit: str) -> str:
    """Return a tick as people write it: `2014-11-16`, `2014-W07`, `2014-11`, `986`, `17`."""
    if unit in ("year", INTEGER):
        return str(tick)
    if unit == "month":
        return str(np.datetime64(tick - 1970 * 12, "M"))
    if unit == "week":
        thursday = np.datetime64(7 * tick, "D")  # the day that says to which year the week belongs
        year = thursday.astype("datetime64[Y]")
        return f"{year}-W{int((thursday - year).astype(np.int64)) // 7 + 1:02d}"
    shown = {"day": "D", "hour": "m", "minute": "m", "second": "s"}[unit]
    return str(np.datetime64(tick * _SECONDS[unit], "s").astype(f"datetime64[{shown}]"))
