"""Layouts that a header gives, and what is said where a column is missing."""

from __future__ import annotations

from collections.abc import Sequence

from foretime.data.importers.delimited import Layout
from foretime.data.importers.inputs import InputFile
from foretime.data.importers.recognising import head_of
from foretime.errors import DataError


def header_layout(
    file: InputFile, wanted: Sequence[str], optional: Sequence[str] = (), delimiter: str = "\t", latin: bool = False
) -> Layout:
    """Return the layout that the first row of a file names; raise `DataError` if a wanted column is missing.

    Of the optional columns those are taken that are there. Names are compared as they stand.
    """
    names = header_names(file, delimiter)
    check_columns(file.label, names, wanted)
    chosen = (*wanted, *(name for name in optional if name in names))
    return Layout(names, chosen, header=True, delimiter=delimiter, latin=latin)


def header_names(file: InputFile, delimiter: str = "\t") -> tuple[str, ...]:
    """Return the cells of the first row; a name that comes again has its number behind it, as columns need names."""
    first = (head_of(file).lines or ("",))[0]
    seen: dict[str, int] = {}
    names = []
    for cell in first.split(delimiter):
        name = cell.strip()
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return tuple(names)


def check_columns(label: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise `DataError` if a wanted column is missing."""
    if missing := [name for name in wanted if name not in names]:
        listed = ", ".join(repr(name) for name in missing)
        raise DataError(f"{label}:1: no column {listed} in the header; is it a file of this source, with its header?")
