"""From raw tables to vocabularies, a timeline and facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.config import DataConfig
from foretime.data.background import BACKGROUND, timeless_rows
from foretime.data.borders import check_way, split_at
from foretime.data.columns import NAMES
from foretime.data.facts import Facts, Ids
from foretime.data.formats.table import Coded, RawTable, join_columns, share_values
from foretime.data.problems import Problems, TableProblems
from foretime.data.sources import IdNames
from foretime.data.splitting import SPLITS, SplitRows, split_rows
from foretime.data.time_columns import TimeColumns
from foretime.data.timeline import Timeline
from foretime.data.times import NO_TICK
from foretime.data.vocabulary import Vocabulary
from foretime.errors import DataError

_LOOKED_AT = 1 << 16  # rows whose new names are found at once


@dataclass(frozen=True)
class JoinedRows:
    """The rows of all tables, one table after the other: texts by their codes, times as ticks."""

    subject: Coded
    predicate: Coded
    object: Coded
    start: Ids
    end: Ids
    unit: str
    tables: list[RawTable]
    """The tables, without their bad rows if these are skipped."""

    @cached_property
    def dated(self) -> NDArray[np.bool_]:
        """Which rows have a time, (rows,)."""
        dated = self.start != NO_TICK
        return np.asarray(dated if self.end is self.start else dated | (self.end != NO_TICK))


class Assembled(NamedTuple):
    """All that a graph is made of."""

    entities: Vocabulary
    predicates: Vocabulary
    timeline: Timeline
    train: Facts
    valid: Facts
    test: Facts
    notes: tuple[str, ...]
    background: Facts


def assemble(
    tables: dict[str, RawTable], names: dict[str, IdNames], config: DataConfig, problems: Problems
) -> Assembled:
    """Return what a graph is made of; raise one `DataError` with every bad row, if there is any and none is skipped.

    Rows without a time are background; the notes say how many there are.
    """
    rows = join_tables(list(tables.values()), names, config, problems, timeless=True)
    tables = dict(zip(tables, rows.tables, strict=True))
    lengths = [len(table) for split, table in tables.items() if split != BACKGROUND]
    if not rows.dated[: sum(lengths)].any():
        raise DataError(
            "no fact has a known time; the timeline would be empty: say which column has the times with --columns "
            "time=COLUMN, or add facts with a time"
        )
    parts = choose_parts(rows, lengths, config)
    timeless = timeless_rows(tables, rows.dated, keeps_splits(lengths, config))
    problems.doubts += timeless.warnings(tables)
    if len(lengths) == 1 and config.split == "auto" and config.valid_from is None:
        shares = f"{config.valid_share:.0%} valid, {config.test_share:.0%} test, seed {config.split_seed}"
        problems.notes.append(f"split at random: {shares}")
    timeline = _build_timeline(rows, parts.train, config)
    start = timeline.steps(rows.start)
    end = start if rows.end is rows.start else timeline.steps(rows.end)
    entities, (subject, object_) = share_values([rows.subject, rows.object])
    facts = Facts(subject, rows.predicate.codes, object_, start, end)
    made = divide(facts, parts, entities, rows.predicate.values, timeline, timeless.background)
    return made._replace(notes=tuple(timeless.notes(tables)))


def _build_timeline(rows: JoinedRows, train: Ids, config: DataConfig) -> Timeline:
    """Return the timeline of all rows; bins have equally many times of train, where one at both ends counts once."""
    known, training = rows.start, rows.start[train]
    if rows.end is not rows.start:
        end = rows.end[train]
        known, training = np.concatenate([known, rows.end]), np.concatenate([training, end[end != training]])
    return Timeline.build(rows.unit, known, training, config.granularity, config.regular)


def divide(
    facts: Facts,
    parts: SplitRows,
    entities: Sequence[str],
    predicates: Sequence[str],
    timeline: Timeline,
    background: Ids,
) -> Assembled:
    """Return the facts in three splits, with ids in the order in which these show the names first.

    Names that only the rows of the background have come last, and names that no row has are left out.
    """
    found = [facts.take(rows) for rows in (*parts, background)]
    ends, entity = _number("entity", entities, [(part.subject, part.object) for part in found])
    middle, predicate = _number("predicate", predicates, [(part.predicate,) for part in found])
    train, valid, test, timeless = (
        Facts(entity[part.subject], predicate[part.predicate], entity[part.object], part.start, part.end)
        for part in found
    )
    return Assembled(ends, middle, timeline, train, valid, test, (), timeless)


def choose_parts(rows: JoinedRows, lengths: list[int], config: DataConfig) -> SplitRows:
    """Return the dated rows of each split: those of each table, or a split that is made as the configuration says."""
    dated = np.flatnonzero(rows.dated)
    times = rows.start if rows.end is rows.start else np.where(rows.start == NO_TICK, rows.end, rows.start)
    times = times if len(dated) == len(times) else times[dated]
    if keeps_splits(lengths, config):
        return SplitRows(*np.split(dated, np.searchsorted(dated, np.cumsum(lengths)[:-1])))
    if check_way(config.split, config.valid_from, config.test_from):
        every = Timeline(rows.unit, (int(times.min()),), int(times.max()))
        parts = split_at(times, every, config.valid_from, config.test_from)
    else:
        by = "random" if config.split == "auto" else config.split
        parts = split_rows(times, by, config.valid_share, config.test_share, config.split_seed)
    return parts if len(dated) == len(rows.dated) else SplitRows(*(dated[part] for part in parts))


def keeps_splits(lengths: list[int], config: DataConfig) -> bool:
    """Return whether the splits are those of the tables, and none is made anew."""
    anew = check_way(config.split, config.valid_from, config.test_from)
    return not anew and config.split == "auto" and len(lengths) == len(SPLITS)


def join_tables(
    tables: list[RawTable], names: dict[str, IdNames], config: DataConfig, problems: Problems, timeless: bool = False
) -> JoinedRows:
    """Return the rows of all tables, checked: the last door at which bad rows are reported, and stopped or skipped.

    A row without any known time is a bad one, unless such rows are wanted as `timeless`.
    """
    found = [problems.of_table(len(table), table.locate) for table in tables]
    for table, own in zip(tables, found, strict=True):
        table.check_names(own)
        _check_ids(table, names, own)
    times = TimeColumns.parse(tables, config, problems)
    times.check(found)
    # what is wrong with single rows is said before what is wrong with all of them together
    unit = None if problems.stops else times.choose_unit(config.granularity, found, problems)
    ticks = times.ticks(unit)
    times.check_known(ticks, unit, found, timeless)
    good = ~np.concatenate([own.bad for own in found])
    problems.check(kept=int(good.sum()))
    tables = [table.take(~own.bad) for table, own in zip(tables, found, strict=True)]
    columns = {role: join_columns([table.columns[role] for table in tables]) for role in NAMES}
    for role, known in names.items():
        columns[role] = join_columns(
            [Coded([known.names[value] for value in columns[role].values], columns[role].codes)]
        )
    start = ticks[times.start[good]]
    end = start if times.end is times.start else ticks[times.end[good]]
    return JoinedRows(**columns, start=start, end=end, unit=unit or "", tables=tables)


def _check_ids(table: RawTable, names: dict[str, IdNames], problems: TableProblems) -> None:
    for role, known in names.items():
        column = table.columns[role]
        unknown = np.array([value not in known.names and value != "" for value in column.values], dtype=bool)
        text = partial(_unnamed, role, column, known.path.name)
        problems.add(column.rows(unknown), f"{role} without a name", text)


def _unnamed(role: str, column: Coded, file: str, row: int) -> str:
    return f"the {role} {column.values[column.codes[row]]!r} is not in {file}; add it, or use --names as-is"


def _number(kind: str, names: Sequence[str], parts: Iterable[tuple[Ids, ...]]) -> tuple[Vocabulary, Ids]:
    """Return the names in the order in which the rows show them first, and the id of each code.

    A part is some columns of codes, (rows,) each; a row shows the name in its first column first. A name that no part
    has is left out. Few names are new after the first rows, and only these are sorted.
    """
    ids, order = np.full(len(names), -1, dtype=np.int64), np.empty(0, dtype=np.int64)
    for columns in parts:
        for first in range(0, len(columns[0]), _LOOKED_AT):
            shown = np.stack([column[first : first + _LOOKED_AT] for column in columns], axis=1).ravel()
            new, place = np.unique(shown[ids[shown] < 0], return_index=True)
            new = new[np.argsort(place)]
            ids[new] = np.arange(len(order), len(order) + len(new))
            order = np.append(order, new)
            if len(order) == len(names):
                break
    return Vocabulary(kind, [names[code] for code in order.tolist()]), ids
