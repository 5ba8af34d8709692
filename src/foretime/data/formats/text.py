"""Text files as columns of names.

There are two readers. The fast one is Arrow's, over whole columns. The slow one goes line by line: it is used where the
fast one met a bad row, to say what is wrong with every such row, and to find the line of a row.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from foretime.config import DataConfig
from foretime.data.columns import HOW, Positions, map_columns, names_columns
from foretime.data.formats.streams import open_bytes, without_compression
from foretime.data.formats.table import FileFormat, RawTable, encode
from foretime.data.problems import Place, Problems
from foretime.data.splitting import SPLITS, SplitRows
from foretime.errors import ConfigError, DataError

_LONGEST_SEEN = 10_000  # characters of the first row that are looked at for a delimiter
_OPEN_QUOTE = "a quote is opened and never closed; close it, or double it if it is part of a name"
_ENDINGS = {"\t": ".tsv", " ": ".txt"}
_WORDS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "space"}


@dataclass(frozen=True)
class TextLayout:
    """How a text file is laid out."""

    path: Path
    delimiter: str
    header: bool
    width: int
    positions: Positions
    mapped: bool
    """Whether the columns were found by name or by a mapping, so that the width of the file is its own affair."""

    @property
    def quoted(self) -> bool:
        """Whether quotes group fields, as RFC 4180 has it; in a file of tabs, a quote is part of a name."""
        return _quotes_group(self.delimiter)

    def wrong_width(self, found: int) -> str:
        """Return what is wrong with a row of `found` fields."""
        word = _WORDS.get(self.delimiter, repr(self.delimiter))
        if self.mapped or found in (4, 5):
            return f"expected {self.width} {word}-separated fields, as in the other rows, found {found}; fix the row"
        return f"expected 4 or 5 {word}-separated fields, found {found}; fix the row, or {HOW}"


class Record(NamedTuple):
    """One row of a text file: the line where it begins, its text with line ends, and its fields."""

    line: int
    text: str
    fields: list[str]


def _quotes_group(delimiter: str) -> bool:
    """Return whether quotes group fields in a file with this delimiter."""
    return delimiter not in "\t "


def records(path: Path, delimiter: str) -> Iterator[Record]:
    """Yield every row that is not blank; bytes that are not UTF-8 come as surrogates."""
    with open_bytes(path) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        yield from _quoted_records(lines, delimiter) if _quotes_group(delimiter) else _plain_records(lines, delimiter)


def _plain_records(lines: Iterator[str], delimiter: str) -> Iterator[Record]:
    for number, line in enumerate(lines, start=1):
        content = line.rstrip("\r\n")
        if content.strip(" "):
            yield Record(number, line, content.split(delimiter))


def _quoted_records(lines: Iterator[str], delimiter: str) -> Iterator[Record]:
    taken: list[str] = []

    def taking() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    reader = csv.reader(taking(), delimiter=delimiter)
    begin = 1
    try:
        for fields in reader:
            if len(fields) > 1 or "".join(fields).strip(" "):
                yield Record(begin, "".join(taken), fields)
            begin = reader.line_num + 1
            taken.clear()
    except csv.Error:  # a field without an end: all that follows is in it
        yield Record(begin, "".join(taken), [])


def _find_layout(path: Path, config: DataConfig) -> TextLayout:
    """Return the layout of a file, from its name, its first row and the configuration."""
    if config.delimiter is not None and (len(config.delimiter) != 1 or config.delimiter in '"\r\n'):
        raise ConfigError(f"delimiter {config.delimiter!r}: expected one character, such as a comma")
    delimiter = config.delimiter or _find_delimiter(path)
    record = next(records(path, delimiter))
    if _quotes_group(delimiter) and _left_open(record.text, delimiter):
        raise DataError(f"{path}:{record.line}: {_OPEN_QUOTE}")
    first = record.fields
    by_name = any(isinstance(column, str) for column in config.columns.values())
    header = config.header if config.header is not None else by_name or names_columns(first)
    named = bool(config.columns) or (header and names_columns(first))
    width = len(first) if named else _usual_width(path, delimiter, len(first))
    positions = map_columns(config.columns, first if header else None, width, str(path))
    return TextLayout(path, delimiter, header, width, positions, named)


def _usual_width(path: Path, delimiter: str, first: int) -> int:
    """Return the number of fields of the first row that has 4 or 5: one bad first row does not condemn the others."""
    if first in (4, 5):
        return first
    widths = (len(record.fields) for record in records(path, delimiter))
    return next((width for width in widths if width in (4, 5)), first)


def _find_delimiter(path: Path) -> str:
    """Return the delimiter that fits the ending of a file and its first row."""
    kind = without_compression(path).suffix.lower()
    line = next(records(path, "\t")).text[:_LONGEST_SEEN]
    if kind == ".tsv" or (kind != ".csv" and "\t" in line):
        return "\t"
    marks = ",;\t|" if kind == ".csv" else ",;| "
    counts = {mark: len(next(csv.reader([line], delimiter=mark))) for mark in marks}
    fitting = [mark for mark in marks if counts[mark] in (4, 5)]
    return fitting[0] if fitting else max(marks, key=lambda mark: counts[mark] if mark != " " else 0)


def _read(path: Path, config: DataConfig, problems: Problems) -> RawTable:
    layout = _find_layout(path, config)
    good: list[int] | None = None
    try:
        columns = _read_fast(layout)
    except pa.ArrowInvalid:
        found, read = _data_records(layout), partial(_row, layout)
        columns, good = collect(path, found, layout.positions, read, problems)
    if not len(columns["subject"]) and not problems.count:
        raise DataError(f"{path}: a header and no facts; add facts, or use --no-header if it is one")

    @cache
    def lines() -> list[int]:
        return [record.line for record in _data_records(layout)] if good is None else good

    # a first row that could not be read is reported already, and no fact that may be a header
    begins_wrong = good is not None and next(_data_records(layout)).line not in good[:1]
    headless = config.header is None and not layout.header and not begins_wrong
    return RawTable(str(path), encode(columns, str(path)), lines, not layout.mapped, headless)


def _split(path: Path, config: DataConfig, parts: SplitRows, out: Path) -> list[Path]:
    layout = _find_layout(path, config)
    header = next(records(path, layout.delimiter)).text if layout.header else ""
    return copy_records(_data_records(layout), header, parts, out, _ENDINGS.get(layout.delimiter, ".csv"))


def copy_records(found: Iterator[Record], header: str, parts: SplitRows, out: Path, ending: str) -> list[Path]:
    """Write the rows of each split into a file of its own, as they stand, and return the files."""
    part_of_row = np.empty(sum(map(len, parts)), dtype=np.int8)
    for part, rows in enumerate(parts):
        part_of_row[rows] = part
    paths = [out / f"{split}{ending}" for split in SPLITS]
    unfinished = [path.with_name(f".{path.name}.part") for path in paths]
    with ExitStack() as opened:
        streams = [opened.enter_context(path.open("w", encoding="utf-8", newline="")) for path in unfinished]
        for stream in streams:
            stream.write(_whole(header) if header else "")
        for record, part in zip(found, part_of_row.tolist(), strict=True):
            streams[part].write(_whole(record.text))
    for part_path, path in zip(unfinished, paths, strict=True):
        os.replace(part_path, path)
    return paths


def _whole(text: str) -> str:
    """Return a row with its line end, which the last one of a file may lack."""
    return text if text.endswith(("\n", "\r")) else text + "\n"


def _read_fast(layout: TextLayout) -> dict[str, pa.ChunkedArray]:
    """Return the columns of a file by their role in a fact; raise `ArrowInvalid` if there is any bad row."""
    names = [str(position) for position in range(layout.width)]
    wanted = {str(position) for position in layout.positions.values()} | ({names[-1]} if layout.quoted else set())
    with open_bytes(layout.path) as stream:
        table = pyarrow.csv.read_csv(
            stream,
            read_options=pyarrow.csv.ReadOptions(column_names=names),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=layout.delimiter,
                quote_char='"' if layout.quoted else False,
                newlines_in_values=layout.quoted,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in wanted},
                include_columns=sorted(wanted),
            ),
        )
    if layout.quoted and len(table) and "\n" in table[names[-1]][-1].as_py():
        raise pa.ArrowInvalid("the last field of the file may be a quote that is never closed")
    table = table.slice(1 if layout.header else 0)
    return {role: table[str(position)] for role, position in layout.positions.items()}


class BadRowError(ValueError):
    """What is wrong with one row."""


def collect(
    path: Path,
    found: Iterator[Record],
    roles: Mapping[str, object],
    read: Callable[[Record], list[str | None]],
    problems: Problems,
) -> tuple[dict[str, pa.ChunkedArray], list[int]]:
    """Return the columns of the good rows of a file, and the line of each; rows that `read` refuses are reported."""
    rows: list[list[str | None]] = []
    seen: dict[str | None, str | None] = {}
    lines: list[int] = []
    for record in found:
        try:
            rows.append([seen.setdefault(value, value) for value in read(record)])  # one text in memory for each name
            lines.append(record.line)
        except BadRowError as error:
            problems.add(Place(str(path), record.line), str(error))
    columns = zip(*rows, strict=True) if rows else [()] * len(roles)
    arrays = (pa.chunked_array([pa.array(values, pa.string())]) for values in columns)
    return dict(zip(roles, arrays, strict=True)), lines


def _data_records(layout: TextLayout) -> Iterator[Record]:
    """Yield the rows of a file without its header."""
    found = records(layout.path, layout.delimiter)
    if layout.header:
        next(found)
    yield from found


def _row(layout: TextLayout, record: Record) -> list[str | None]:
    try:
        record.text.encode()
    except UnicodeEncodeError as error:
        byte = ord(record.text[error.start]) - 0xDC00
        raise BadRowError(f"not valid UTF-8 (byte 0x{byte:02X}); save the file as UTF-8") from None
    if layout.quoted and _left_open(record.text, layout.delimiter):
        raise BadRowError(_OPEN_QUOTE)
    if len(record.fields) != layout.width:
        raise BadRowError(layout.wrong_width(len(record.fields)))
    return [record.fields[position] for position in layout.positions.values()]


def _left_open(text: str, delimiter: str) -> bool:
    if '"' not in text:
        return False
    try:
        list(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error) or "larger than field limit" in str(error)
    return False


TEXT = FileFormat("text", (".tsv", ".csv", ".txt"), _read, _split)
