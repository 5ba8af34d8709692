"""JSON Lines: one object to a line, whose keys name the columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foretime.config import DataConfig
from foretime.data.columns import map_columns
from foretime.data.formats.table import FileFormat, RawTable, encode
from foretime.data.formats.text import BadRowError, Record, collect, copy_records, records
from foretime.data.problems import Problems
from foretime.data.splitting import SplitRows
from foretime.errors import DataError


def _read(path: Path, config: DataConfig, problems: Problems) -> RawTable:
    keys: dict[str, str] = {}

    def read(record: Record) -> list[str | None]:
        row = _row(record.text)
        if not keys:
            names = list(row)
            positions = map_columns(config.columns, names, len(names), str(path))
            keys.update({role: names[position] for role, position in positions.items()})
        return [_text(role, row.get(key)) for role, key in keys.items()]

    columns, lines = collect(path, records(path, "\t"), keys, read, problems)
    if not keys:
        problems.check()
        raise DataError(f'{path}: no facts; expected lines such as {{"subject": …, "predicate": …, "object": …}}')
    return RawTable(str(path), encode(columns, str(path)), lambda: lines)


def _row(text: str) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except ValueError as error:
        raise BadRowError(f"not valid JSON: {error}; fix the line") from None
    if not isinstance(row, dict):
        raise BadRowError(f"expected an object, found {text.strip()[:40]}; fix the line")
    return row


def _text(role: str, value: Any) -> str | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return None if value is None else str(value)
    if not isinstance(value, str):
        raise BadRowError(f"the {role} {json.dumps(value)[:40]} is neither text nor an integer; put it in quotes")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadRowError(f"the {role} is not valid UTF-8; save the file as UTF-8") from None
    return value


def _split(path: Path, _: DataConfig, parts: SplitRows, out: Path) -> list[Path]:
    return copy_records(records(path, "\t"), "", parts, out, ".jsonl")


JSON_LINES = FileFormat("JSON Lines", (".jsonl", ".ndjson"), _read, _split)
