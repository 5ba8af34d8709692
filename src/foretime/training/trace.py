"""The trace of a training: a line of JSON for each epoch, which says what its losses were and how long it took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foretime.errors import RunError


def read_trace(file: Path) -> list[dict[str, Any]]:
    """Return the lines of a trace, none if there is no such file; a line without an epoch is a `RunError`.

    What stands behind the last end of a line is left out: it is being written, or a power cut has left it.
    """
    lines = file.read_bytes().split(b"\n") if file.exists() else []
    records = []
    for number, line in enumerate(lines, start=1):
        record = _record(line)
        if record is not None:
            records.append(record)
        elif line.strip() and number < len(lines):
            raise RunError(f"{file}:{number}: not a line of a trace; fix the line or remove it")
    return records


def _record(line: bytes) -> dict[str, Any] | None:
    """Return the record of an epoch in a line, nothing if it lacks what every trace must have."""
    try:
        record = json.loads(line)
    except ValueError:  # also where it is no text
        return None
    if not isinstance(record, dict):
        return None
    numbers = (record.get("seconds"), record.get("valid_mrr", 0.0))
    whole = isinstance(record.get("epoch"), int) and all(isinstance(number, int | float) for number in numbers)
    return record if whole else None
