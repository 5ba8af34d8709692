"""How fast what was measured grows: the exponent between one size and the next, and over all of them."""

from __future__ import annotations

import math
from typing import Any

Row = dict[str, Any]
MEASURES = ("whole_seconds", "own_mb")


def slopes(rows: list[Row]) -> list[Row]:
    """Return an exponent for each stage and measure: over events with the entities fixed, and the other way round.

    An exponent is the slope of a straight line through the logarithms; `last` is that of the two largest sizes alone.
    """
    found = []
    done = [with_own_memory(row) for row in rows if row["status"] == "done"]
    for over, fixed in (("events", "entities"), ("entities", "events")):
        for stage in dict.fromkeys(row["stage"] for row in done):
            for at in sorted({row[fixed] for row in done}):
                series = sorted(
                    (row for row in done if (row["stage"], row[fixed]) == (stage, at)), key=lambda r: r[over]
                )
                if len(series) > 1:
                    found.append({"stage": stage, "over": over, fixed: at, **_exponents(series, over)})
    return found


def with_own_memory(row: Row) -> Row:
    """Return a row with the memory that the stage took above its libraries."""
    return {**row, "own_mb": max(1.0, row["memory_mb"] - row["empty_mb"])}


def _exponents(series: list[Row], over: str) -> Row:
    result: Row = {"from": series[0][over], "to": series[-1][over]}
    for measure in MEASURES:
        points = [(math.log(row[over]), math.log(row[measure])) for row in series]
        result[measure] = {"all": _slope(points), "last": _slope(points[-2:])}
    return result


def _slope(points: list[tuple[float, float]]) -> float:
    mean_x, mean_y = (sum(column) / len(points) for column in zip(*points, strict=True))
    width = sum((x - mean_x) ** 2 for x, _ in points)
    return round(sum((x - mean_x) * (y - mean_y) for x, y in points) / width, 3)
