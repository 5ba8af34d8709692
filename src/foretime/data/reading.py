"""Files and frames as raw tables: columns of names as they stand, with the place of every row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from foretime.config import DataConfig
from foretime.data.columns import NAMES, check_mapping, map_columns
from foretime.data.facts import Ids
from foretime.data.problems import SHOWN, Place, Problems
from foretime.data.streams import COMPRESSIONS, PARQUETS, stem_and_kind
from foretime.data.textfile import SlowRead, data_records, read_fast, read_slowly, see_layout
from foretime.errors import DataError

ABSENT = -1
"""The code of a cell without a value."""


@dataclass(frozen=True)
class Coded:
    """A column of texts: the different values, and for each row the number of its value or `ABSENT`."""

    values: list[str]
    codes: Ids


@dataclass(frozen=True)
class RawTable:
    """The columns of a table by their part in a fact, and a way to say where a row stands."""

    name: str
    columns: dict[str, Coded]
    locate: Callable[[Sequence[int]], list[Place]]
    guessed: bool = False
    """Whether the columns were taken in the usual order, because nothing says which is which."""
    headless: bool = False
    """Whether the first row was taken for a fact, because nobody has said that it names the columns, or does not."""

    def __len__(self) -> int:
        return len(self.columns["subject"].codes)

    @property
    def start(self) -> str:
        """The column that holds the start, or the one time of each row."""
        return "start" if "start" in self.columns else "time"

    @property
    def end(self) -> str:
        """The column that holds the end, or the one time of each row."""
        return "end" if "end" in self.columns else "time"


def read_table(source: Any, name: str, config: DataConfig, problems: Problems) -> RawTable:
    """Return the table in a file or a frame; rows that are bad are reported to `problems`."""
    check_mapping(config.columns)
    if isinstance(source, str | Path):
        path = Path(source)
        table = _read_parquet(path, config, problems) if is_parquet(path) else _read_text(path, config, problems)
    else:
        table = _number_rows(name, _select(as_arrow(source, name), name, config), problems)
    _check_names(table, problems)
    return table


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet, by its name."""
    return stem_and_kind(path)[1] in PARQUETS


def _read_text(path: Path, config: DataConfig, problems: Problems) -> RawTable:
    layout = see_layout(path, config)
    order = problems.order(str(path))
    try:
        table, slow = read_fast(layout), None
    except pa.ArrowInvalid:
        slow = read_slowly(layout)
        table = slow.table
        for line, text in slow.wrong:
            problems.add(Place(order, str(path), line, ""), text)
    if not len(table) and not problems.count:
        raise DataError(f"{path}: a header and no facts; add facts, or use --no-header if it is one")

    @cache
    def lines() -> list[int]:
        return slow.lines if slow else [record.line for record in data_records(layout)]

    def locate(rows: Sequence[int]) -> list[Place]:
        return [Place(order, str(path), lines()[row], "") for row in rows]

    headless = config.header is None and not layout.header and not (slow and _begins_wrong(slow))
    return RawTable(str(path), _encode_all(table, str(path)), locate, not layout.mapped, headless)


def _begins_wrong(read: SlowRead) -> bool:
    """Return whether the first row of a file is not among the rows that could be read."""
    return bool(read.wrong) and (not read.lines or read.wrong[0][0] < read.lines[0])


def _read_parquet(path: Path, config: DataConfig, problems: Problems) -> RawTable:
    if path.suffix.lower() in COMPRESSIONS:
        raise DataError(f"{path}: Parquet is compressed inside; unpack the file first")
    return _number_rows(str(path), _select(read_parquet(path), str(path), config), problems)


def read_parquet(path: Path) -> pa.Table:
    """Return a Parquet file as it is."""
    try:
        return pyarrow.parquet.read_table(path)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path}: cannot be read as Parquet: {reason}; fetch or write it again") from None


def as_arrow(frame: Any, name: str) -> pa.Table:
    """Return a pandas, Polars or Arrow frame as an Arrow table."""
    try:
        if type(frame).__module__.partition(".")[0] == "pandas":
            return pa.Table.from_pandas(frame, preserve_index=False)  # the index is no column
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
    except (pa.ArrowException, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{name}: cannot be read as a table: {reason}; give each column one type") from None
    hint = "; collect() it first" if hasattr(frame, "collect") else ""
    raise DataError(f"{name}: expected a path or a pandas, Polars or Arrow table, not {type(frame).__name__}{hint}")


def _select(table: pa.Table, name: str, config: DataConfig) -> pa.Table:
    positions = map_columns(config.columns, table.column_names, table.num_columns, name)
    if not len(table):
        raise DataError(f"{name}: the table has no rows")
    return pa.table({role: table.column(position) for role, position in positions.items()})


def _number_rows(name: str, table: pa.Table, problems: Problems) -> RawTable:
    order = problems.order(name)

    def locate(rows: Sequence[int]) -> list[Place]:
        return [Place(order, name, row + 1, "row") for row in rows]

    return RawTable(name, _encode_all(table, name), locate)


def _encode_all(table: pa.Table, name: str) -> dict[str, Coded]:
    return {role: _encode(table[role], f"{name}: column {role!r}") for role in table.column_names}


def _encode(column: pa.ChunkedArray, place: str) -> Coded:
    """Return a column of any type as texts: dates as ISO dates, times of day in UTC, integers in digits."""
    coded = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if coded else column.type
    if not _can_be_text(kind):
        raise DataError(f"{place} is of type {kind}; expected text, integers, dates or timestamps")
    if coded:
        array = column.unify_dictionaries().combine_chunks()
    else:
        if pa.types.is_string_view(kind):
            column = column.cast(pa.large_string())
        array = column.dictionary_encode().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # a column without chunks
        array = pa.array([], pa.string()).dictionary_encode()
    return _drop_unused(_texts(array.dictionary, kind), array.indices.cast(pa.int64()).fill_null(ABSENT).to_numpy())


def _texts(values: pa.Array, kind: pa.DataType) -> list[str | None]:
    if pa.types.is_timestamp(kind):
        values = values.cast(pa.timestamp(kind.unit))  # the zone is for show: the instant is in UTC
    texts: list[str | None] = values.cast(pa.string()).to_pylist()
    return texts


def _can_be_text(kind: pa.DataType) -> bool:
    types = pa.types
    tests = (types.is_string, types.is_large_string, types.is_string_view, types.is_integer, types.is_date)
    return any(test(kind) for test in (*tests, types.is_timestamp, types.is_null))


def _drop_unused(values: list[str | None], codes: Ids) -> Coded:
    """Return a column whose values all occur: categories, and the header of a file, may be values of no row."""
    used = np.bincount(codes[codes != ABSENT], minlength=len(values)) > 0
    used &= np.array([value is not None for value in values], dtype=bool)
    renumbered = np.append(np.where(used, np.cumsum(used) - 1, ABSENT), ABSENT)
    kept = [value for value, is_used in zip(values, used, strict=True) if is_used and value is not None]
    return Coded(kept, renumbered[codes].astype(np.int64))


def _check_names(table: RawTable, problems: Problems) -> None:
    for role in NAMES:
        column = table.columns[role]
        rows = np.flatnonzero(np.append([value == "" for value in column.values], True)[column.codes])
        texts = [f"the {role} is empty; give it a name, or remove the row"] * min(len(rows), SHOWN)
        problems.add_rows(rows.tolist(), table.locate, texts)
