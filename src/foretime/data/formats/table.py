"""Raw tables: columns of texts as they stand in a file or a frame, with the place of every row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from foretime.config import DataConfig
from foretime.data.columns import NAMES, map_columns
from foretime.data.facts import Ids
from foretime.data.problems import SHOWN, Place, Problems
from foretime.data.splitting import SplitRows
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
    """The columns of a table by their role in a fact, and a way to say where a row stands."""

    name: str
    columns: dict[str, Coded]
    lines: Callable[[], Sequence[int]] | None = None
    """The line of each row; none: the table has no lines, and rows are numbered."""
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

    def locate(self, rows: Sequence[int]) -> list[Place]:
        """Return where rows stand."""
        if self.lines is None:
            return [Place(self.name, row + 1, "row") for row in rows]
        lines = self.lines()
        return [Place(self.name, lines[row]) for row in rows]

    def check_names(self, problems: Problems) -> None:
        """Report every row with an empty name."""
        for role in NAMES:
            column = self.columns[role]
            rows = np.flatnonzero(np.append([value == "" for value in column.values], True)[column.codes])
            texts = [f"the {role} is empty; give it a name, or remove the row"] * min(len(rows), SHOWN)
            problems.add_rows(rows.tolist(), self.locate, texts)


class FileFormat(NamedTuple):
    """A kind of file that a graph can be read from."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, DataConfig, Problems], RawTable]
    """Returns the table of a file; rows that cannot be read are reported."""
    split: Callable[[Path, DataConfig, SplitRows, Path], list[Path]]
    """Writes the rows of train, valid and test into a folder, as they stand in the file, and returns the files."""
    magic: bytes = b""
    """How such a file begins, where it is not text."""


def table_of_arrow(table: pa.Table, name: str, config: DataConfig) -> RawTable:
    """Return the columns of an Arrow table that the names of its columns, or the configuration, choose."""
    positions = map_columns(config.columns, table.column_names, table.num_columns, name)
    if not len(table):
        raise DataError(f"{name}: the table has no rows")
    return RawTable(name, encode({role: table.column(place) for role, place in positions.items()}, name))


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


def encode(columns: dict[str, pa.ChunkedArray], name: str) -> dict[str, Coded]:
    """Return columns of any type as texts: dates as ISO dates, times of day in UTC, integers in digits."""
    return {role: _encode(column, f"{name}: column {role!r}") for role, column in columns.items()}


def _encode(column: pa.ChunkedArray, place: str) -> Coded:
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
    values = array.dictionary
    if pa.types.is_timestamp(kind):
        values = values.cast(pa.timestamp(kind.unit))  # the zone is for show: the instant is in UTC
    codes = array.indices.cast(pa.int64()).fill_null(ABSENT).to_numpy()
    return _drop_unused(values.cast(pa.string()).to_pylist(), codes)


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
