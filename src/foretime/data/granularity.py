"""The unit in which the times of a graph are counted, chosen by how precise most of them are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foretime.data.times import INTEGER, PRECISIONS, UNITS, VAGUE, Moments, check_granularity, is_coarser
from foretime.errors import DataError

FEW = 0.05
"""A share of times below this decides nothing for the others."""
CLOCK = ("hour", "minute", "second")


@dataclass(frozen=True)
class UnitChoice:
    """The unit of a timeline, the times that cannot be counted in it, and what was guessed."""

    unit: str
    misfits: NDArray[np.bool_]
    """Integers among dates, or dates among integers, (times,)."""
    doubts: tuple[str, ...] = ()


def are_few(part: int, rest: int) -> bool:
    """Return whether some times are so few beside the others that they decide nothing."""
    return part <= FEW * (part + rest) or (part == 1 and rest >= 3)


def choose_unit(
    moments: Moments, counts: NDArray[np.int64], granularity: str, place: Callable[[int], str]
) -> UnitChoice:
    """Return the unit in which the times are counted; raise `DataError` where that would be a mere guess.

    `counts` says how often each time occurs, and `place` where it stands first. Plain integers are years if the
    granularity is `year` or if some other time is just a year; otherwise they and dates cannot be in one graph, and
    a few among many are misfits. `auto` is the day, or the unit to which most times are precise if that is coarser:
    a few less precise ones are then not known to the step. With bins it is not the day but the finest such unit.
    """
    unit, bins = check_granularity(granularity)
    dated, integer = np.isin(moments.precision, PRECISIONS), moments.precision == INTEGER
    dates, integers = int(counts[dated].sum()), int(counts[integer].sum())
    nothing = np.zeros_like(dated)

    def first(which: NDArray[np.bool_]) -> str:
        return place(int(np.flatnonzero(which & (counts > 0))[0]))

    years = np.isin(moments.precision, ("year", *VAGUE))
    mixed = dates > 0 and integers > 0 and unit != "year" and not counts[years].any()
    if mixed and not (are_few(dates, integers) or are_few(integers, dates)):
        raise DataError(
            f"dates and plain integers in one graph:\n  {first(dated)} is a date\n  {first(integer)} is an integer\n"
            "if the integers are years, use --granularity year; otherwise write all times in one way, and say which "
            "with --date-format"
        )
    if not dates and not integers and unit != "auto":
        return UnitChoice(unit, nothing)
    if not dates or (mixed and dates < integers):
        if unit not in ("auto", INTEGER, "year"):
            raise DataError(f"the times are plain integers and have no {unit}; use --granularity step, or year")
        return UnitChoice("year" if unit == "year" else INTEGER, dated if mixed else nothing)
    if unit == INTEGER:
        raise DataError("the times are dates and have no integer step; use --granularity day, or a coarser unit")
    misfits = integer if mixed else nothing
    by_precision = {name: int(counts[moments.precision == name].sum()) for name in PRECISIONS}
    by_precision["year"] += 0 if mixed else integers
    if unit == "auto":
        unit = _usual_unit(by_precision, "second" if bins else "day", lambda name: first(moments.precision == name))
    coarser = {name: count for name, count in by_precision.items() if count and is_coarser(name, unit)}
    if sum(coarser.values()) == sum(by_precision.values()):
        name = max(coarser, key=PRECISIONS.index)
        remedy = "year, or a coarser unit" if name in VAGUE else f"{name}, or a coarser unit"
        raise DataError(f"{first(moments.precision == name)} is precise to the {name} only; use --granularity {remedy}")
    return UnitChoice(unit, misfits, tuple(_coarse_doubts(coarser, unit, by_precision)))


def _usual_unit(by_precision: dict[str, int], finest: str, first: Callable[[str], str]) -> str:
    """Return the finest unit to which all times but a few are precise; ask where many are and many are not."""
    total = sum(count for name, count in by_precision.items() if name not in VAGUE)
    for unit in reversed(UNITS[: UNITS.index(finest) + 1]):
        lost = [name for name in UNITS if is_coarser(name, unit) and by_precision[name]]
        count = sum(by_precision[name] for name in lost)
        if are_few(count, total - count) and count < total:
            return unit
        if count < total / 2:
            coarse = lost[0]
            raise DataError(
                f"{count:,} of {total:,} times are less precise than the {unit}, as {first(coarse)}; say --granularity "
                f"{coarse} to read all by the {coarse}, or --granularity {unit}, to which these are not known"
            )
    return "year"


def _coarse_doubts(coarser: dict[str, int], unit: str, by_precision: dict[str, int]) -> list[str]:
    """Return what happened to times that are less precise than others."""
    doubts = [
        f"{count:,} time{' is' if count == 1 else 's are'} precise to the {name} only, and so not known to the step "
        f"of one {unit}"
        for name, count in coarser.items()
    ]
    finer = sum(count for name, count in by_precision.items() if is_coarser(unit, name))
    if finer and unit in ("year", "month"):
        count = by_precision[unit]
        doubts.append(f"one step is one {unit}, for {count:,} times are no more precise; {finer:,} would be finer")
    return doubts


def without_midnights(moments: Moments, granularity: str) -> tuple[Moments, list[str]]:
    """Return times that are midnight throughout as days, or as years if all are 1 January; and what was done.

    Databases and SPARQL write `1986-01-01T00:00:00Z` for a year: nothing happens at midnight only. Where a unit is
    asked for, the times stay as they are.
    """
    clock = np.isin(moments.precision, CLOCK)
    seconds = moments.value[clock]
    if check_granularity(granularity)[0] != "auto" or not len(seconds) or (seconds % 86400).any():
        return moments, []
    days = seconds.astype("datetime64[s]").astype("datetime64[D]")
    new_year = bool((days == days.astype("datetime64[Y]").astype("datetime64[D]")).all())
    others = np.isin(moments.precision, PRECISIONS) & ~clock
    precision = "year" if new_year and len(set(seconds.tolist())) > 1 and not others.any() else "day"
    when = "midnight on 1 January" if precision == "year" else "midnight"
    changed = np.where(clock, precision, moments.precision)
    return Moments(changed, moments.value), [f"every time of day is {when}, so times are precise to the {precision}"]
