"""A split at given times: train before the first one, valid from there, test from the second one on."""

from __future__ import annotations

import numpy as np

from foretime.data.facts import Ids
from foretime.data.splitting import SPLITS, SplitRows
from foretime.data.timeline import Timeline
from foretime.errors import ConfigError, QuestionError


def split_at(ticks: Ids, timeline: Timeline, valid_from: str | None, test_from: str | None) -> SplitRows:
    """Return the rows before a time, from it on, and from a later one on; without the later one test is empty.

    `ticks` are those of the rows, and `timeline` says how times are written. Raises `ConfigError` for a text that is no
    time, for times in the wrong order, and if a split would be empty.
    """
    if valid_from is None:
        raise ConfigError(
            f"test_from {test_from!r} needs valid_from too: the time at which train ends and valid begins"
        )
    first = _tick("valid_from", valid_from, timeline)
    second = int(ticks.max()) + 1 if test_from is None else _tick("test_from", test_from, timeline)
    if test_from is not None and second <= first:
        raise ConfigError(f"test_from {test_from!r} is not after valid_from {valid_from!r}; give a later time")
    parts = SplitRows(
        np.flatnonzero(ticks < first),
        np.flatnonzero((ticks >= first) & (ticks < second)),
        np.flatnonzero(ticks >= second),
    )
    wanted = SPLITS if test_from is not None else SPLITS[:2]
    if empty := [split for split in wanted if not len(getattr(parts, split))]:
        given = f"valid_from {valid_from!r}" + (f" and test_from {test_from!r}" if test_from else "")
        raise ConfigError(
            f"{given}: no fact is left for {' and '.join(empty)}; the times of the data are {timeline.span}, "
            "choose others among these"
        )
    return parts


def check_way(split: str | None, valid_from: str | None, test_from: str | None) -> bool:
    """Return whether a split is made at given times; raise `ConfigError` if another way of splitting is asked for."""
    if valid_from is None and test_from is None:
        return False
    if split not in (None, "auto", "time"):
        raise ConfigError(f"valid_from and test_from are a split by time, not by {split!r}; leave out one of the two")
    return True


def _tick(name: str, text: str, timeline: Timeline) -> int:
    try:
        tick = timeline.tick(text)
    except QuestionError as error:
        raise ConfigError(f"{name}: {error}") from None
    if timeline.binned and tick not in timeline.starts:
        raise ConfigError(f"{name} {text!r} lies within a bin; name the first time of one, or split without bins")
    return tick
