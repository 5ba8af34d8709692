"""Raw tables: columns of texts as they stand in a file or a frame, with the place of every row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset
from numpy.typing import NDArray

from foretime.config import DataConfig
from foretime.data.columns import NAMES, TIMES, column_doubts, map_columns, names_columns
from foretime.data.facts import Ids
from foretime.data.formats.arrow_values import check_kind, storage, texts_of, value_kind
from foretime.data.formats.layout_words import column_note
from foretime.data.problems import Place, Problems, TableProblems
from foretime.data.splitting import SplitRows
from foretime.errors import DataError

ABSENT = -1
"""The code of a cell without a value."""


@dataclass(frozen=True)
class Coded:
    """A column of texts: the different values, and for each row the number of its value or `ABSENT`."""

    values: list[str]
    codes: Ids

    def rows(self, chosen: NDArray[np.bool_], absent: bool = False) -> Ids:
        """Return the rows with a chosen value, (values,), and those without a value if they are wanted too."""
        if not chosen.any() and not (absent and len(self.codes) and self.codes.min() == ABSENT):
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(np.append(chosen, absent)[self.codes])


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
    notes: tuple[str, ...] = ()
    """What was guessed about its layout."""
    doubts: tuple[str, ...] = ()
    """What about its layout deserves a second look."""
    kept: Ids | None = None
    """The rows that are left of the file, by their numbers from 0; none: all of them."""

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
        numbers = rows if self.kept is None else self.kept[rows].tolist()
        if self.lines is None:
            return [Place(self.name, row + 1, "row") for row in numbers]
        lines = self.lines()
        return [Place(self.name, lines[row]) for row in numbers]

    def numbers(self, rows: Ids) -> Ids:
        """Return the lines of rows, or their numbers from 1 where the table has no lines."""
        return np.array([place.line for place in self.locate(rows.tolist())], dtype=np.int64)

    def take(self, good: NDArray[np.bool_]) -> RawTable:
        """Return the table with its good rows alone."""
        if good.all():
            return self
        columns = {role: drop_unused(own.values, own.codes[good]) for role, own in self.columns.items()}
        kept = np.flatnonzero(good)
        return replace(self, columns=columns, kept=kept if self.kept is None else self.kept[kept])

    def written(self, lines: set[int]) -> dict[int, str]:
        """Return rows of a table without lines in words, cell by cell, by their numbers from 1."""

        def cell(own: Coded, row: int) -> str:
            return "" if own.codes[row] == ABSENT else own.values[own.codes[row]]

        roles = self.columns.items()
        return {line: ", ".join(f"{role}={cell(own, line - 1)!r}" for role, own in roles) for line in lines}

    def check_names(self, problems: TableProblems) -> None:
        """Report every row with an empty name."""
        for role in NAMES:
            column = self.columns[role]
            empty = np.array([value == "" for value in column.values], dtype=bool)
            rows = column.rows(empty, absent=True)
            problems.add(rows, f"no {role}", f"the {role} is empty; give it a name, or remove the row")


class FileFormat(NamedTuple):
    """A kind of file that a graph can be read from."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, DataConfig, Problems], RawTable]
    """Returns the table of a file; rows that cannot be read are reported."""
    split: Callable[[Path, DataConfig, SplitRows, Path], list[Path]]
    """Writes the rows of train, valid and test into a folder, as they stand in the file, and returns the files.

    Rows are given by their lines, or by their numbers from 1 in a file without lines. Others are left out."""
    magic: bytes = b""
    """How such a file begins, where it is not text."""


def table_of_arrow(table: pa.Table, name: str, config: DataConfig) -> RawTable:
    """Return the columns of an Arrow table that the names of its columns, or the configuration, choose."""
    positions = map_columns(config.columns, table.column_names, table.num_columns, name, config.timeless)
    if not len(table):
        raise DataError(f"{name}: the table has no rows")
    header = table.column_names
    notes = column_note(config, header, positions, names_columns(header))
    doubts = [] if config.columns or not names_columns(header) else column_doubts(header)
    columns = encode({role: table.column(place) for role, place in positions.items()}, name)
    return RawTable(name, columns, notes=tuple(notes), doubts=tuple(doubts))


def as_arrow(frame: Any, name: str) -> pa.Table:
    """Return a frame as an Arrow table: of pandas, Polars or Arrow, or whatever else streams Arrow."""
    try:
        if type(frame).__module__.partition(".")[0] == "pandas":
            return pa.Table.from_pandas(frame, preserve_index=False)  # the index is no column
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        if isinstance(frame, pyarrow.dataset.Dataset | pyarrow.dataset.Scanner):
            return frame.to_table()
    except Exception as error:  # a stream may raise whatever the library behind it raises
        reason = " ".join(str(error).split("\n\n")[0].split())
        raise DataError(f"{name}: cannot be read as a table: {reason}; give each column one type") from None
    hint = "; collect() it first" if hasattr(frame, "collect") else ""
    raise DataError(f"{name}: expected a path or a pandas, Polars or Arrow table, not {type(frame).__name__}{hint}")


def encode(columns: dict[str, pa.ChunkedArray], name: str) -> dict[str, Coded]:
    """Return columns of any type as texts: dates as ISO dates, times of day in UTC, integers in digits."""
    return {role: _encode(column, f"{name}: column {role!r}", role in TIMES) for role, column in columns.items()}


def _encode(column: pa.ChunkedArray, place: str, is_time: bool) -> Coded:
    kind = value_kind(column)
    check_kind(kind, place, is_time)
    if pa.types.is_dictionary(column.type):
        array = column.unify_dictionaries().combine_chunks()
    else:
        array = storage(column).dictionary_encode().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # a column without chunks
        array = pa.array([], pa.string()).dictionary_encode()
    indices = array.indices.fill_null(ABSENT) if array.indices.null_count else array.indices
    codes = indices.cast(pa.int64()).to_numpy()
    return drop_unused(texts_of(array.dictionary, kind, place), codes)


def drop_unused(values: Sequence[str | None], codes: Ids) -> Coded:
    """Return a column whose values all occur: categories, and the header of a file, may be values of no row."""
    used = np.bincount(codes + 1, minlength=len(values) + 1)[1:] > 0
    used &= np.array([value is not None for value in values], dtype=bool)
    if used.all():
        return Coded([value for value in values if value is not None], codes)
    renumbered = np.append(np.where(used, np.cumsum(used) - 1, ABSENT), ABSENT)
    kept = [value for value, is_used in zip(values, used, strict=True) if is_used and value is not None]
    return Coded(kept, renumbered[codes].astype(np.int64))


def join_columns(columns: list[Coded]) -> Coded:
    """Return one column after the other as one column, in which equal values have one code."""
    values, codes = share_values(columns)
    return Coded(values, codes[0] if len(codes) == 1 else np.concatenate(codes))


def share_values(columns: list[Coded]) -> tuple[list[str], list[Ids]]:
    """Return the different values of all columns, in the order in which they come first, and the codes of each."""
    values = pa.array([value for column in columns for value in column.values], pa.large_string()).dictionary_encode()
    numbers, first, codes = values.indices.to_numpy().astype(np.int64), 0, []
    for column in columns:
        own = numbers[first : first + len(column.values)]
        same = np.array_equal(own, np.arange(len(own)))  # as in the first column: then nothing has to be moved
        codes.append(column.codes if same else np.append(own, ABSENT)[column.codes])  # -1 is the last, ABSENT
        first += len(own)
    return values.dictionary.to_pylist(), codes
