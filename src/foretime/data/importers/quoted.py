"""Text tables in which quotes group cells, as in RFC 4180: cells may hold delimiters and line breaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from foretime.data.formats.streams import bounded_text
from foretime.data.formats.table import Coded
from foretime.data.formats.text import Record, left_open, quoted_records
from foretime.data.importers.base import coded
from foretime.data.importers.delimited import NOT_UTF8, Layout
from foretime.data.importers.inputs import InputFile
from foretime.data.importers.rows import Mask, Rows

_TOGETHER = 50_000  # rows that are in memory at a time


def read_quoted_rows(file: InputFile, layout: Layout) -> Iterator[Rows]:
    """Yield the rows of a file in pieces; rows of another width are dropped, and one with a quote that stays open."""
    with file.open() as stream:
        lines = bounded_text(stream, file.label)
        records = quoted_records(lines, layout.delimiter)
        if layout.header:
            next(records, None)
        while found := list(islice(records, _TOGETHER)):
            yield _rows(file.label, found, layout)


def _rows(label: str, records: Sequence[Record], layout: Layout) -> Rows:
    width = len(layout.names)
    fitting = [record.fields if len(record.fields) == width else None for record in records]
    places = {name: layout.names.index(name) for name in layout.wanted}
    columns = {name: coded(None if row is None else row[place] for row in fitting) for name, place in places.items()}
    rows = Rows(label, np.array([record.line for record in records]), columns, lambda row: _text(records[row]))
    # only the last row of a file can have taken in all that follows
    still_open = np.zeros(len(records), dtype=bool)
    still_open[-1] = not records[-1].fields or left_open(records[-1].text, layout.delimiter)
    rows.drop(still_open, "a quote is opened and never closed: the rest of the file is in this row")
    rows.drop(np.array([row is None for row in fitting], dtype=bool), f"not {width} columns")
    for column in columns.values():
        if (wrong := _undecoded(column)) is not None:
            rows.drop(wrong, NOT_UTF8)
    return rows


def _text(record: Record) -> str:
    return record.text.rstrip("\r\n").encode(errors="surrogateescape").decode(errors="backslashreplace")


def _undecoded(column: Coded) -> Mask | None:
    """Return which cells are not UTF-8; nothing if all are."""
    wrong = [not value.isascii() and any("\udc80" <= letter <= "\udcff" for letter in value) for value in column.values]
    return np.array([*wrong, False], dtype=bool)[column.codes] if any(wrong) else None
