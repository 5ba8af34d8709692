"""The unit in which a graph counts time, and times as whole numbers of it.

A *tick* is a whole number of a unit: days since 1970-01-01, weeks from Monday to Sunday, months, years by their own
number, or an integer as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import numpy as np
from numpy.typing import NDArray

from foretime.data.times import CYCLE_DAYS, CYCLE_YEARS, EPOCH, INTEGER, Moments
from foretime.errors import ConfigError, DataError, suggestion

UNITS = ("year", "month", "week", "day", "hour", "minute", "second")
"""The units of the calendar, from coarse to fine."""
NO_TICK = int(np.iinfo(np.int64).min)
"""Stands for a time that is not known, while steps are not numbered yet."""

_SECONDS = {"week": 7 * 86400, "day": 86400, "hour": 3600, "minute": 60, "second": 1}
_MONDAY = 3 * 86400  # 1970 began on a Thursday: the first full week is counted from the Monday three days before

Place = Callable[[int], str]


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


def choose_unit(moments: Moments, granularity: str, place: Place) -> str:
    """Return the unit in which the times are counted; raise `DataError` where they do not agree with the granularity.

    `place` says where the time with a given number stands. Plain integers are years if the granularity is `year` or if
    some other time is just a year; otherwise they and dates cannot be in one graph. `auto` is the day, or the month or
    the year if some time is no more precise than that; with bins it is the precision of the least precise time.
    """
    unit, bins = check_granularity(granularity)
    present = set(moments.precision.tolist())
    calendar = [name for name in UNITS if name in present]
    if not calendar:
        return _unit_of_integers(unit)
    if INTEGER in present and unit != "year" and calendar[0] != "year":
        _refuse_mixture(moments, place)
    if unit == INTEGER:
        raise DataError("the times are dates and have no integer step; use --granularity day, or a coarser unit")
    if unit == "auto":
        return calendar[0] if bins or _coarser(calendar[0], "day") else "day"
    if _coarser(calendar[0], unit):
        where = place(int(np.flatnonzero(moments.precision == calendar[0])[0]))
        raise DataError(
            f"{where} is precise to the {calendar[0]} only; use --granularity {calendar[0]}, or a coarser unit"
        )
    return unit


def _coarser(one: str, other: str) -> bool:
    return UNITS.index(one) < UNITS.index(other)


def _unit_of_integers(unit: str) -> str:
    if unit not in ("auto", INTEGER, "year"):
        raise DataError(f"the times are plain integers and have no {unit}; use --granularity step, or year")
    return "year" if unit == "year" else INTEGER


def _refuse_mixture(moments: Moments, place: Place) -> None:
    integer = int(np.flatnonzero(moments.precision == INTEGER)[0])
    dated = int(np.flatnonzero(np.isin(moments.precision, UNITS))[0])
    raise DataError(
        f"dates and plain integers in one graph:\n  {place(dated)} is a date\n  {place(integer)} is an integer\n"
        "if the integers are years, use --granularity year; otherwise write all times in one way"
    )


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
        return f"{_year_text(tick // 12)}-{tick % 12 + 1:02d}"
    seconds = tick * _SECONDS[unit] - (_MONDAY if unit == "week" else 0)
    days, clock = divmod(seconds, 86400)
    cycles, rest = divmod(days + EPOCH - 1, CYCLE_DAYS)
    day = date.fromordinal(CYCLE_DAYS + rest + 1)  # one cycle later, as the calendar of Python has no year 0
    shift = (cycles - 1) * CYCLE_YEARS
    if unit == "week":
        year, week, _ = day.isocalendar()
        return f"{_year_text(year + shift)}-W{week:02d}"
    text = f"{_year_text(day.year + shift)}-{day.month:02d}-{day.day:02d}"
    if unit == "day":
        return text
    text += f"T{clock // 3600:02d}:{clock // 60 % 60:02d}"
    return text if unit != "second" else f"{text}:{clock % 60:02d}"


def _year_text(year: int) -> str:
    return f"{'-' if year < 0 else ''}{abs(year):04d}"
