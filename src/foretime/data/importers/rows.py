"""Rows of a table as columns of texts, some of which are dropped for a reason while the others become facts."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foretime.data.facts import Ids
from foretime.data.formats.table import ABSENT, Coded
from foretime.data.importers.base import EVENTS, Attribute, DroppedRow, ImportBatch, coded

Mask = NDArray[np.bool_]
KEPT = -1

NOTHING = frozenset({"", "None"})
"""Cells that say that there is nothing: the files of ICEWS and POLECAT have the literal `None`."""


def name_of(text: str) -> str | None:
    """Return a name with single blanks and in Unicode's composed form; None where there is none."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    return None if name in NOTHING else name


def convert(column: Coded, change: Callable[[str], str | None]) -> Coded:
    """Return a column with every value changed, each different one only once; None makes a cell absent."""
    changed = coded(change(value) for value in column.values)
    return Coded(changed.values, np.append(changed.codes, ABSENT)[column.codes])


def is_absent(column: Coded) -> Mask:
    """Return which cells have no value."""
    return np.asarray(column.codes == ABSENT)


def is_one_of(column: Coded, values: set[str] | frozenset[str]) -> Mask:
    """Return which cells have one of the values."""
    return np.array([*(value in values for value in column.values), False], dtype=bool)[column.codes]


def first_known(*columns: Coded) -> Coded:
    """Return for each row the value of the first column that has one."""
    values = [value for column in columns for value in column.values]
    codes, before = np.full(len(columns[0].codes), ABSENT, dtype=np.int64), 0
    for column in columns:
        codes = np.where((codes == ABSENT) & (column.codes != ABSENT), column.codes + before, codes)
        before += len(column.values)
    return convert(Coded(values, codes), str)


def paired(first: Coded, second: Coded, between: str) -> Coded:
    """Return the values of two columns in one, or that of the first where the second has none."""
    width = len(second.values) + 1
    codes = np.where(first.codes == ABSENT, ABSENT, first.codes * width + second.codes + 1)  # 0: there is no second
    pairs, places = np.unique(codes, return_inverse=True)
    ends = [between + value for value in second.values]
    texts = [
        "" if pair == ABSENT else first.values[pair // width] + ["", *ends][pair % width] for pair in pairs.tolist()
    ]
    return convert(Coded(texts, places), lambda text: text or None)


class Described(NamedTuple):
    """A column of entities, and columns that say one attribute of them; with a separator, cells are lists."""

    entity: Coded
    attribute: str
    columns: Sequence[Coded]
    separator: str = ""


class Rows:
    """Some rows of a file: the line and the cells of each, and why it is dropped if it is."""

    def __init__(self, file: str, lines: Ids, columns: dict[str, Coded], text: Callable[[int], str]) -> None:
        self.file = file
        self.columns = columns
        self._lines = lines
        self._text = text
        self._reasons: dict[str, int] = {}
        self._why = np.full(len(lines), KEPT, dtype=np.int16)

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, name: str) -> Coded:
        return self.columns[name]

    @property
    def kept(self) -> Mask:
        """Which rows are not dropped."""
        return np.asarray(self._why == KEPT)

    def drop(self, which: Mask, reason: str) -> None:
        """Drop rows for a reason; those that are dropped already keep theirs."""
        self._why[which & self.kept] = self._reasons.setdefault(reason, len(self._reasons))

    def dropped(self) -> list[DroppedRow]:
        """Return the rows that are dropped."""
        reasons = list(self._reasons)
        rows = np.flatnonzero(~self.kept).tolist()
        lines, why = self._lines.tolist(), self._why.tolist()
        return [DroppedRow(lines[row], reasons[why[row]], self._text(row)) for row in rows]

    def batch(
        self,
        facts: Sequence[Mapping[str, Coded]],
        described: Sequence[Described] = (),
        notes: Mapping[str, Mask] | None = None,
        table: str = EVENTS,
    ) -> ImportBatch:
        """Return the batch of the rows that are kept: each gives one fact of every mapping in `facts`."""
        kept = np.flatnonzero(self.kept)
        columns = {role: _joined([each[role] for each in facts], kept) for role in facts[0]}
        attributes = [attribute for each in described for attribute in _attributes(each, kept)]
        counted = {remark: int(which[kept].sum()) for remark, which in (notes or {}).items()}
        return ImportBatch(
            self.file,
            len(self),
            columns,
            np.repeat(kept, len(facts)),
            self.dropped(),
            attributes,
            {remark: count for remark, count in counted.items() if count},
            table,
        )


def _joined(columns: Sequence[Coded], rows: Ids) -> Coded:
    """Return the cells of some rows of several columns, those of one row behind each other."""
    codes, values = [], list(columns[0].values)
    for column in columns:
        if column.values != values:  # columns of other texts are numbered on
            codes.append(np.where(column.codes[rows] == ABSENT, ABSENT, column.codes[rows] + len(values)))
            values += column.values
        else:
            codes.append(column.codes[rows])
    return _without_unused(values, np.stack(codes, axis=1).ravel())


def _without_unused(values: Sequence[str], codes: Ids) -> Coded:
    """Return a column of the values that occur, so that the name of a dropped row is the name of nothing."""
    used = np.bincount(codes[codes != ABSENT], minlength=len(values)) > 0
    renumbered = np.append(np.where(used, np.cumsum(used) - 1, ABSENT), ABSENT)
    return Coded([value for value, is_used in zip(values, used, strict=True) if is_used], renumbered[codes])


def _attributes(described: Described, rows: Ids) -> list[Attribute]:
    """Return what rows say of their entities, each thing once with the number of rows."""
    entity, attribute, columns, separator = described
    found: list[Attribute] = []
    for column in columns:
        both = rows[(entity.codes[rows] != ABSENT) & (column.codes[rows] != ABSENT)]
        pairs = pa.array(entity.codes[both] * len(column.values) + column.codes[both]).value_counts()
        for pair, count in zip(pairs.field(0).to_pylist(), pairs.field(1).to_pylist(), strict=True):
            who, what = divmod(pair, len(column.values))
            values = _listed(column.values[what], separator)
            found += [Attribute(entity.values[who], attribute, value, count) for value in values]
    return found


def _listed(text: str, separator: str) -> list[str]:
    parts = text.split(separator) if separator else [text]
    return [part for part in (part.strip() for part in parts) if part and part not in NOTHING]
