"""Dates in forms that do not say by themselves what they are: `20150131`, `04/10/2024`, seconds since 1970."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.granularity import are_few
from foretime.data.times import (
    ACCEPTED,
    INTEGER,
    MONTHS,
    NOT_KNOWN,
    UNITS,
    Moment,
    Moments,
    check_granularity,
    days_of,
    full_year,
    parse_time,
    parse_times,
)
from foretime.errors import ConfigError, DataError, suggestion

WORDS = ("auto", "integer", "year", "unix", "unix-ms")

_PARTS = {  # the digits of each part, where it stands apart and where it touches another
    "Y": (r"[+-]?\d{1,6}", r"\d{4}", "year"),
    "y": (r"\d\d", r"\d\d", "year"),
    "m": (r"\d{1,2}", r"\d\d", "month"),
    "b": (r"[A-Za-z]{3,9}", r"[A-Za-z]{3,9}", "month"),
    "B": (r"[A-Za-z]{3,9}", r"[A-Za-z]{3,9}", "month"),
    "d": (r"\d{1,2}", r"\d\d", "day"),
    "H": (r"\d{1,2}", r"\d\d", "hour"),
    "M": (r"\d{1,2}", r"\d\d", "minute"),
    "S": (r"\d{1,2}", r"\d\d", "second"),
    "I": (r"\d{1,2}", r"\d\d", "hour"),
    "p": (r"[AaPp]\.?[Mm]\.?", r"[AaPp][Mm]", "half"),
}
_ORDER = ("year", "month", "day", "hour", "minute", "second")
_NUMERIC = re.compile(
    r"(\d{1,2}(?P<mark>[/.\- ])\d{1,2}(?P=mark)(?P<year>\d{4}|\d\d)|\d{4}(?P<after>[/.\-])\d{1,2}(?P=after)\d{1,2})"
    r"(?P<gap>,? |T)?(?P<clock>\d{1,2}:\d\d(?P<second>:\d\d)?(?P<half> ?[AaPp]\.?[Mm]\.?)?)?",
    re.ASCII,
)
_WHOLE = re.compile(r"([+-]?\d{1,18})\.0*", re.ASCII)
_EXAMPLES = "%d/%m/%Y, %Y%m%d, integer, year, unix or unix-ms"


@dataclass(frozen=True)
class DateForm:
    """A form such as `%d/%m/%Y`: a pattern with a group for each part, and its precision."""

    pattern: re.Pattern[str]
    precision: str
    two_digits: bool
    """Whether years have two digits."""

    @classmethod
    def of(cls, text: str) -> DateForm:
        """Return the form; raise `ConfigError` if it names no date."""
        pieces = re.split(r"%(.)", text)
        marks, literals = pieces[1::2], pieces[0::2]
        names = [_PARTS[mark][2] for mark in marks if mark in _PARTS and mark != "p"]
        wanted = _ORDER[: len(names)]
        unknown = any(mark not in _PARTS for mark in marks) or marks.count("p") != marks.count("I")
        if unknown or not names or sorted(names, key=_ORDER.index) != list(wanted):
            raise ConfigError(
                f"date_format {text!r}: expected a year, and with it the month, the day and so on, as in {_EXAMPLES}; "
                f"the parts are {' '.join('%' + mark for mark in _PARTS)}"
            )
        pattern = re.escape(literals[0])
        for i, mark in enumerate(marks):
            apart, touching, name = _PARTS[mark]
            joined = (i > 0 and not literals[i]) or (i + 1 < len(marks) and not literals[i + 1])
            pattern += f"(?P<{name}>{touching if joined else apart})" + re.escape(literals[i + 1])
        return cls(re.compile(pattern, re.ASCII), wanted[-1], "y" in marks)

    def parse(self, text: str) -> Moment | None:
        """Return the time that a text in this form names, nothing if it has another form."""
        match = self.pattern.fullmatch(text)
        if match is None:
            return NOT_KNOWN if text == "" else parse_time(text) if "#" in text else None
        found = match.groupdict()
        month = found.get("month", "1")
        try:
            number = int(month) if month.isdecimal() else MONTHS[month.casefold()]
            year = full_year(found["year"]) if self.two_digits else int(found["year"])
            days = days_of(year, number, int(found.get("day", 1)))
        except (KeyError, ValueError):
            return None
        hour, minute, second = (int(found.get(name, 0)) for name in ("hour", "minute", "second"))
        if half := found.get("half"):
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + (12 if half[0] in "Pp" else 0)
        if hour > 23 or minute > 59 or second > 59:
            return None
        return Moment(self.precision, days * 86400 + hour * 3600 + minute * 60 + second)


def check_date_format(form: str) -> None:
    """Raise `ConfigError` if a date format is none."""
    if form in WORDS:
        return
    if "%" not in form:
        raise ConfigError(
            f"unknown date_format {form!r}{suggestion(form, WORDS) or '; write one such as ' + _EXAMPLES}"
        )
    DateForm.of(form)


def _integer(text: str) -> Moment | None:
    moment = parse_time(text)
    return moment if moment is not None and moment.precision in (INTEGER, "unknown") else None


def _year(text: str) -> Moment | None:
    moment = parse_time(text)
    if moment is None or moment.precision not in (INTEGER, "unknown"):
        return moment if moment is not None and "#" in text else None
    return Moment("year", days_of(moment.value, 1, 1) * 86400) if moment.precision == INTEGER else moment


def _unix(units: int) -> Callable[[str], Moment | None]:
    def parse(text: str) -> Moment | None:
        whole, _, fraction = text.partition(".")
        moment = _integer(whole) if not fraction or fraction.isdecimal() else None
        if moment is None or moment.precision != INTEGER:
            return moment
        return Moment("second", moment.value // units)

    return parse


_PARSERS = {"integer": _integer, "year": _year, "unix": _unix(1), "unix-ms": _unix(1000)}


def parse_as(texts: Sequence[str], form: str) -> Moments:
    """Return the times that the texts name in a form that somebody has chosen; not `auto`."""
    parse = _PARSERS[form] if form in _PARSERS else DateForm.of(form).parse
    found = [NOT_KNOWN if text == "" else parse(text) or Moment("", 0) for text in texts]
    precision = np.array([moment.precision for moment in found], dtype="U10")
    return Moments(precision, np.array([moment.value for moment in found], dtype=np.int64))


def read_dates(texts: Sequence[str], form: str, granularity: str) -> tuple[Moments, list[str]]:
    """Return the times that the texts name, and what was guessed; raise `DataError` where a guess may be wrong."""
    check_date_format(form)
    texts, notes = _without_fractions(texts)
    if form != "auto":
        return parse_as(texts, form), notes
    moments = parse_times(texts)
    if check_granularity(granularity)[0] in (INTEGER, "year"):
        return moments, notes  # it is said what integers are
    moments, dated = _dated_integers(moments)
    return moments, notes + dated


def _without_fractions(texts: Sequence[str]) -> tuple[Sequence[str], list[str]]:
    """Return texts such as `2000.0` as integers if all that are known are whole numbers, and what was done."""
    found = {text: match for text in texts if (match := _WHOLE.fullmatch(text))}
    others = (text for text in texts if text and text not in found and "#" not in text)
    if not found or any(_integer(text) is None for text in others):
        return texts, []
    example = next(iter(found))
    note = f"times such as {example!r} are whole numbers, and were read as {found[example][1]}"
    return [found[text][1] if text in found else text for text in texts], [note]


def _dated_integers(moments: Moments) -> tuple[Moments, list[str]]:
    """Return integers that can only be dates as dates; raise `DataError` for those that may be dates or not."""
    places = np.flatnonzero(moments.precision == INTEGER)
    values = moments.value[places]
    if not len(values):
        return moments, []
    day, seconds = _days_in_digits(values)
    dates = day | seconds
    count = int(dates.sum())
    if count and are_few(len(dates) - count, count):
        return _as_dates(moments, places[day], places[seconds])
    if count * 2 >= len(dates):
        odd = int(values[~dates][0])
        raise DataError(
            f"most integers look like dates, as {int(values[dates][0])}, but {odd} is none; say --date-format %Y%m%d, "
            "or --date-format integer"
        )
    month = (values >= 100_001) & (values <= 299_912) & (values % 100 >= 1) & (values % 100 <= 12)
    doubtful = {
        "the months of years": (month, "%Y%m"),
        "seconds since 1970": ((values >= 10**8) & (values < 42 * 10**8), "unix"),
        "milliseconds since 1970": ((values >= 10**11) & (values < 42 * 10**11), "unix-ms"),
    }
    for what, (which, form) in doubtful.items():
        if which.mean() >= 0.5:
            raise DataError(
                f"integers such as {int(values[which][0])} may be {what} or plain integers; say --date-format {form}, "
                "or --date-format integer"
            )
    return moments, []


def _days_in_digits(values: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which integers are days of the years 1000 to 2999 as YYYYMMDD, and which are YYYYMMDDHHMMSS."""
    long = (values >= 10**13) & (values < 3 * 10**13)
    days, clock = np.where(long, values // 10**6, values), np.where(long, values % 10**6, 0)
    year, month, day = days // 10_000, days // 100 % 100, days % 100
    valid = (year >= 1000) & (year < 3000) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0)
    first = months.astype("datetime64[M]").astype("datetime64[D]")
    length = (months + 1).astype("datetime64[M]").astype("datetime64[D]") - first
    valid &= day <= length.astype(np.int64)
    valid &= (clock // 10_000 < 24) & (clock // 100 % 100 < 60) & (clock % 100 < 60)
    return valid & ~long, valid & long


def _as_dates(moments: Moments, days: NDArray[np.int64], seconds: NDArray[np.int64]) -> tuple[Moments, list[str]]:
    precision, value = moments.precision.copy(), moments.value.copy()
    notes = []
    for places, form, unit in ((days, "%Y%m%d", "day"), (seconds, "%Y%m%d%H%M%S", "second")):
        if len(places):
            texts = [str(number) for number in value[places].tolist()]
            notes.append(f"integers such as {texts[0]} are dates, {form}")
            precision[places], value[places] = unit, parse_as(texts, form).value
    return Moments(precision, value), notes


def two_digit_years(texts: Iterable[str], moments: Moments) -> list[str]:
    """Return what to look at in dates such as `7-Feb-25`."""
    dated = np.isin(moments.precision, UNITS).tolist()
    short = re.compile(r"\d{1,2}[ -][A-Za-z]{3,9}\.?,?[ -]\d\d", re.ASCII)
    example = next(
        (text for text, is_date in zip(texts, dated, strict=True) if is_date and short.fullmatch(text)), None
    )
    if example is None:
        return []
    return [f"years of two digits, as in {example!r}, were read as 1969 to 2068; --date-format says otherwise with %Y"]


@dataclass(frozen=True)
class Misreadings:
    """What is wrong with texts that are no times; a form is proposed if all that look alike can have it."""

    texts: Sequence[str]

    def reason(self, text: str) -> tuple[str, str]:
        """Return what is wrong with a text: a word for its kind, and words with a remedy."""
        shape = _shape(text)
        forms = self._forms.get(shape, []) if shape else []
        if shape and not forms:  # not all that look alike fit one form: it is said what fits this one
            forms = [form for form in _forms_of(shape) if DateForm.of(form).parse(text)]
        if match := _WHOLE.fullmatch(text):
            remedy = f"write {match[1]} (in pandas, .astype('Int64') does it even where some are missing)"
            return "a number with a fraction", f"is a whole number with a fraction, and others are no numbers; {remedy}"
        if not forms:
            return "no time", f"is not a time; write {ACCEPTED}; --date-format names other forms"
        listed = " or ".join(f"--date-format {form!r}" if " " in form else f"--date-format {form}" for form in forms)
        if len(forms) == 1 and shape is not None and not shape.year:
            return "a clock of twelve hours", f"has a time of twelve hours; say {listed}"
        return "an ambiguous date", f"is an ambiguous date; say {listed}"

    @property
    def any_date(self) -> bool:
        """Whether any of the texts is a date whose form has to be named."""
        return any(self._forms.values())

    @cached_property
    def _forms(self) -> dict[_Shape, list[str]]:
        alike: dict[_Shape, list[str]] = {}
        for text in self.texts:
            if (shape := _shape(text)) is not None:
                alike.setdefault(shape, []).append(text)
        return {
            shape: [form for form in _forms_of(shape) if all(map(DateForm.of(form).parse, texts))]
            for shape, texts in alike.items()
        }


class _Shape(NamedTuple):
    """How a date in numbers is written: what stands between its parts, where its year is, and its time of day."""

    mark: str
    year: str
    """`%Y` or `%y` at its end, nothing at its beginning."""
    clock: str
    """The form of its time of day with what stands before it, nothing without one."""


def _shape(text: str) -> _Shape | None:
    """Return the shape of a date in numbers with the year at its end, or with a time of day of twelve hours."""
    match = _NUMERIC.fullmatch(text)
    if match is None or bool(match["gap"]) != bool(match["clock"]) or not (match["mark"] or match["half"]):
        return None
    half = match["half"] or ""
    space = " " if half.startswith(" ") else ""
    hours = ("%I:%M:%S" if match["second"] else "%I:%M") + space + "%p"
    clock = hours if half else "%H:%M:%S" if match["second"] else "%H:%M" if match["clock"] else ""
    year = "" if not match["mark"] else "%Y" if len(match["year"]) == 4 else "%y"
    return _Shape(match["mark"] or match["after"], year, (match["gap"] or "") + clock)


def _forms_of(shape: _Shape) -> list[str]:
    """Return what a date of this shape may mean."""
    mark, year, clock = shape
    if not year:
        return [f"%Y{mark}%m{mark}%d{clock}"]
    forms = [f"%d{mark}%m{mark}{year}{clock}", f"%m{mark}%d{mark}{year}{clock}"]
    return forms if year == "%Y" else [*forms, f"%y{mark}%m{mark}%d{clock}"]
