"""From raw tables to vocabularies, a timeline and facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from foretime.config import DataConfig
from foretime.data.borders import check_way, split_at
from foretime.data.columns import EVENT, HOW, INTERVAL, NAMES
from foretime.data.facts import Facts, Ids
from foretime.data.formats.table import ABSENT, Coded, RawTable
from foretime.data.problems import SHOWN, Problems
from foretime.data.sources import IdNames
from foretime.data.splitting import SPLITS, SplitRows, split_rows
from foretime.data.timeline import Timeline
from foretime.data.times import ACCEPTED, NO_TICK, Moments, choose_unit, parse_times, ticks_of
from foretime.data.vocabulary import Vocabulary


@dataclass(frozen=True)
class JoinedRows:
    """The rows of all tables, one table after the other: texts by their codes, times as ticks."""

    subject: Coded
    predicate: Coded
    object: Coded
    start: Ids
    end: Ids
    unit: str


Assembled = tuple[Vocabulary, Vocabulary, Timeline, Facts, Facts, Facts]
"""All that a graph is made of: entities, predicates, timeline, and the facts of train, valid and test."""


def assemble(
    tables: dict[str, RawTable], names: dict[str, IdNames], config: DataConfig, problems: Problems
) -> Assembled:
    """Return what a graph is made of; raise one `DataError` with every bad row, if there is any."""
    rows = join_tables(list(tables.values()), names, config, problems)
    parts = choose_parts(rows, [len(table) for table in tables.values()], config)
    start, end = rows.start[parts.train], rows.end[parts.train]
    known, training = np.concatenate([rows.start, rows.end]), np.concatenate([start, end[end != start]])
    timeline = Timeline.build(rows.unit, known, training, config.granularity, config.regular)
    ends = _join([rows.subject, rows.object])
    subject, object_ = np.split(ends.codes, 2)
    facts = Facts(subject, rows.predicate.codes, object_, timeline.steps(rows.start), timeline.steps(rows.end))
    return divide(facts, parts, ends.values, rows.predicate.values, timeline)


def divide(
    facts: Facts, parts: SplitRows, entities: Sequence[str], predicates: Sequence[str], timeline: Timeline
) -> Assembled:
    """Return the facts in three splits, with ids in the order in which these show the names first."""
    order = np.concatenate(parts)
    ends, (subject, object_) = _number("entity", entities, np.stack([facts.subject, facts.object]), order)
    middle, (predicate,) = _number("predicate", predicates, facts.predicate[None], order)
    renumbered = Facts(subject, predicate, object_, facts.start, facts.end)
    train, valid, test = (renumbered.take(rows) for rows in parts)
    return ends, middle, timeline, train, valid, test


def choose_parts(rows: JoinedRows, lengths: list[int], config: DataConfig) -> SplitRows:
    """Return the rows of each split: those of each table, or a split that is made as the configuration says."""
    times = np.where(rows.start == NO_TICK, rows.end, rows.start)
    if check_way(config.split, config.valid_from, config.test_from):
        every = Timeline(rows.unit, (int(times.min()),), int(times.max()))
        return split_at(times, every, config.valid_from, config.test_from)
    if config.split == "auto" and len(lengths) == len(SPLITS):
        return SplitRows(*np.split(np.arange(sum(lengths)), np.cumsum(lengths)[:-1]))
    by = "random" if config.split == "auto" else config.split
    return split_rows(times, by, config.valid_share, config.test_share, config.split_seed)


def join_tables(
    tables: list[RawTable], names: dict[str, IdNames], config: DataConfig, problems: Problems
) -> JoinedRows:
    """Return the rows of all tables, checked: the last door at which bad rows are reported, and stopped."""
    for table in tables:
        _check_ids(table, names, problems)
    times = _Times.parse(tables)
    times.check(problems)
    problems.check()
    unit = choose_unit(times.moments, config.granularity, times.first_place)
    ticks = ticks_of(times.moments, unit)
    columns = {role: _join([table.columns[role] for table in tables]) for role in NAMES}
    for role, known in names.items():
        columns[role] = _join([Coded([known.names[value] for value in columns[role].values], columns[role].codes)])
    return JoinedRows(**columns, start=ticks[times.start], end=ticks[times.end], unit=unit)


def _check_ids(table: RawTable, names: dict[str, IdNames], problems: Problems) -> None:
    for role, known in names.items():
        column = table.columns[role]
        unknown = [value not in known.names and value != "" for value in column.values]
        rows = np.flatnonzero(np.append(unknown, False)[column.codes])
        texts = [
            f"the {role} {column.values[code]!r} is not in {known.path.name}; add it, or use --names as-is"
            for code in column.codes[rows[:SHOWN]]
        ]
        problems.add_rows(rows.tolist(), table.locate, texts)


def _join(columns: list[Coded]) -> Coded:
    """Return one column after the other as one column, in which equal values have one code."""
    values = pa.array([value for column in columns for value in column.values], pa.large_string()).dictionary_encode()
    codes = np.append(values.indices.to_numpy(), ABSENT).astype(np.int64)
    offsets = np.cumsum([0, *(len(column.values) for column in columns[:-1])])
    moved = [
        codes[np.where(column.codes == ABSENT, ABSENT, column.codes + offset)]
        for column, offset in zip(columns, offsets, strict=True)
    ]
    return Coded(values.dictionary.to_pylist(), np.concatenate(moved))


def _number(kind: str, names: Sequence[str], codes: Ids, order: Ids) -> tuple[Vocabulary, Ids]:
    """Return the names in the order in which the rows show them first, and the ids of each column: (columns, rows)."""
    shown = codes[:, order].T.ravel()
    first = np.empty(len(names), dtype=np.int64)
    first[shown[::-1]] = np.arange(len(shown))[::-1]  # the last one that is written is the first that is shown
    ranked = np.argsort(first)
    ids = np.empty_like(ranked)
    ids[ranked] = np.arange(len(ranked))
    return Vocabulary(kind, [names[i] for i in ranked]), ids[codes]


_IF_A_HEADER = (
    "; if this row names the columns, say --header, and which is which with "
    "--columns subject=…,predicate=…,object=…,time=…"
)


def _other_layout(role: str) -> str:
    """Return what to do about a column that was taken for times and has none."""
    column = (INTERVAL if role in INTERVAL else EVENT).index(role) + 1
    return (
        f"anything else in column {column}; the table seems to have another layout: {HOW}; "
        f"if it has not, write times as {ACCEPTED}"
    )


@dataclass(frozen=True)
class _Times:
    """The different times of all tables, and for each row the number of its start and of its end."""

    tables: list[RawTable]
    texts: list[str]
    moments: Moments
    start: Ids
    end: Ids

    @classmethod
    def parse(cls, tables: list[RawTable]) -> _Times:
        ends = [table.columns[table.start] for table in tables] + [table.columns[table.end] for table in tables]
        joined = _join(ends)
        texts = [*joined.values, ""]  # a cell without a value has the code -1, and so the last text
        start, end = np.split(joined.codes % len(texts), 2)
        return cls(tables, texts, parse_times(texts), start, end)

    def check(self, problems: Problems) -> None:
        """Report rows with a text that is no time, and rows without any known time."""
        offset = 0
        for table in self.tables:
            rows = slice(offset, offset + len(table))
            self._check_table(table, self.start[rows], self.end[rows], problems)
            offset += len(table)

    def _check_table(self, table: RawTable, start: Ids, end: Ids, problems: Problems) -> None:
        wrong, unknown = self.moments.precision == "", self.moments.precision == "unknown"
        for role, codes in {table.start: start, table.end: end}.items():
            rows = np.flatnonzero(wrong[codes])
            texts = [f"the {role} {self.texts[codes[row]]!r} is not a time" for row in rows[:SHOWN]]
            if table.guessed and len(rows) > 1 and bool((wrong | unknown)[codes].all()):
                # one word about the column says more than one about each row
                problems.add_rows(rows[:1].tolist(), table.locate, [f"{texts[0]}, nor is {_other_layout(role)}"])
                continue
            texts = [f"{text}; write {ACCEPTED}" for text in texts]
            if table.headless and len(rows) and rows[0] == 0:
                texts[0] += _IF_A_HEADER
            problems.add_rows(rows.tolist(), table.locate, texts)
        rows = np.flatnonzero(unknown[start] & unknown[end])
        which = (
            "the time is not known; give it" if table.start == table.end else "neither start nor end is known; give one"
        )
        problems.add_rows(rows.tolist(), table.locate, [f"{which}, or remove the row"] * min(len(rows), SHOWN))

    def first_place(self, number: int) -> str:
        """Return where a time stands first, and its text."""
        row = min(int(np.append(np.flatnonzero(codes == number), len(codes))[0]) for codes in (self.start, self.end))
        for table in self.tables:
            if row < len(table):
                return f"{table.locate([row])[0]}: {self.texts[number]!r}"
            row -= len(table)
        raise LookupError(number)
