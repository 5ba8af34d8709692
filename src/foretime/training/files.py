"""The files that a training writes as it goes: its trace and its checkpoints."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from foretime.files import write_text
from foretime.training.trace import read_trace


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
        with self.trace_file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")
            stream.flush()
            os.fsync(stream.fileno())

    def rewind_trace(self, epoch: int) -> None:
        """Drop the lines of the epoch and of later ones, which are about to be trained again."""
        kept = [record for record in self.trace() if record["epoch"] < epoch]
        write_text(self.trace_file, "".join(json.dumps(record) + "\n" for record in kept))
