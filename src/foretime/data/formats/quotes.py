"""Quotes after a backslash: other programs write them so within quotes, and CSV does not."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from foretime.data.formats.streams import open_bytes, without_compression

ESCAPED_QUOTE = 'a quote within quotes is written \\"; write it twice, "", as CSV has it'


def has_backslash(table: pa.Table) -> bool:
    """Return whether any text of a table has a backslash; its columns are dictionaries, of one chunk each."""
    texts = (column.chunk(0).dictionary for column in table.columns if column.num_chunks)
    return any(pc.any(pc.match_substring(own, "\\")).as_py() for own in texts)


def may_have_quote(path: Path) -> bool:
    """Return whether there is a quote anywhere in a file; in one that would have to be unpacked there may be."""
    if without_compression(path) != path:
        return True
    with open_bytes(path) as stream:
        return any(b'"' in chunk for chunk in iter(partial(stream.read, 1 << 20), b""))


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
