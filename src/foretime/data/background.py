"""Facts without a time: background that is always known, that no step of the timeline has and no split asks about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from foretime.config import DataConfig
from foretime.data.columns import NAMES
from foretime.data.facts import Ids
from foretime.data.formats import read_table
from foretime.data.formats.table import ABSENT, Coded, RawTable
from foretime.data.problems import Problems
from foretime.data.splitting import SPLITS

BACKGROUND = "background"
"""The name of the facts without a time, beside those of the splits."""


class TimelessConfig(DataConfig):
    """How a table of facts without a time is read: as `[data]` says, with three columns."""

    timeless: ClassVar[bool] = True


class TimelessRows(NamedTuple):
    """The rows without a time: those that are background, and how many of each table are, or are left out."""

    background: Ids
    taken: dict[str, int]
    left_out: dict[str, int]

    def notes(self, tables: dict[str, RawTable]) -> list[str]:
        """Return what became background, one sentence for each table of events that has some."""
        return [
            f"{_some(count, tables[split])} no time: background, no event{'' if count == 1 else 's'}"
            for split, count in self.taken.items()
            if count and split != BACKGROUND
        ]

    def warnings(self, tables: dict[str, RawTable]) -> list[str]:
        """Return what was left out, one sentence for each table that has some."""
        return [
            f"{_some(count, tables[split])} no time: left out, for {split} cannot ask about such a fact, and what was "
            "held out is no background"
            for split, count in self.left_out.items()
            if count
        ]


def _some(count: int, table: RawTable) -> str:
    return f"{count:,} of the {len(table):,} facts in {table.name} {'has' if count == 1 else 'have'}"


def read_background(source: Any, name: str, config: DataConfig, problems: Problems) -> RawTable:
    """Return a table of facts without a time: subject, predicate and object, found as those of other tables are."""
    columns = {role: config.columns[role] for role in NAMES if role in config.columns}
    reading = TimelessConfig.model_construct(**{**dict(config), "columns": columns})
    table = read_table(source, name, reading, problems)
    nothing = Coded([], np.full(len(table), ABSENT, dtype=np.int64))
    return replace(table, columns={**table.columns, "time": nothing})


def timeless_rows(tables: dict[str, RawTable], dated: np.ndarray[Any, np.dtype[np.bool_]], kept: bool) -> TimelessRows:
    """Return which rows without a time are background; `kept` is whether the splits stay as the tables have them.

    What valid and test hold out must not be learned from, with a time or without one: their rows are left out. Where
    all rows are pooled to be split anew, nothing was held out yet, and all are background.
    """
    found, counts, first = [], {}, 0
    for split, table in tables.items():
        rows = first + np.flatnonzero(~dated[first : first + len(table)])
        counts[split] = len(rows)
        if not (kept and split in SPLITS[1:]):
            found.append(rows)
        first += len(table)
    taken = {split: count for split, count in counts.items() if not (kept and split in SPLITS[1:])}
    left_out = {split: count for split, count in counts.items() if split not in taken}
    return TimelessRows(np.concatenate(found) if found else np.empty(0, dtype=np.int64), taken, left_out)
