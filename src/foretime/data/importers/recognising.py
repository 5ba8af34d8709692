"""Which source files are of, seen from how they begin."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from foretime.data.importers.base import EventSource, Head
from foretime.data.importers.inputs import InputFile, find_inputs
from foretime.errors import DataError

_LOOKED_AT = 1 << 16
_LINES = 20


def head_of(file: InputFile) -> Head:
    """Return how a file begins."""
    with file.open() as stream:
        start = stream.read(_LOOKED_AT)
    text = start.decode("utf-8-sig", errors="replace")
    lines = text.splitlines()
    # the last one may be cut off, which nobody minds in JSON of one line
    whole = lines if len(start) < _LOOKED_AT or len(lines) == 1 else lines[:-1]
    return Head(file.name, tuple(islice((line for line in whole if line.strip()), _LINES)))


def names_all(head: Head, delimiter: str, names: Iterable[str]) -> bool:
    """Return whether the first line is a header with all these names, in any order; case does not matter."""
    if not head.lines:
        return False
    cells = next(csv.reader([head.lines[0]], delimiter=delimiter, quoting=csv.QUOTE_MINIMAL), [])
    return {name.casefold() for name in names} <= {cell.strip().casefold() for cell in cells}


def recognise_path(path: Path, sources: Iterable[EventSource]) -> EventSource | None:
    """Return the source that a file, or the first file of a folder, is unmistakably of; none if it cannot be told."""
    try:
        files = find_inputs([path], [suffix for source in sources for suffix in source.suffixes]).files
        head = head_of(files[0])
    except DataError:
        return None
    return next((source for source in sources if source.recognise and source.recognise(head)), None)


def refuse_other(source: EventSource, files: Iterable[InputFile], sources: Iterable[EventSource]) -> None:
    """Raise `DataError` for a file that is unmistakably of another source than the one that was named."""
    others = [other for other in sources if other.recognise and other is not source]
    for file in files:
        head = head_of(file)
        if source.recognise and source.recognise(head):
            continue
        if found := next((other for other in others if other.recognise and other.recognise(head)), None):
            raise DataError(
                f"{file.label}: looks like {found.title}, not like {source.title}; import it with `foretime data "
                f"import {found.name}`"
            )


def recognise_source(paths: Sequence[Path], sources: Sequence[EventSource]) -> EventSource:
    """Return the one source that all files are of; raise `DataError` if some are of none or of another."""
    every = sorted({suffix for source in sources for suffix in source.suffixes})
    found: dict[str, list[str]] = {}
    for file in find_inputs(paths, every).files:
        head = head_of(file)
        fitting = [source.name for source in sources if source.recognise and source.recognise(head)]
        found.setdefault(" or ".join(fitting), []).append(file.label)
    listed = ", ".join(source.name for source in sources)
    if set(found) <= {""}:
        raise DataError(f"{found.get('', ['the files'])[0]}: of no source that can be told; name it, one of {listed}")
    if len(known := [name for name in found if name]) > 1:
        examples = "; ".join(f"{found[name][0]} is {name}" for name in known)
        raise DataError(f"files of several sources: {examples}; import each by itself")
    by_name = {source.name: source for source in sources}
    if known[0] not in by_name:
        raise DataError(f"{found[known[0]][0]}: may be {known[0]}; name the source")
    return by_name[known[0]]
