"""SQLite: a file that is opened read-only, by its ADBC driver.

A column of SQLite may hold values of any type, and the driver takes the type of a column from its first rows. So each
cell is asked for as text with the letter of its own type before it, which no later row can contradict.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from foretime.data.databases.address import Address
from foretime.data.databases.batches import ROWS, of_type, read_coded
from foretime.data.databases.session import ONE_SELECT, Database, Session, failure

_TABLES = r"""
select 'main', name from sqlite_master
where type in ('table', 'view') and name not like 'sqlite\_%' escape '\' order by 2
"""
_TYPES = {b"r": "real", b"b": "blob"}
"""The types that are neither text nor integers, by their letters."""


@dataclass(frozen=True)
class _SQLiteSession:
    address: Address
    connection: Any

    def tables(self) -> list[tuple[str, str]]:
        with _told(self.address), self.connection.cursor() as cursor:
            cursor.execute(_TABLES)
            return list(cursor.fetchall())

    def read(self, query: str) -> pa.Table:
        inner = f"({query}\n)"  # in brackets nothing but one SELECT can be read; the last line may be a comment
        options = {"adbc.sqlite.query.batch_rows": str(ROWS)}
        with _told(self.address), self.connection.cursor(adbc_stmt_kwargs=options) as cursor:
            cursor.execute(f"select * from {inner} limit 0")
            names = [column[0] for column in cursor.description]
            cursor.execute(f"select {', '.join(map(_cell, names))} from {inner}")
            lettered = read_coded(cursor.fetch_record_batch())
        return pa.table([_without_letters(column) for column in lettered.columns], names)


@contextmanager
def _told(address: Address) -> Iterator[None]:
    """Whatever SQLite says against a query is a `DataError`."""
    import adbc_driver_manager

    try:
        yield
    except (adbc_driver_manager.Error, pa.ArrowException, OSError) as error:
        reason = _reason(error)
        remedies = {"locked": "wait until it is written", "not a database": "is it a SQLite file?"}
        remedy = next((remedy for word, remedy in remedies.items() if word in reason), ONE_SELECT)
        raise failure(address, f"the query failed: {reason}", remedy) from None


def _cell(name: str) -> str:
    column = '"' + name.replace('"', '""') + '"'
    return (
        f"case typeof({column}) when 'text' then 't' || {column} when 'integer' then 'i' || {column} "
        f"else substr(typeof({column}), 1, 1) end"
    )


def _without_letters(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as texts, null where it was null; as one of another type if it has any such value."""
    chunks = []
    for chunk in column.chunks:
        cells = chunk.dictionary.cast(pa.binary())
        letters = pc.binary_slice(cells, 0, 1).to_pylist()
        if other := next((_TYPES[letter] for letter in letters if letter in _TYPES), None):
            return of_type(other, len(column))
        codes = chunk.indices.to_numpy()
        is_null = np.array([letter == b"n" for letter in letters], dtype=bool)[codes]
        # whether it is UTF-8 is checked where it is needed
        texts = pc.binary_replace_slice(cells, 0, 1, b"").view(pa.string())
        chunks.append(pa.DictionaryArray.from_arrays(pa.array(codes, mask=is_null), texts))
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string()))


def _reason(error: Exception) -> str:
    """Return what SQLite says, without the words of the driver and without the query that it repeats."""
    return str(error).split("\nquery:")[0].rpartition("Failed to prepare query: ")[2].rpartition("[SQLite] ")[2]


@contextmanager
def _open(address: Address) -> Iterator[Session]:
    import adbc_driver_manager
    import adbc_driver_sqlite.dbapi

    try:
        connection = adbc_driver_sqlite.dbapi.connect(f"{Path(address.target).resolve().as_uri()}?mode=ro")
    except adbc_driver_manager.Error as error:
        raise failure(address, _reason(error), "is it a SQLite file that you may read?") from None
    with connection:
        yield _SQLiteSession(address, connection)


SQLITE = Database("SQLite", _open)
