"""Times of Wikidata and of RDF, written as what is known of them.

Both count years differently before the year 1. In Wikidata's JSON `-0458` is 458 BCE, for there is no year 0. In RDF
(XSD 1.1) and here the year 0 is 1 BCE, so the same year is `-0457`. What is less precise than a day keeps a `#` for
every digit that is not known: `1986-05-##`, `1986-##-##`, `198#-##-##` for a decade, `19##-##-##` for a century and
`1###-##-##` for a millennium.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from foretime.data.times import parse_time

UNKNOWN = "####-##-##"
"""A time of which nothing is known: an open end."""

MILLENNIUM, CENTURY, DECADE, YEAR, MONTH, DAY = 6, 7, 8, 9, 10, 11
"""Precisions, by the codes of Wikidata; lower ones are longer still."""
_FINEST = 14  # hours, minutes and seconds have codes, which Wikidata does not use

JULIAN_DAY = "a day of the Julian calendar is written as the Gregorian day"
TOO_COARSE = "a time known to ten thousand years or less is written as not known"
COARSE_BCE = "a decade, century or millennium before the year 1 is written as not known"
GUESSED_PRECISION = "a time came without its precision: 1 January is taken for the year, the first of a month for it"

XSD = "http://www.w3.org/2001/XMLSchema#"
_JULIAN = "Q1985786"
_GREGORIAN = "Q1985727"
_EPOCH_JULIAN_DAY = 2_440_588  # 1970-01-01 as the number of a day
_YEARS = 999_999  # further from zero no reader follows

_STAMP = re.compile(r"(?P<sign>[+-]?)(?P<year>\d{1,16})-(?P<month>\d\d)-(?P<day>\d\d)(T[\d:.,]*)?(Z|[+-]\d\d:\d\d)?")
_ZONE = r"(?:Z|[+-]\d\d:\d\d)?"
_LEXICAL = {
    "gYear": re.compile(rf"(?P<known>[+-]?\d{{4,6}}){_ZONE}"),
    "gYearMonth": re.compile(rf"(?P<known>[+-]?\d{{4,6}}-\d\d){_ZONE}"),
    "date": re.compile(rf"(?P<known>[+-]?\d{{4,6}}-\d\d-\d\d){_ZONE}"),
    "dateTime": re.compile(rf"(?P<known>[+-]?\d{{4,6}}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?{_ZONE})"),
}
_ENDINGS = {"gYear": "-##-##", "gYearMonth": "-##", "date": "", "dateTime": ""}
_UNTYPED = ("string", "integer", "int")


class UnreadableTimeError(ValueError):
    """What is wrong with a time."""


class KnownTime(NamedTuple):
    """A time as it is written into a graph, and what was done to it that a user should know."""

    text: str
    remark: str = ""


def wikidata_time(value: Mapping[str, Any]) -> KnownTime:
    """Return the time of a time value in Wikidata's JSON; raise `UnreadableTimeError` if there is none in it."""
    stamp, precision = value.get("time"), value.get("precision")
    if not isinstance(stamp, str) or not isinstance(precision, int):
        raise UnreadableTimeError(f"expected a time and its precision, found {str(value)[:80]}")
    year, month, day = _stamp_numbers(stamp)
    if year == 0:
        raise UnreadableTimeError(f"{stamp!r}: there is no year 0 in Wikidata's JSON")
    calendar = str(value.get("calendarmodel", _GREGORIAN)).rpartition("/")[2]
    if calendar not in (_GREGORIAN, _JULIAN):
        raise UnreadableTimeError(f"{stamp!r}: the calendar {calendar} is neither Gregorian nor Julian")
    year += year < 0  # -0458 is 458 BCE, which is the year -457 where there is a year 0
    if calendar == _JULIAN and precision >= DAY and month and day:
        return KnownTime(_gregorian_day(year, month, day, stamp), JULIAN_DAY)
    return known_time(year, month, day, precision)


