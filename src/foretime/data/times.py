"""Times as texts, and as whole numbers of the unit in which a graph counts time.

A text is read as an instant of the calendar with a *precision* (`2014-05-13` is precise to the day, `986-##-##` to the
year, `195#` to the decade), as an unknown time (`####-##-##`), or as a plain integer. The calendar is the Gregorian
one, carried back before its introduction, so that the years -44, 19 and 2018 lie on one line. Years before our era are
those of ISO 8601: the year 0 is 1 BCE, and -44 is 45 BCE.

A *tick* is a whole number of a unit: days since 1970-01-01, weeks from Monday to Sunday, months, years by their own
number, or an integer as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foretime.errors import ConfigError, suggestion

INTEGER = "step"
"""The precision, and the unit, of plain integers."""
ACCEPTED = "2014-05-13, 2014-05-13T09:30Z, 2014-05, 986, 986-##-##, an integer, or ####-##-## if it is not known"
VAGUE = ("millennium", "century", "decade")
"""Precisions that are coarser than any unit: such a time is never known to the step."""

UNITS = ("year", "month", "week", "day", "hour", "minute", "second")
"""The units of the calendar, from coarse to fine."""
PRECISIONS = (*VAGUE, *UNITS)
"""The precisions of the calendar, from coarse to fine."""
NO_TICK = int(np.iinfo(np.int64).min)
"""Stands for a time that is not known, while steps are not numbered yet."""

_SECONDS = {"week": 7 * 86400, "day": 86400, "hour": 3600, "minute": 60, "second": 1}
_MONDAY = 3 * 86400  # 1970 began on a Thursday: the first full week is counted from the Monday three days before

EPOCH = date(1970, 1, 1).toordinal()
CYCLE_YEARS, CYCLE_DAYS = 400, 146_097  # the Gregorian calendar repeats, weekdays included, after 400 years

_MOST_DIGITS = 9  # of the number of bins
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_WEEK = re.compile(r"(?P<year>[+-]?\d{1,6})-W(?P<week>\d\d)", re.ASCII)
_CALENDAR = re.compile(
    r"(?P<year>[+-]?\d{1,6})-(?P<month>\d\d|##)(-(?P<day>\d\d|##))?"
    r"([T ](?P<hour>\d\d)(:(?P<minute>\d\d)(:(?P<second>\d\d)([.,]\d+)?)?)?(?P<zone>Z|[+-]\d\d(:?\d\d)?)?)?",
    re.ASCII,
)
_UNKNOWN = frozenset({"####", "####-##", "####-##-##"})
_SPAN = re.compile(r"(?P<sign>[+-]?)(?P<digits>\d{1,3})(?P<hashes>#{1,3})(-##){0,2}", re.ASCII)
_CROSSED = re.compile(r"[+-]?[\dX]{1,6}(-[\dX]{2}){0,2}", re.ASCII)  # ISO 8601-2 writes X for a digit that is not known
_WRITTEN = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        r"(?P<day>\d{1,2})[ -](?P<month>[A-Za-z]{3,9})\.?,?[ -](?P<year>\d{4}|\d\d)",
        r"(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",
        r"(?P<year>\d{4})[ -](?P<month>[A-Za-z]{3,9})[ -](?P<day>\d{1,2})",
        r"(?P<month>[A-Za-z]{3,9})\.?[ -](?P<year>\d{4})",
        r"(?P<year>\d{4})(?P<mark>[/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
    )
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTHS = {month[:length]: number for number, month in enumerate(_MONTHS, 1) for length in (3, len(month))} | {"sept": 9}
"""The months by their English names, and by these cut short."""
PIVOT = 69
"""Years of two digits are 1969 to 2068, as POSIX has it."""


class Moment(NamedTuple):
    """A time that was read: seconds since 1970 with their precision, or an integer with the precision `step`."""

    precision: str
    value: int


NOT_KNOWN = Moment("unknown", 0)


def parse_time(text: str) -> Moment | None:
    """Return the time that a text names, `NOT_KNOWN` for `####-##-##`, or nothing if it names none."""
    if _INTEGER.fullmatch(text):
        return Moment(INTEGER, int(text))
    if "X" in text and _CROSSED.fullmatch(text):
        text = text.replace("X", "#")
    if text in _UNKNOWN:
        return NOT_KNOWN
    try:
        if match := _CALENDAR.fullmatch(text):
            return _calendar_moment(match)
        if match := _WEEK.fullmatch(text):
            return Moment("week", _week_seconds(int(match["year"]), int(match["week"])))
        if match := _SPAN.fullmatch(text):
            return _span_moment(match)
        if match := next(filter(None, (pattern.fullmatch(text) for pattern in _WRITTEN)), None):
            return _written_moment(match.groupdict())
    except (KeyError, ValueError):  # there is no 30 February, no week 54, and no month called Foo
        return None
    return None


def full_year(digits: str) -> int:
    """Return the year that two digits mean, or more digits just say."""
    return int(digits) + (0 if len(digits) > 2 else 2000 if int(digits) < PIVOT else 1900)


def _span_moment(match: re.Match[str]) -> Moment:
    """Return a decade, a century or a millennium by its first year."""
    years = 10 ** len(match["hashes"])
    first = int(match["digits"]) * years
    year = -first - years + 1 if match["sign"] == "-" else first
    return Moment(VAGUE[-len(match["hashes"])], days_of(year, 1, 1) * 86400)


def _written_moment(found: dict[str, str]) -> Moment:
    month = found["month"]
    number = int(month) if month.isdecimal() else MONTHS[month.casefold()]
    day = found.get("day")
    return Moment("day" if day else "month", days_of(full_year(found["year"]), number, int(day or 1)) * 86400)


def _calendar_moment(match: re.Match[str]) -> Moment | None:
    month, day, hour = match["month"], match["day"], match["hour"]
    year_only = month == "##"
    month_only = not year_only and (day is None or day == "##")
    if (year_only and day not in (None, "##")) or (hour and (year_only or month_only)):
        return None
    if len(match["year"]) < 3 and not year_only:
        return None  # 13-05-14 is a day of the year 13, of 2013 or of 2014
    days = days_of(int(match["year"]), 1 if year_only else int(month), 1 if year_only or month_only else int(day))
    if hour is None:
        return Moment("year" if year_only else "month" if month_only else "day", days * 86400)
    seconds = _clock_seconds(int(hour), int(match["minute"] or 0), int(match["second"] or 0))
    precision = "second" if match["second"] else "minute" if match["minute"] else "hour"
    return Moment(precision, days * 86400 + seconds - _zone_seconds(match["zone"]))


def days_of(year: int, month: int, day: int) -> int:
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
    precision = np.full(len(texts), "second", dtype="U10")
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
        if not count.isdecimal() or len(count) > _MOST_DIGITS or int(count) < 1:
            raise ConfigError(f"granularity {granularity[:40]!r}: write the number of bins, as in bins:100")
        return "auto", int(count)
    known = ("auto", *reversed(UNITS), INTEGER)
    if granularity not in known:
        near = suggestion(granularity, known)
        raise ConfigError(f"unknown granularity {granularity!r}{near or '; one of ' + ', '.join(known) + ', bins:N'}")
    return granularity, 0


def is_coarser(precision: str, unit: str) -> bool:
    """Return whether a time of the calendar is less precise than a unit of it."""
    return precision in PRECISIONS and unit in UNITS and PRECISIONS.index(precision) < PRECISIONS.index(unit)


def ticks_of(moments: Moments, unit: str) -> NDArray[np.int64]:
    """Return the tick of each time, `NO_TICK` where it is not known, or not to the unit."""
    if unit in _SECONDS:
        ticks = (moments.value + (_MONDAY if unit == "week" else 0)) // _SECONDS[unit]
    else:
        ticks = moments.value.copy()
        dated = moments.precision != INTEGER
        ticks[dated] = _civil_ticks(moments.value[dated], unit)
    precise = [name for name in UNITS if not is_coarser(name, unit)]
    precise += [INTEGER] if unit in ("year", INTEGER) else []  # among dates an integer is a year
    ticks[~np.isin(moments.precision, precise)] = NO_TICK
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
