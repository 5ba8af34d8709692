"""JSON Lines: one object to a line, whose keys name the columns."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from foretime.config import DataConfig
from foretime.data.columns import TIMES, column_doubts, map_columns, names_columns
from foretime.data.formats.layout_words import column_note
from foretime.data.formats.table import FileFormat, RawTable, encode
from foretime.data.formats.text import BadRowError, Record, collect, copy_records, records, written_rows
from foretime.data.problems import Problems
from foretime.data.splitting import SplitRows
from foretime.errors import DataError
from foretime.files import parse_json

_FIRST_ROWS = 100  # objects whose keys say together what one bad line cannot


def _read(path: Path, config: DataConfig, problems: Problems) -> RawTable:
    problems.begin(str(path), partial(written_rows, path, "\t"))
    names = _find_names(path, config)
    if names is None:
        collect(path, records(path, "\t"), {}, lambda record: list(_row(record.text)), problems)
        problems.check(kept=0)
        raise DataError(f'{path}: no facts; expected lines such as {{"subject": …, "predicate": …, "object": …}}')
    positions = map_columns(config.columns, names, len(names), str(path), config.timeless)
    keys = {role: names[position] for role, position in positions.items()}

    def read(record: Record) -> list[str | None]:
        row = _row(record.text)
        return [_text(role, row.get(key)) for role, key in keys.items()]

    columns, lines = collect(path, records(path, "\t"), keys, read, problems)
    notes = column_note(config, names, positions, names_columns(names))
    doubts = [] if config.columns else column_doubts(names)
    return RawTable(str(path), encode(columns, str(path)), lambda: lines, notes=tuple(notes), doubts=tuple(doubts))


def _find_names(path: Path, config: DataConfig) -> list[str] | None:
    """Return the keys that most of the first objects have: one bad line does not condemn the others.

    They must be enough for a fact; where no object has such keys they are those of the first object, and nothing where
    there is no object.
    """
    whole: Counter[tuple[str, ...]] = Counter()
    first: tuple[str, ...] | None = None
    for record in records(path, "\t"):
        try:
            names = tuple(_row(record.text))
        except BadRowError:
            continue
        first = names if first is None else first
        whole.update([names] if names in whole or _is_whole(names, config) else [])
        if whole.total() == _FIRST_ROWS:
            break
    found = whole.most_common(1)[0][0] if whole else first
    return None if found is None else list(found)


def _is_whole(names: tuple[str, ...], config: DataConfig) -> bool:
    """Return whether the columns can be found by these keys."""
    try:
        map_columns(config.columns, names, len(names), "", config.timeless)
    except DataError:
        return False
    return True


def _row(text: str) -> dict[str, Any]:
    try:
        row = parse_json(text)
    except ValueError as error:
        raise BadRowError(f"not valid JSON: {error}; fix the line", "not valid JSON") from None
    if not isinstance(row, dict):
        raise BadRowError(f"expected an object, found {text.strip()[:40]}; fix the line", "no object")
    return row


def _text(role: str, value: Any) -> str | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return None if value is None else str(value)
    if isinstance(value, float) and role in TIMES:
        return str(value)  # a year that pandas has made 2000.0
    if not isinstance(value, str):
        found = json.dumps(value)[:40]
        raise BadRowError(f"the {role} {found} is neither text nor an integer; put it in quotes", f"no text: {role}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadRowError(f"the {role} is not valid UTF-8; save the file as UTF-8") from None
    return value


def _split(path: Path, _: DataConfig, parts: SplitRows, out: Path) -> list[Path]:
    return copy_records(records(path, "\t"), "", parts, out, ".jsonl")


JSON_LINES = FileFormat("JSON Lines", (".jsonl", ".ndjson"), _read, _split)