def stamp_time(stamp: str, precision: int | None) -> KnownTime:
    """Return the time of Wikidata's RDF and of its query service, where days are Gregorian and there is a year 0.

    A year is written `1986-01-01T00:00:00Z` there. Where the precision is not given (`None`), no more is believed than
    such a text may mean: the first of January is the year, and the first of another month is the month.
    """
    year, month, day = _stamp_numbers(stamp)
    if precision is not None:
        return known_time(year, month, day, precision)
    guess = DAY if day != 1 else YEAR if month == 1 else MONTH
    return KnownTime(known_time(year, month, day, guess).text, GUESSED_PRECISION)


def known_time(year: int, month: int, day: int, precision: int) -> KnownTime:
    """Return what is known of a date, its year counted with a year 0; a month or a day that is 0 is not known."""
    if not 0 <= precision <= _FINEST:
        raise UnreadableTimeError(f"{precision} is no precision: expected 0 to {_FINEST}")
    if precision < MILLENNIUM:
        return KnownTime(UNKNOWN, TOO_COARSE)
    if abs(year) > _YEARS:
        raise UnreadableTimeError(f"the year {year} is too far away")
    if precision < YEAR:
        return _coarse_time(year, precision)
    if precision == YEAR or not month:
        return KnownTime(f"{_padded(year)}-##-##")
    text = f"{_padded(year)}-{month:02d}-" + ("##" if precision == MONTH or not day else f"{day:02d}")
    if parse_time(text) is None:
        raise UnreadableTimeError(f"{text} is not a date")
    return KnownTime(text)


def _coarse_time(year: int, precision: int) -> KnownTime:
    """Return a decade, century or millennium. The 19th century ends with 1900, so 1900 to the century is `18##`."""
    if year < 1:  # 459 to 450 BCE are the years -458 to -449: no digits are common to them
        return KnownTime(UNKNOWN, COARSE_BCE)
    if precision == DECADE:
        return KnownTime(f"{year // 10:03d}#-##-##")
    return KnownTime(f"{(year - 1) // 100:02d}##-##-##" if precision == CENTURY else f"{(year - 1) // 1000}###-##-##")


def _padded(year: int) -> str:
    return f"{year:05d}" if year < 0 else f"{year:04d}"


def _stamp_numbers(stamp: str) -> tuple[int, int, int]:
    match = _STAMP.fullmatch(stamp)
    if match is None:
        raise UnreadableTimeError(f"{stamp!r} is not a time; expected one such as +1986-05-13T00:00:00Z")
    year = int(match["year"])
    return -year if match["sign"] == "-" else year, int(match["month"]), int(match["day"])


def _gregorian_day(year: int, month: int, day: int, stamp: str) -> str:
    """Return the Gregorian day of a Julian one, by the number of the day (Richards, 2013)."""
    lengths = (31, 29 if year % 4 == 0 else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not (1 <= month <= 12 and 1 <= day <= lengths[month - 1]) or abs(year) > _YEARS:
        raise UnreadableTimeError(f"{stamp!r} is not a date of the Julian calendar")
    early = (14 - month) // 12  # January and February belong to the year before, so that leap days come last
    years, months = year + 4800 - early, month + 12 * early - 3
    number = day + (153 * months + 2) // 5 + 365 * years + years // 4 - 32_083
    found_year, found_month, found_day = str(np.datetime64(number - _EPOCH_JULIAN_DAY, "D")).rsplit("-", 2)
    return f"{_padded(int(found_year))}-{found_month}-{found_day}"


def literal_time(lexical: str, datatype: str) -> KnownTime:
    """Return the time of an RDF literal, as precise as its datatype; raise `UnreadableTimeError` if it has none.

    A text or an integer without a type of its own is read if it has the form of a date or is a year of four digits.
    """
    name = datatype.removeprefix(XSD)
    forms = _UNTYPED_FORMS if name in _UNTYPED else (_FORM_OF.get(name),)
    for form in forms:
        if form and (match := _LEXICAL[form].fullmatch(lexical.strip())):
            text = match["known"] + _ENDINGS[form]
            if parse_time(text) is not None:
                return KnownTime(text)
    raise UnreadableTimeError(f"{lexical!r} ({name.rpartition('/')[2]}) is not a date, a month or a year")


_FORM_OF = {form: form for form in _LEXICAL} | {"dateTimeStamp": "dateTime"}
_UNTYPED_FORMS = ("gYear", "gYearMonth", "date", "dateTime")
