"""RE-Net's layout: `subject predicate object time` in ids, perhaps with a fifth column that is always 0 or -1.

Splits are files called train, valid and test; they stay splits. `entity2id.txt` and `relation2id.txt` beside them give
the names. The fifth column says nothing and is left out. Times are integers and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from foretime.config import Section
from foretime.data.formats.table import Coded
from foretime.data.importers.base import EVENTS, EventSource, ImportBatch
from foretime.data.importers.delimited import Layout, read_rows
from foretime.data.importers.inputs import InputFile
from foretime.data.importers.recognising import head_of
from foretime.data.importers.rows import Mask, Rows, convert, is_absent
from foretime.data.problems import Problems
from foretime.data.sources import ID_FILES, IdNames, read_id_names
from foretime.errors import DataError

_ROLES = ("subject", "predicate", "object", "time")
_SPLITS = {"train": "train", "valid": "valid", "val": "valid", "dev": "valid", "validation": "valid", "test": "test"}
_BESIDE = (*ID_FILES, "stat.txt")


class RenetOptions(Section):
    """What can be chosen when RE-Net's files are imported."""

    names: Literal["auto", "as-is"] = "auto"
    """`auto` replaces ids by the names of `entity2id.txt` and `relation2id.txt`; `as-is` keeps the ids."""
    merge: bool = True
    """Whether the same fact at one time is kept only once in a split."""


def _read(files: Sequence[InputFile], options: RenetOptions) -> Iterator[ImportBatch]:
    for file in files:
        if file.path.name in _BESIDE:
            continue
        names = _names(file.path.parent) if options.names == "auto" and not file.member else {}
        for rows in read_rows(file, _layout(file)):
            yield _batch(rows, names, _SPLITS.get(Path(file.name).stem.lower(), EVENTS))


def _names(folder: Path) -> dict[str, IdNames]:
    problems = Problems()
    names = read_id_names(folder, problems)
    problems.check()
    return names


def _layout(file: InputFile) -> Layout:
    """Return the layout of a file: four or five columns, separated by tabs or single blanks."""
    line = (head_of(file).lines or ("",))[0]
    delimiter = "\t" if "\t" in line else " "
    width = len(line.rstrip().split(delimiter))
    if width not in (4, 5):
        raise DataError(f"{file.label}:1: expected 4 or 5 columns of ids, found {width}; is it a file of RE-Net's?")
    return Layout((*_ROLES, "constant")[:width], (*_ROLES, "constant")[:width], delimiter=delimiter)


def _batch(rows: Rows, names: dict[str, IdNames], table: str) -> ImportBatch:
    rows.drop(_differs(rows), "a fifth column that is neither 0 nor -1: an interval")
    time = convert(rows["time"], lambda text: text if text.removeprefix("-").isdecimal() else None)
    rows.drop(is_absent(time), "the time is no integer")
    facts: dict[str, Coded] = {}
    for role in _ROLES[:3]:
        known = names.get(role)
        facts[role] = convert(rows[role], lambda text, known=known: known.names.get(text) if known else text or None)  # type: ignore[misc]
        rows.drop(is_absent(facts[role]), f"the {role} has no name" if known else f"the {role} is empty")
    return rows.batch([facts | {"time": time}], table=table)


def _differs(rows: Rows) -> Mask:
    if "constant" not in rows.columns:
        return np.zeros(len(rows), dtype=bool)
    return is_absent(convert(rows["constant"], lambda text: text if text in ("0", "-1") else None))


RENET = EventSource("renet", "RE-Net's files", RenetOptions, (".txt", ".tsv"), _read, None, False)
