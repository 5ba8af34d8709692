"""Text tables without quotes, in blocks of whole lines.

Arrow splits a block into columns. Rows that it refuses go through a plain loop, which forgives empty cells at the end.
Where a lone carriage return would make Arrow see other lines than there are, the loop reads the whole block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from foretime.data.facts import Ids
from foretime.data.formats.streams import native_bytes
from foretime.data.formats.table import Coded
from foretime.data.importers.base import coded
from foretime.data.importers.inputs import Block, InputFile, blocks
from foretime.data.importers.rows import Rows, is_one_of

NOT_UTF8 = "not valid UTF-8"
_UNREADABLE = "\0"  # stands for a cell that is not text until its row is dropped
_BOM = b"\xef\xbb\xbf"


class Layout(NamedTuple):
    """How a table is laid out: its columns in order, those that are wanted, and whether it has a header."""

    names: tuple[str, ...]
    wanted: tuple[str, ...]
    header: bool = False
    delimiter: str = "\t"
    latin: bool = False
    """Whether cells that are not UTF-8 are ISO-8859-1; otherwise their rows are dropped."""


class _Lines:
    """The lines of a block by their number from 0."""

    def __init__(self, content: bytes) -> None:
        ends = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == ord("\n"))
        self.ends = ends if content.endswith(b"\n") else np.append(ends, len(content))
        self.starts = np.append(0, self.ends[:-1] + 1)
        self._content = content

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, number: int) -> bytes:
        return self._content[self.starts[number] : self.ends[number]].removesuffix(b"\r")

    def text(self, numbers: Ids, latin: bool, row: int) -> str:
        """Return the text of a row, given the numbers of the lines of all rows."""
        line = self[numbers[row]]
        try:
            return line.decode()
        except UnicodeDecodeError:
            return line.decode("latin-1") if latin else line.decode(errors="backslashreplace")


def read_rows(file: InputFile, layout: Layout) -> Iterator[Rows]:
    """Yield the rows of a file in pieces; blank lines are left out, rows of another width are dropped."""
    for block in blocks(file):
        yield from _rows(file.label, block, layout)


def _rows(label: str, block: Block, layout: Layout) -> Iterator[Rows]:
    content = block.content.removeprefix(_BOM) if block.line == 1 else block.content
    lines = _Lines(content)
    first = 1 if layout.header and block.line == 1 else 0
    fast = _split(content, len(lines), layout)
    refused: Sequence[int] = range(len(lines)) if fast is None else fast.refused
    if fast is not None:
        good = np.setdiff1d(np.arange(len(lines)), refused, assume_unique=True)
        filled = (good >= first) & (lines.ends[good] - lines.starts[good] > 1)  # neither a header nor a blank line
        columns = {name: Coded(column.values, column.codes[filled]) for name, column in fast.columns.items()}
        yield _checked(label, block.line, lines, good[filled], columns, layout)
    odd = np.array([number for number in refused if number >= first and lines[number].strip(b" \r")], dtype=np.int64)
    if len(odd):
        yield _loop(label, block.line, lines, odd, layout)


class _Split(NamedTuple):
    columns: dict[str, Coded]
    refused: list[int]


def _split(content: bytes, lines: int, layout: Layout) -> _Split | None:
    """Return the wanted columns of a block and the lines that Arrow refuses; nothing if it sees other lines."""
    refused: list[int] = []

    def refuse(row: pyarrow.csv.InvalidRow) -> str:
        refused.append(row.number - 1)
        return "skip"

    clean = _is_utf8(content)
    # Arrow cannot hand over a bad row that is not UTF-8, so that such a block is read as letters of one byte each
    table = pyarrow.csv.read_csv(
        native_bytes(content if clean else content.decode("latin-1").encode()),
        read_options=pyarrow.csv.ReadOptions(
            column_names=list(layout.names), use_threads=False, block_size=2 * len(content) + 1
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=layout.delimiter, quote_char=False, ignore_empty_lines=False, invalid_row_handler=refuse
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(layout.wanted, pa.dictionary(pa.int32(), pa.binary())),
            include_columns=list(layout.wanted),
            strings_can_be_null=False,
        ),
    )
    if len(table) + len(refused) != lines:
        return None
    return _Split({name: _decoded(table[name], layout.latin, clean) for name in layout.wanted}, refused)


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoded(column: pa.ChunkedArray, latin: bool, clean: bool) -> Coded:
    array = column.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # a column without rows
        return Coded([], np.empty(0, dtype=np.int64))
    values = array.dictionary.to_pylist()
    found = values if clean else [value.decode().encode("latin-1") for value in values]
    return Coded([_decode(value, latin) for value in found], array.indices.to_numpy())


def _decode(value: bytes, latin: bool) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1") if latin else _UNREADABLE


def _loop(label: str, line: int, lines: _Lines, numbers: Ids, layout: Layout) -> Rows:
    """Return rows that are split one by one; empty cells behind the last column are forgiven."""
    width = len(layout.names)
    cells = [_trimmed(lines[number].split(layout.delimiter.encode()), width) for number in numbers.tolist()]
    places = [layout.names.index(name) for name in layout.wanted]
    columns = {
        name: coded(None if row is None else _decode(row[place], layout.latin) for row in cells)
        for name, place in zip(layout.wanted, places, strict=True)
    }
    wrong = np.array([row is None for row in cells], dtype=bool)
    rows = _checked(label, line, lines, numbers, columns, layout)
    rows.drop(wrong, f"not {width} columns")
    return rows


def _trimmed(cells: list[bytes], width: int) -> list[bytes] | None:
    """Return a row without the empty cells behind its last column; nothing if it has another width."""
    return cells[:width] if len(cells) >= width and not any(cells[width:]) else None


def _checked(label: str, line: int, lines: _Lines, numbers: Ids, columns: dict[str, Coded], layout: Layout) -> Rows:
    rows = Rows(label, numbers + line, columns, partial(lines.text, numbers, layout.latin))
    for column in columns.values():
        if _UNREADABLE in column.values:
            rows.drop(is_one_of(column, {_UNREADABLE}), NOT_UTF8)
    return rows
