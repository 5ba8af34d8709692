"""Facts of many batches as columns of numbers, the same fact only once, and what was said of each entity."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foretime.data.columns import EVENT, INTERVAL, KNOWN
from foretime.data.formats.table import ABSENT, Coded
from foretime.data.importers.base import Attribute, ImportBatch
from foretime.errors import DataError

Codes = NDArray[np.int32]
_LEAST = 1 << 21
"""Facts that are collected, at least, before equal ones among them are merged."""


class _Names:
    """Texts with numbers in the order in which they first come."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def codes(self, column: Coded) -> Codes:
        """Return the number of each cell, `ABSENT` where there is none."""
        number = [self.numbers.setdefault(value, len(self.numbers)) for value in column.values]
        return np.array([*number, ABSENT], dtype=np.int32)[column.codes]


class FactTable(NamedTuple):
    """The facts of a table, by role: the texts, and for each fact the number of its text."""

    columns: dict[str, tuple[list[str], Codes]]

    def __len__(self) -> int:
        return len(self.columns["subject"][1])


class Collector:
    """Collects the facts of one table. Its memory grows with the number of different facts and names, not of rows."""

    def __init__(self, merge: bool = True) -> None:
        self._merge = merge
        self._names = {"entity": _Names(), "predicate": _Names(), "time": _Names(), KNOWN: _Names()}
        self._roles: tuple[str, ...] = ()
        self._unique: list[Codes] = []
        self._pending: list[list[Codes]] = []
        self._waiting = 0
        self._rows = 0
        self.kept = 0
        self.merged = 0

    def add(self, batch: ImportBatch) -> None:
        """Take the facts of a batch."""
        if not len(batch.rows):
            return
        roles = INTERVAL if "start" in batch.facts else EVENT
        self._roles = self._roles or roles
        if roles != self._roles:
            raise DataError(f"{batch.file}: events and intervals in one import; import them into two folders")
        columns = [self._names[_KIND[role]].codes(batch.facts[role]) for role in roles]
        known = batch.facts.get(KNOWN)
        columns.append(self._names[KNOWN].codes(known) if known else np.full(len(batch.rows), ABSENT, dtype=np.int32))
        # numbered on through all batches: they are told apart when facts of many are merged
        columns.append((batch.rows - batch.rows.min() + self._rows).astype(np.int64))
        self._rows += int(batch.rows.max() - batch.rows.min()) + 1
        self._pending.append(columns)
        self._waiting += len(batch.rows)
        if self._waiting >= max(_LEAST, len(self._unique[0]) if self._unique else 0):
            self._settle()

    def facts(self) -> FactTable:
        """Return the facts, each once, in the order in which they first came."""
        self._settle()
        if not self._unique:
            return FactTable({role: ([], np.empty(0, dtype=np.int32)) for role in EVENT})
        texts = {kind: list(names.numbers) for kind, names in self._names.items()}
        roles = (*self._roles, *([KNOWN] if texts[KNOWN] else []))
        columns = dict(zip((*self._roles, KNOWN), self._unique, strict=True))
        return FactTable({role: (texts[_KIND[role]], columns[role]) for role in roles})

    def _settle(self) -> None:
        """Merge what is pending with what there is, and count the rows that brought nothing new."""
        if not self._pending:
            return
        *columns, rows = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
        self._pending, self._waiting = [], 0
        before = len(self._unique[0]) if self._unique else 0
        every = [np.concatenate(pair) for pair in zip(self._unique, columns, strict=True)] if before else columns
        self._unique, first = self._group(every, before) if self._merge else (every, np.arange(len(rows)))
        kept, taken = len(np.unique(rows[first])), len(np.unique(rows))
        self.kept += kept
        self.merged += taken - kept

    def _group(self, every: list[Codes], before: int) -> tuple[list[Codes], NDArray[np.int64]]:
        """Return all facts once, with the earliest day on which each was known, and which new ones were the first.

        The facts up to `before` are those that were there already.
        """
        *keys, known = every
        texts = np.array([*self._names[KNOWN].numbers, ""], dtype=object)  # the last is for ABSENT
        order = np.argsort(texts[:-1])
        rank = np.append(np.argsort(order), len(order)).astype(np.int32)  # not known comes last: any day is better
        table = pa.table(
            {**dict(zip(self._roles, keys, strict=True)), "known": rank[known], "at": np.arange(len(known))}
        )
        grouped = table.group_by(list(self._roles), use_threads=False).aggregate([("known", "min"), ("at", "min")])
        back = np.append(order, ABSENT).astype(np.int32)
        settled = [grouped[role].to_numpy() for role in self._roles]
        first = grouped["at_min"].to_numpy()
        return [*settled, back[grouped["known_min"].to_numpy()]], first[first >= before] - before


_KIND = {"subject": "entity", "object": "entity", "predicate": "predicate", KNOWN: KNOWN} | dict.fromkeys(
    ("time", "start", "end"), "time"
)


class AttributeCounts:
    """What was said of each entity, and how often."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self.names: dict[str, None] = {}
        """The attributes that were met, in the order in which they came."""

    def add(self, attributes: Iterable[Attribute]) -> None:
        """Count what some rows say."""
        for entity, attribute, value, rows in attributes:
            self.names.setdefault(attribute)
            self._said[entity][attribute][value] += rows

    def of(self, entity: str, attribute: str) -> list[str]:
        """Return the values that were said of an entity, the most frequent first, equal ones by name."""
        counts = self._said.get(entity, {}).get(attribute)
        return sorted(counts, key=lambda value: (-counts[value], value)) if counts else []
