"""Days as the publishers of events write them, as `2015-01-31`."""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import lru_cache

_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:\d{6})?", re.ASCII)
_AMERICAN = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})", re.ASCII)
_EUROPEAN = re.compile(r"(\d\d)-(\d\d)-(\d{4})", re.ASCII)
_NAMED = re.compile(r"(\d{1,2})[ -]([A-Za-z]+)[ -](\d{4}|\d\d)", re.ASCII)
_YEAR = "january february march april may june july august september october november december"
_MONTHS = {name: number for number, name in enumerate(_YEAR.split(), start=1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}


@lru_cache(maxsize=1 << 16)
def iso_day(text: str) -> str | None:
    """Return `2015-01-31`, also where a time of day follows; None for anything else."""
    return _checked(text[:10]) if len(text) == 10 or text[10:11] in ("T", " ") else None


@lru_cache(maxsize=1 << 16)
def compact_day(text: str) -> str | None:
    """Return the day of `20150131` or of `20150131234500`; None for anything else."""
    match = _COMPACT.fullmatch(text)
    return _checked("-".join(match.groups())) if match else None


@lru_cache(maxsize=1 << 16)
def american_day(text: str) -> str | None:
    """Return the day of `1/31/2015`, the month first, or of `2015-01-31`; None for anything else."""
    match = _AMERICAN.fullmatch(text)
    return _of(match[3], match[1], match[2]) if match else iso_day(text)


@lru_cache(maxsize=1 << 16)
def european_day(text: str, slashes: str = "") -> str | None:
    """Return the day of `31 January 2015`, `31-Jan-15`, `31-01-2015` (the day first) or `2015-01-31`.

    A year of two digits is one of 1969 to 2068. `slashes` says what `1/2/2015` is: `day-first` or `month-first`.
    """
    if slashes and (match := _AMERICAN.fullmatch(text)):
        first, second = (match[1], match[2]) if slashes == "month-first" else (match[2], match[1])
        return _of(match[3], first, second)
    if match := _EUROPEAN.fullmatch(text):
        return _of(match[3], match[2], match[1])
    match = _NAMED.fullmatch(text)
    month = _MONTHS.get(match[2].lower()) if match else None
    if match is None or month is None:
        return iso_day(text)
    year = int(match[3]) if len(match[3]) == 4 else datetime.strptime(match[3], "%y").year
    return _of(str(year), str(month), match[1])


def _of(year: str, month: str, day: str) -> str | None:
    return _checked(f"{year}-{int(month):02d}-{int(day):02d}")


def _checked(text: str) -> str | None:
    """Return a day that there is."""
    try:
        return date.fromisoformat(text).isoformat() if len(text) == 10 and text[4] == "-" else None
    except ValueError:
        return None


def days_between(earlier: str, later: str) -> int:
    """Return how many days there are from one day to the other."""
    return (date.fromisoformat(later) - date.fromisoformat(earlier)).days
