"""Text files as columns of names.

There are two readers. The fast one is Arrow's, over whole columns. The slow one goes line by line: it is used where the
fast one met a bad row, to say what is wrong with every such row, and to find the line of a row.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.csv

from foretime.config import DataConfig
from foretime.data.columns import HOW, Positions, column_doubts, map_columns, names_columns
from foretime.data.formats.layout_words import WORDS, column_note, text_note
from foretime.data.formats.quotes import ESCAPED_QUOTE, closes_wrongly, has_backslash, has_escaped_quote, may_have_quote
from foretime.data.formats.streams import bounded_text, empty_file, open_bytes, open_native, without_compression
from foretime.data.formats.table import FileFormat, RawTable, encode
from foretime.data.problems import Place, Problems
from foretime.data.splitting import SPLITS, SplitRows
from foretime.errors import ConfigError, DataError

_LONGEST_SEEN = 10_000  # characters of a row that are looked at for a delimiter
_FIRST_ROWS = 100  # rows that say together what one bad row cannot: the delimiter, and the usual width
_BLOCK = 2 << 20  # bytes that Arrow reads at once; each block has dictionaries of its own, which have to be joined
_OPEN_QUOTE = "a quote is opened and never closed; close it, or double it if it is part of a name"
_ENDINGS = {"\t": ".tsv", " ": ".txt"}


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
    names: tuple[str, ...] = ()
    """The header, empty if there is none."""

    @property
    def quoted(self) -> bool:
        """Whether quotes group fields, as RFC 4180 has it; in a file of tabs, a quote is part of a name."""
        return _quotes_group(self.delimiter)

    def wrong_width(self, found: int) -> str:
        """Return what is wrong with a row of `found` fields."""
        word = WORDS.get(self.delimiter, repr(self.delimiter))
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
        lines = bounded_text(stream, str(path))
        yield from quoted_records(lines, delimiter) if _quotes_group(delimiter) else _plain_records(lines, delimiter)


def _plain_records(lines: Iterator[str], delimiter: str) -> Iterator[Record]:
    for number, line in enumerate(lines, start=1):
        content = line.rstrip("\r\n")
        if content.strip(" "):
            yield Record(number, line, content.split(delimiter))


def quoted_records(lines: Iterator[str], delimiter: str) -> Iterator[Record]:
    """Yield every row of lines in which quotes group fields; where one is never closed, the last row has no fields."""
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
    record = next(records(path, delimiter), None)
    if record is None:
        raise empty_file(path)
    if _quotes_group(delimiter) and left_open(record.text, delimiter):
        raise DataError(f"{path}:{record.line}: {_OPEN_QUOTE}")
    first = record.fields
    by_name = any(isinstance(column, str) for column in config.columns.values())
    header = config.header if config.header is not None else by_name or names_columns(first)
    named = bool(config.columns) or config.timeless or (header and names_columns(first))
    width = len(first) if named else _usual_width(path, delimiter, len(first))
    positions = map_columns(config.columns, first if header else None, width, str(path), config.timeless)
    return TextLayout(path, delimiter, header, width, positions, named, tuple(first) if header else ())


def _usual_width(path: Path, delimiter: str, first: int) -> int:
    """Return how many fields most of the first rows have, 4 or 5: one bad row does not condemn the others."""
    widths = [len(record.fields) for record in islice(records(path, delimiter), _FIRST_ROWS)]
    usual = Counter(width for width in widths if width in (4, 5))
    if not usual and first not in (4, 5):
        usual.update(islice((len(r.fields) for r in records(path, delimiter) if len(r.fields) in (4, 5)), 1))
    return usual.most_common(1)[0][0] if usual else first


def _find_delimiter(path: Path) -> str:
    """Return the delimiter that fits the ending of a file and its first rows."""
    kind = without_compression(path).suffix.lower()
    if kind == ".tsv":
        return "\t"
    lines = [record.text[:_LONGEST_SEEN] for record in islice(records(path, "\t"), _FIRST_ROWS)]
    if not lines:
        raise empty_file(path)
    first = _delimiter_of(lines[0], kind)
    if names_columns(_fields(lines[0], first)):
        return first
    votes = Counter(_delimiter_of(line, kind) for line in lines)
    return max(votes, key=lambda mark: (votes[mark], mark == first))


def _delimiter_of(line: str, kind: str) -> str:
    """Return the delimiter that fits one line best."""
    if kind != ".csv" and "\t" in line:
        return "\t"
    marks = ",;\t|" if kind == ".csv" else ",;| "
    counts = {mark: len(_fields(line, mark)) for mark in marks}
    fitting = [mark for mark in marks if counts[mark] in (4, 5)]
    return fitting[0] if fitting else max(marks, key=lambda mark: counts[mark] if mark != " " else 0)


def _fields(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def _read(path: Path, config: DataConfig, problems: Problems) -> RawTable:
    layout = _find_layout(path, config)
    problems.begin(str(path), partial(written_rows, path, layout.delimiter))
    good: list[int] | None = None
    doubts = column_doubts(layout.names) if layout.header and not config.columns else []
    try:
        columns = _read_fast(layout)
    except pa.ArrowInvalid:
        found, read = _data_records(layout), partial(_row, layout)
        columns, good = collect(path, found, layout.positions, read, problems)
        doubts += _escape_doubts(layout)
    if not len(columns["subject"]) and not problems.count:
        raise DataError(f"{path}: a header and no facts; add facts, or use --no-header if it is one")

    @cache
    def lines() -> list[int]:
        return [record.line for record in _data_records(layout)] if good is None else good

    # a first row that could not be read is reported already, and no fact that may be a header
    begins_wrong = good is not None and next(_data_records(layout)).line not in good[:1]
    headless = config.header is None and not layout.header and not begins_wrong
    notes = text_note(config, layout.delimiter, layout.header)
    notes += column_note(config, layout.names or None, layout.positions, layout.mapped)
    return RawTable(
        str(path), encode(columns, str(path)), lines, not layout.mapped, headless, tuple(notes), tuple(doubts)
    )


def written_rows(path: Path, delimiter: str, lines: set[int]) -> dict[int, str]:
    """Return rows of a file as they are written, by the numbers of their lines."""
    return {record.line: record.text.rstrip("\r\n") for record in records(path, delimiter) if record.line in lines}


def _split(path: Path, config: DataConfig, parts: SplitRows, out: Path) -> list[Path]:
    layout = _find_layout(path, config)
    header = next(records(path, layout.delimiter)).text if layout.header else ""
    return copy_records(_data_records(layout), header, parts, out, _ENDINGS.get(layout.delimiter, ".csv"))


def copy_records(found: Iterator[Record], header: str, parts: SplitRows, out: Path, ending: str) -> list[Path]:
    """Write the rows of each split, by their lines, into a file of its own, as they stand, and return the files."""
    part_of_line = {line: part for part, lines in enumerate(parts) for line in lines.tolist()}
    paths = [out / f"{split}{ending}" for split in SPLITS]
    unfinished = [path.with_name(f".{path.name}.part") for path in paths]
    with ExitStack() as opened:
        # a column that is not read may have a name that is no UTF-8, which stands in the copies too
        streams = [
            opened.enter_context(path.open("w", encoding="utf-8", errors="surrogateescape", newline=""))
            for path in unfinished
        ]
        for stream in streams:
            stream.write(_whole(header) if header else "")
        for record in found:
            if (part := part_of_line.get(record.line)) is not None:
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
    quoted = layout.quoted and may_have_quote(layout.path)  # Arrow takes half as long again to look for them
    wanted = {str(position) for position in layout.positions.values()} | ({names[-1]} if quoted else set())
    with open_native(layout.path) as stream:
        table = (
            pyarrow.csv.read_csv(
                stream,
                read_options=pyarrow.csv.ReadOptions(column_names=names, block_size=_BLOCK),
                parse_options=pyarrow.csv.ParseOptions(
                    delimiter=layout.delimiter,
                    quote_char='"' if quoted else False,
                    newlines_in_values=quoted,
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in wanted},
                    include_columns=sorted(wanted),
                ),
            )
            .unify_dictionaries()
            .combine_chunks()
        )
    if quoted and len(table) and "\n" in table[names[-1]][-1].as_py():
        raise pa.ArrowInvalid("the last field of the file may be a quote that is never closed")
    if quoted and has_backslash(table) and has_escaped_quote(layout.path):
        raise pa.ArrowInvalid("there are quotes after a backslash: row by row it can be said what they are")
    if layout.delimiter == " " and _has_empty(table[str(layout.positions["subject"])]):
        raise pa.ArrowInvalid("a line of blanks alone may be cells for Arrow, and is no row")
    table = table.slice(1 if layout.header else 0)
    return {role: table[str(position)] for role, position in layout.positions.items()}


def _has_empty(column: pa.ChunkedArray) -> bool:
    """Return whether a column of dictionaries has an empty text."""
    return any("" in chunk.dictionary.to_pylist() for chunk in column.chunks)


def _escape_doubts(layout: TextLayout) -> list[str]:
    """Return what to look at in a file of quotes after a backslash that could be read: `"C:\\"` is a name in quotes."""
    if not layout.quoted or not has_escaped_quote(layout.path):
        return []
    found = [
        record.line
        for record in _data_records(layout)
        if '\\"' in record.text and not closes_wrongly(record.text, layout.delimiter)
    ]
    if not found:
        return []
    return [
        f'{layout.path}:{found[0]}: \\" was read as a backslash and a quote that ends a field, as CSV has it '
        f"({len(found):,} row{'s' if len(found) > 1 else ''})"
    ]


class BadRowError(ValueError):
    """What is wrong with one row; rows of one kind are reported together."""

    def __init__(self, text: str, kind: str | None = None) -> None:
        super().__init__(text)
        self.kind = kind or text


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
            problems.add(Place(str(path), record.line), str(error), error.kind)
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
        raise BadRowError(f"not valid UTF-8 (byte 0x{byte:02X}); save the file as UTF-8", "not UTF-8") from None
    if layout.quoted and left_open(record.text, layout.delimiter):
        raise BadRowError(_OPEN_QUOTE)
    if layout.quoted and '\\"' in record.text and closes_wrongly(record.text, layout.delimiter):
        raise BadRowError(ESCAPED_QUOTE)
    if len(record.fields) != layout.width:
        kind = "one field more or less" if len(record.fields) in (4, 5) else "number of fields"
        raise BadRowError(layout.wrong_width(len(record.fields)), kind)
    return [record.fields[position] for position in layout.positions.values()]


def left_open(text: str, delimiter: str) -> bool:
    """Return whether a row opens a quote that is never closed."""
    if '"' not in text:
        return False
    try:
        list(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error) or "larger than field limit" in str(error)
    return False


TEXT = FileFormat("text", (".tsv", ".csv", ".txt"), _read, _split)
