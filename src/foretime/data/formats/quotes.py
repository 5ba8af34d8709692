"""Quotes after a backslash: other programs write them so within quotes, and CSV does not."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from foretime.data.formats.streams import open_bytes

ESCAPED_QUOTE = 'a quote within quotes is written \\"; write it twice, "", as CSV has it'


def has_backslash(table: pa.Table) -> bool:
    """Return whether any text of a table, whose columns are dictionaries, has a backslash."""
    chunks = (chunk.dictionary for column in table.columns for chunk in column.chunks)
    return any(pc.any(pc.match_substring(chunk, "\\")).as_py() for chunk in chunks)


def has_escaped_quote(path: Path) -> bool:
    """Return whether a quote comes after a backslash anywhere in a file."""
    with open_bytes(path) as stream:
        before = b""
        while chunk := stream.read(1 << 20):
            if b'\\"' in before + chunk:
                return True
            before = chunk[-1:]
    return False


def closes_wrongly(text: str, delimiter: str) -> bool:
    """Return whether a quote that ends a field is followed by more of it."""
    try:
        list(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error:
        return True
    return False
