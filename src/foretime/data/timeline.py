"""The timeline of a graph: its steps, numbered from 0, and their names."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, Ids
from foretime.data.times import (
    INTEGER,
    NO_TICK,
    UNITS,
    Moments,
    check_granularity,
    is_coarser,
    parse_time,
    tick_text,
    ticks_of,
)
from foretime.errors import DataError, QuestionError

MOST_STEPS = 1_000_000
MOST_TICK = 10**18
"""The largest whole number that is read as a time."""
BETWEEN = " … "


@dataclass(frozen=True)
class Timeline:
    """Steps in order of time. A step is one tick of the unit or, with bins, a run of ticks."""

    unit: str
    """What a tick is: a unit of the calendar, or `step` for integers."""
    starts: Sequence[int]
    """The first tick of each step: a range where every tick has a step."""
    last: int
    """The last tick of the last step."""
    binned: bool = False
    """Whether a step lasts until the next one begins."""

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def granularity(self) -> str:
        """The unit, or `bins:N`."""
        return f"bins:{len(self)}" if self.binned else self.unit

    @property
    def regular(self) -> bool:
        """Whether every tick between the first and the last has a step of its own."""
        return not self.binned and len(self) == self.last - self.starts[0] + 1

    @classmethod
    def build(cls, unit: str, ticks: Ids, training: Ids, granularity: str = "auto", regular: bool = True) -> Timeline:
        """Return the timeline that covers all the ticks; with `bins:N`, the bins have equally many training ticks."""
        _, bins = check_granularity(granularity)
        ticks, training = ticks[ticks != NO_TICK], training[training != NO_TICK]
        if not len(ticks):
            raise DataError("no fact has a known time; the timeline would be empty")
        first, last = int(ticks.min()), int(ticks.max())
        if bins:
            return cls(unit, _bin_starts(training, bins, first), last, binned=True)
        starts: Sequence[int] = range(first, last + 1) if regular else tuple(np.unique(ticks).tolist())
        if last - first >= MOST_STEPS and len(starts) > MOST_STEPS:
            coarser = "bins:N" if unit in (INTEGER, "year") else f"{UNITS[UNITS.index(unit) - 1]}, or bins:N"
            raise DataError(
                f"the timeline from {tick_text(first, unit)} to {tick_text(last, unit)} has {len(starts):,} steps of "
                f"one {unit}; at most {MOST_STEPS:,} are possible: use a coarser --granularity, as {coarser}, and look "
                "for a wrong time among these two"
            )
        return cls(unit, starts, last)

    @cached_property
    def _ticks(self) -> NDArray[np.int64]:
        return np.asarray(self.starts, dtype=np.int64)

    def steps(self, ticks: Ids) -> Ids:
        """Return the step of each tick, `UNKNOWN` for `NO_TICK`. Every tick must be on the timeline."""
        steps: Ids = ticks - self.starts[0] if self.regular else np.searchsorted(self._ticks, ticks, side="right") - 1
        steps[ticks == NO_TICK] = UNKNOWN
        return steps

    def fits(self, ticks: Ids) -> NDArray[np.bool_]:
        """Return which ticks have a step, or would have one if the timeline went on; one that is not known has."""
        if self.regular:
            inside = ticks >= self.starts[0]
        else:
            step = np.searchsorted(self._ticks, ticks, side="right") - 1
            inside = (step >= 0) & (ticks <= self.last)
            if not self.binned:
                inside &= self._ticks[step] == ticks
        return np.asarray(inside | (ticks == NO_TICK))

    def until(self, tick: int) -> Timeline:
        """Return the timeline as it is, or one that goes on to a later tick."""
        if tick <= self.last:
            return self
        if tick - self.starts[0] >= MOST_STEPS:
            raise DataError(
                f"the timeline from {tick_text(self.starts[0], self.unit)} to {tick_text(tick, self.unit)} would have "
                f"more than {MOST_STEPS:,} steps; look for a wrong time"
            )
        return Timeline(self.unit, range(self.starts[0], tick + 1), tick)

    def tick(self, text: str) -> int:
        """Return the tick of a time that a user names, on the timeline or not; raise `QuestionError` if it is none."""
        return self._tick(text.split(BETWEEN)[0] if self.binned else text)

    def steps_before(self, tick: int) -> int:
        """Return how many steps, perhaps beyond the last one, are over before a tick."""
        if self.regular:
            return max(tick - self.starts[0], 0)
        if tick > self.last:
            return len(self)
        # what lies in one bin cannot be told apart, so the bin of the tick is not over
        return max(bisect_right(self.starts, tick) - 1, 0) if self.binned else bisect_left(self.starts, tick)

    def label(self, step: int) -> str:
        """Return the name of a step: `2014-11-16`, `2014-W07`, `2014-11`, `986`, `17`, or `a … b` for a bin.

        A regular timeline names the steps after its last one too.
        """
        first = self.starts[0] + step if step >= len(self) and self.regular else self.starts[step]
        if not self.binned:
            return tick_text(first, self.unit)
        last = self.last if step in (-1, len(self) - 1) else self.starts[step + 1] - 1
        return tick_text(first, self.unit) + (BETWEEN + tick_text(last, self.unit) if last > first else "")

    @property
    def span(self) -> str:
        """The first and the last time, in words."""
        return f"{tick_text(self.starts[0], self.unit)} to {tick_text(self.last, self.unit)}"

    def step(self, text: str, beyond: bool = False) -> int:
        """Return the step of a time that a user names, in the words of `label` or more precisely.

        With `beyond`, a time after the last one has the step that it would have if the timeline went on.
        """
        tick = self.tick(text)
        if tick > self.last:
            return self._step_beyond(text, tick, beyond)
        if tick < self.starts[0]:
            raise QuestionError(f"{text!r} is not on the timeline, {self.span}; ask for a time between these")
        step = bisect_right(self.starts, tick) - 1
        if not self.binned and self.starts[step] != tick:
            near = " and ".join(self.label(other) for other in (step, step + 1) if other < len(self))
            raise QuestionError(f"no event at {text!r}; the nearest times with one are {near}")
        return step

    def _step_beyond(self, text: str, tick: int, beyond: bool) -> int:
        outside = f"{text!r} is not on the timeline, {self.span}"
        if not beyond:
            raise QuestionError(
                f"{outside}; ask for a time between these, or give a later one to a run trained with --past-only"
            )
        if not self.regular:
            kind, remedy = ("of bins", "without bins") if self.binned else ("irregular", "without --irregular")
            raise QuestionError(
                f"{outside}, and this one is {kind}: it does not say which step a later time has; ask for a time "
                f"between these, or train on a regular timeline, {remedy}"
            )
        return tick - self.starts[0]

    def _tick(self, text: str) -> int:
        moment = parse_time(text.strip())
        if moment is None or moment.precision == "unknown":
            raise QuestionError(f"{text!r} is not a time; write it as in {self.label(0)} ({self.span})")
        ours, theirs = self.unit == INTEGER, moment.precision == INTEGER
        if ours != theirs and not (theirs and self.unit == "year"):
            raise QuestionError(f"{text!r} is not a {self.unit}; write it as in {self.label(0)} ({self.span})")
        if is_coarser(moment.precision, self.unit):
            near = f"write a {self.unit}, as in {self.label(0)} ({self.span})"
            raise QuestionError(f"{text!r} is precise to the {moment.precision} only; {near}")
        return int(ticks_of(Moments(np.array([moment.precision]), np.array([moment.value])), self.unit)[0])

    def to_dict(self) -> dict[str, Any]:
        """Return the timeline as JSON can hold it."""
        if self.regular:
            return {"unit": self.unit, "first": self.starts[0], "last": self.last}
        return {"unit": self.unit, "starts": list(self.starts), "last": self.last, "binned": self.binned}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Timeline:
        """Return the timeline that `to_dict` described; raise `ValueError` if it describes none.

        A file may say anything: a thousand million steps would take gigabytes before a fact is looked at.
        """
        unit, last, binned = values["unit"], values["last"], values.get("binned", False)
        starts = range(values["first"], last + 1) if "first" in values else tuple(values["starts"])
        if unit not in (*UNITS, INTEGER) or not isinstance(binned, bool):
            raise ValueError("its timeline has no unit, or does not say whether it has bins")
        # the ends come first: Python cannot tell the length of a range that is long enough
        if any(type(tick) is not int or abs(tick) > MOST_TICK for tick in (*starts[:1], *starts[-1:], last)):
            raise ValueError("its timeline does not begin and end at whole numbers")
        if not 1 <= len(starts) <= MOST_STEPS:
            raise ValueError(f"its timeline has {len(starts):,} steps, and not 1 to {MOST_STEPS:,}")
        found = cls(unit, starts, last, binned)
        found._check_order()
        return found

    def _check_order(self) -> None:
        """Raise `ValueError` unless the steps come one after the other, and all have names."""
        if isinstance(self.starts, tuple) and any(type(tick) is not int for tick in self.starts):
            raise ValueError("a step of its timeline is not a whole number")
        if np.any(self._ticks[1:] <= self._ticks[:-1]) or self.last < self.starts[-1]:
            raise ValueError("its timeline goes back in time")
        try:
            self.label(0), self.label(-1)
        except OverflowError:
            raise ValueError("its timeline goes beyond the calendar") from None


def _bin_starts(training: Ids, bins: int, first: int) -> tuple[int, ...]:
    """Return the first tick of each bin.

    A tick is never cut: it belongs to the bin in which the middle of its events falls, so that ticks with more events
    than a bin should hold make fewer bins.
    """
    ticks, counts = np.unique(training, return_counts=True)
    if len(ticks) < bins:
        raise DataError(f"bins:{bins} needs {bins} different times in train, found {len(ticks)}; use fewer bins")
    middle = np.cumsum(counts) - counts / 2
    number = np.floor(middle * bins / counts.sum()).astype(np.int64)
    opens = np.flatnonzero(np.diff(number, prepend=-1) > 0)
    return (first, *ticks[opens[1:]].tolist())
