"""What two folders must have in common if nothing was lost: everything but times and the machine."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import safetensors.numpy

TIMED = ("training_seconds", "peak_memory_mb", "machine")
"""What a report says of the time and the machine."""

MOST = 1 << 28
"""Bytes of a file that is looked into."""


def contents_of(folder: Path) -> dict[str, Any]:
    """Return what every file below a folder holds, by its name: none if the folder is missing."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {file.relative_to(folder).as_posix(): content_of(file) for file in files}


def content_of(file: Path) -> Any:
    """Return what a file of a run or of an import holds, without times; of one that is not whole the hash."""
    with suppress(
        OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, safetensors.SafetensorError
    ):
        return _without_times(file)
    return _hash(file)


def _without_times(file: Path) -> Any:
    if file.name.startswith(".") or file.stat().st_size > MOST:  # what a process has begun to write
        return _hash(file)
    if file.name in ("best.safetensors", "last.safetensors"):
        return _checkpoint(file)
    if file.name.startswith("report"):
        return {name: value for name, value in _json(file).items() if name not in TIMED}
    if file.name == "manifest.json":  # hashes of checkpoints and of the report, which have times in them
        found = _json(file)
        return {**found, "files": sorted(found["files"])}
    if file.name == "trace.jsonl":
        return [_without(json.loads(line), "seconds") for line in file.read_text(encoding="utf-8").splitlines()]
    if file.parent.name == "updates" and file.name == "list.json":  # hashes of what has times in it
        return len(_json(file)["sha256"])
    if file.parent.name == "updates":
        head, _, body = file.read_text(encoding="utf-8").partition("\n")
        return _without(json.loads(head), "added", "sha256"), body
    return _hash(file)


def differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Return the names of files that only one of two folders has, or that differ."""
    return [name for name in sorted(found.keys() | wanted.keys()) if found.get(name) != wanted.get(name)]


def _hash(file: Path) -> str:
    if file.stat().st_size > MOST:
        return f"{file.stat().st_size} bytes"
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _checkpoint(file: Path) -> Any:
    with safetensors.safe_open(file, framework="numpy") as stream:
        progress = json.loads(stream.metadata()["progress"])
    tensors = safetensors.numpy.load_file(file)
    found = {name: (str(value.dtype), value.shape, value.tobytes()) for name, value in tensors.items()}
    return _without(progress, "seconds"), found


def _json(file: Path) -> dict[str, Any]:
    return dict(json.loads(file.read_text(encoding="utf-8")))


def _without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in names}
