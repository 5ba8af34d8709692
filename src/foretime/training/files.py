"""The files of a training: its checkpoints, and its trace with a line of JSON for each epoch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foretime.errors import RunError
from foretime.files import append_line, parse_json, read_bytes, write_text


class TrainingFiles:
    """The trace, the last checkpoint and the best weights of a training in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trace_file = path / "trace.jsonl"
        self.last_file = path / "last.safetensors"
        self.best_file = path / "best.safetensors"

    def trace(self) -> list[dict[str, Any]]:
        """Return the lines of the trace, one for each finished epoch."""
        return read_trace(self.trace_file)

    def append_trace(self, record: dict[str, Any]) -> None:
        """Add a line to the trace."""
        append_line(self.trace_file, json.dumps(record))

    def rewind_trace(self, epoch: int) -> None:
        """Drop the lines of the epoch and of later ones, which are about to be trained again."""
        kept = [record for record in self.trace() if record["epoch"] < epoch]
        write_text(self.trace_file, "".join(json.dumps(record) + "\n" for record in kept))


def read_trace(file: Path) -> list[dict[str, Any]]:
    """Return the lines of a trace, none if there is no such file; a line without an epoch is a `RunError`.

    What stands behind the last end of a line is left out: it is being written, or a power cut has left it.
    """
    try:
        lines = read_bytes(file).split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(f"{file}: cannot be read: {error}; restore the file or remove it") from None
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
        record = parse_json(line)
    except ValueError:  # also where it is no text
        return None
    if not isinstance(record, dict):
        return None
    numbers = (record.get("seconds"), record.get("valid_mrr", 0.0))
    whole = isinstance(record.get("epoch"), int) and all(isinstance(number, int | float) for number in numbers)
    return record if whole else None
