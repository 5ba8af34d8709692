"""Facts by their ids, and the labels of ids, kept on disk until all of the input was read.

The label of an entity may come after the facts about it, or in another file, and of most entities of a dump nothing is
used but the label. So both wait in a SQLite file in the folder for temporary files (`TMPDIR`), and only what facts use
is brought back.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from foretime.data.linked.naming import unique_names
from foretime.data.linked.statements import LinkedFact

_TABLES = """
create table fact(file integer, row integer, subject text, predicate text, object text, start text, stop text);
create table label(entity text, preference integer, text text);
create table type(entity text, type text);
create table alias(entity text, alias text);
"""
_FAST = (
    "journal_mode = off",
    "synchronous = off",
    "cache_size = -65536",
    "temp_store = file",
    "locking_mode = exclusive",
)
_PENDING = 20_000
"""Rows that wait in memory before they are written."""


class ShelvedFact(NamedTuple):
    """A fact with its names, the number of its file and that of the statement behind it."""

    file: int
    row: int
    subject: str
    predicate: str
    object: str
    start: str
    end: str


class EntityNames(NamedTuple):
    """How an entity is called, and what else is known of it."""

    entity: str
    name: str
    types: tuple[str, ...]
    aliases: tuple[str, ...]


class Shelf:
    """Takes facts and names in any order, and gives the facts with their names when all is there."""

    def __init__(self, database: sqlite3.Connection, short: Callable[[str], str] = str) -> None:
        self.database = database
        self._short = short
        self._pending: dict[str, list[tuple[object, ...]]] = {}
        database.executescript(_TABLES)

    def add_fact(self, file: int, row: int, fact: LinkedFact) -> None:
        """Take a fact of a file; facts of one statement have the same row."""
        self.insert("fact", (file, row, *fact[:5]))

    def add_label(self, entity: str, text: str, preference: int = 0) -> None:
        """Take a label of an entity; of several the one with the lowest preference number names it."""
        self.insert("label", (entity, preference, text))

    def add_types(self, entity: str, types: Iterable[str]) -> None:
        """Take what an entity is an instance of."""
        for type_ in types:
            self.insert("type", (entity, type_))

    def add_aliases(self, entity: str, aliases: Iterable[str]) -> None:
        """Take other names of an entity."""
        for alias in aliases:
            self.insert("alias", (entity, alias))

    def insert(self, table: str, row: tuple[object, ...]) -> None:
        """Take a row of any table."""
        waiting = self._pending.setdefault(table, [])
        waiting.append(row)
        if len(waiting) >= _PENDING:
            self._write(table)

    def settle(self) -> None:
        """Write what waits in memory."""
        for table in self._pending:
            self._write(table)

    def _write(self, table: str) -> None:
        rows = self._pending[table]
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            self.database.executemany(f"insert into {table} values ({marks})", rows)
            rows.clear()

    def named_facts(self) -> Iterator[ShelvedFact]:
        """Yield every fact with its names, file by file in the order of the rows."""
        entities, predicates = self._names("subject", "object"), self._names("predicate")
        for file, row, subject, predicate, object_, start, end in self.database.execute(
            "select file, row, subject, predicate, object, start, stop from fact order by file, row"
        ):
            yield ShelvedFact(file, row, entities[subject], predicates[predicate], entities[object_], start, end)

    def entities(self) -> Iterator[EntityNames]:
        """Yield how each entity of a fact is called, with the names of its types and its other names.

        The label and the id of an entity are among its other names, where they are not its name.
        """
        names, labels = self._names("subject", "object"), self._labels("subject", "object")
        types, aliases = self._grouped("type"), self._grouped("alias")
        type_labels = self._type_labels()
        for entity in sorted(names):  # in the order in which SQLite has them: by code points
            own = [type_labels.get(type_) or self._short(type_) for type_ in types(entity)]
            others = dict.fromkeys([labels[entity], *aliases(entity), self._short(entity)])
            known = tuple(other for other in others if other and other != names[entity])
            yield EntityNames(entity, names[entity], tuple(dict.fromkeys(own)), known)

    def _names(self, *roles: str) -> dict[str, str]:
        return unique_names(self._labels(*roles), self._short)

    def _labels(self, *roles: str) -> dict[str, str]:
        """Return the label of everything that is in one of these roles of a fact, empty where it has none."""
        self.settle()
        self.database.execute("create index if not exists label_entity on label(entity)")
        used = " union ".join(f"select {role} as entity from fact" for role in roles)
        return dict(self._best_labels(used))

    def _type_labels(self) -> dict[str, str]:
        return dict(self._best_labels("select distinct type as entity from type"))

    def _best_labels(self, used: str) -> Iterator[tuple[str, str]]:
        # of a column beside min(), SQLite gives the value in the row of the minimum
        found = self.database.execute(
            f"select used.entity, label.text, min(label.preference) from ({used}) as used "
            "left join label on label.entity = used.entity group by used.entity"
        )
        return ((entity, text or "") for entity, text, _ in found)

    def _grouped(self, table: str) -> Callable[[str], list[str]]:
        """Return what a table has for an entity; entities are to be asked for in order."""
        rows = self.database.execute(
            f"select entity, {table} from {table} "
            "where entity in (select subject from fact union select object from fact) order by entity, rowid"
        )
        groups = groupby(rows, key=lambda row: str(row[0]))
        current: list[tuple[str, list[str]]] = []

        def of(entity: str) -> list[str]:
            while not current or current[-1][0] < entity:
                following = next(groups, None)
                if following is None:
                    return []
                current[:] = [(following[0], [str(value) for _, value in following[1]])]
            return current[-1][1] if current[-1][0] == entity else []

        return of


@contextmanager
def open_shelf(short: Callable[[str], str] = str) -> Iterator[Shelf]:
    """Give an empty shelf, whose file is removed in the end; `short` is the short form of an id."""
    with tempfile.TemporaryDirectory(prefix="foretime-") as folder:
        database = sqlite3.connect(Path(folder) / "shelf.db", isolation_level=None)
        try:
            for setting in _FAST:
                database.execute(f"pragma {setting}")
            database.execute("begin")
            yield Shelf(database, short)
        finally:
            database.close()
