"""Rows that could not be read and were left out, because that was asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from foretime.errors import DataError
from foretime.files import write_bytes
from foretime.tables import plural

BAD_ROWS = "bad_rows.jsonl"
"""The file of all bad rows in a folder that is made of the others."""


class BadRow(NamedTuple):
    """A row that was left out: its file or frame, its line or number from 1, the row as written, and why."""

    source: str
    line: int
    row: str | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class BadRows:
    """All rows of a graph that were left out, in the order of the files.

    `kinds` has one line for each kind, with a count and the first places; `kept` counts the rows that were read.
    """

    rows: tuple[BadRow, ...] = ()
    kinds: tuple[str, ...] = ()
    kept: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return "\n".join([self.note, *self.kinds]) if self.rows else "no bad rows"

    @property
    def note(self) -> str:
        """How many rows were left out, and how many were not."""
        verb = "was" if len(self) == 1 else "were"
        good = "1 good one" if self.kept == 1 else f"{self.kept:,} good ones"
        return f"{plural(len(self), 'bad row')} {verb} skipped, {good} read"

    def write(self, path: Path | str) -> Path:
        """Write JSON Lines with `file`, `line`, `row` (as written) and `reasons` of every bad row; return the path."""
        lines = ({"file": bad.source, "line": bad.line, "row": bad.row, "reasons": bad.reasons} for bad in self.rows)
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        try:
            write_bytes(Path(path), content.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise DataError(f"{path}: the bad rows cannot be written: {error}; choose another place") from None
        return Path(path)
