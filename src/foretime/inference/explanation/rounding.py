"""Numbers that still add up when they are printed."""

from __future__ import annotations

import math
from collections.abc import Sequence

DIGITS = 3
"""Digits after the point. A unit is one of the last digit."""
UNIT = 1000


def units_of(value: float) -> int:
    """Return a value in units."""
    return round(value * UNIT)


def adding_up(values: Sequence[float], total: int) -> list[int]:
    """Return the values in units so that they add up to `total`, those that are cut off most rounded up first."""
    if not values:
        return []
    scaled = [value * UNIT for value in values]
    units = [math.floor(value) for value in scaled]
    each, left = divmod(total - sum(units), len(units))
    by_rest = sorted(range(len(units)), key=lambda i: units[i] - scaled[i])
    for place, i in enumerate(by_rest):
        units[i] += each + (place < left)
    return units


def written(units: int, sign: bool = False) -> str:
    """Return units as a number: `-0.250`, or `+1.500` with a sign."""
    whole, rest = divmod(abs(units), UNIT)
    mark = "-" if units < 0 else "+" if sign else ""
    return f"{mark}{whole}.{rest:0{DIGITS}d}"


def sum_text(summands: Sequence[tuple[str, int]]) -> str:
    """Return named summands in units as a sum: `event -1.200 + commonsense 0.100 - evidence 0.300`."""
    if not summands:
        return written(0)
    (first, units), *rest = summands
    signs = ("-" if unit < 0 else "+" for _, unit in rest)
    more = (f" {sign} {name} {written(abs(unit))}" for sign, (name, unit) in zip(signs, rest, strict=True))
    return f"{first} {written(units)}{''.join(more)}"
