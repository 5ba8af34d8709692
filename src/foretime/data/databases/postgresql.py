"""PostgreSQL: a server that is asked in a read-only transaction, by its ADBC driver."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from foretime.data.databases.address import Address
from foretime.data.databases.batches import of_type, read_coded
from foretime.data.databases.session import ONE_SELECT, Database, Session, failure

SECONDS_TO_CONNECT = 10
_TABLES = r"""
select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'v', 'm', 'f', 'p') and n.nspname <> 'information_schema' and n.nspname not like 'pg\_%'
order by 1, 2
"""
_BEFORE = (
    "set transaction isolation level repeatable read, read only",  # must be the first of the transaction
    "set local client_encoding to 'UTF8'",  # the driver hands on bytes as they come, and Arrow wants UTF-8
    "set local synchronize_seqscans to off",  # the same table in the same order: a split by a seed depends on it
)
_MISLEADING = ("money", "oid")
"""Types that the driver hands on as numbers which are not what the table shows: $1.50 as 150."""


@dataclass(frozen=True)
class _PostgreSQLSession:
    address: Address
    connection: Any

    def tables(self) -> list[tuple[str, str]]:
        with _told(self.address), self.connection.cursor() as cursor:
            cursor.execute(_TABLES)
            return list(cursor.fetchall())

    def read(self, query: str) -> pa.Table:
        with _told(self.address), self.connection.cursor() as cursor:
            cursor.adbc_prepare(query)  # says what is wrong in the words of the query alone
            # in brackets nothing but one SELECT can be read; the last line may be a comment
            cursor.execute(f"select * from ({query}\n) as result")
            return _shown_values(read_coded(cursor.fetch_record_batch()))


@contextmanager
def _told(address: Address) -> Iterator[None]:
    """Whatever PostgreSQL says against a query is a `DataError`."""
    import adbc_driver_manager

    try:
        yield
    except (adbc_driver_manager.Error, pa.ArrowException, OSError) as error:
        raise failure(address, f"the query failed: {_reason(error)}", ONE_SELECT) from None


def _shown_values(table: pa.Table) -> pa.Table:
    """Return a table whose columns hold what PostgreSQL shows."""
    columns = []
    for own, column in zip(table.schema, table.columns, strict=True):
        kind = (own.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
        shown = of_type(kind, len(table)) if kind in _MISLEADING else column
        columns.append(_unpadded(column) if kind == "bpchar" else shown)
    return pa.table(columns, table.column_names)


def _unpadded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the texts of a char(n) without the blanks that fill it up, which mean nothing to PostgreSQL either."""
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, pc.ascii_rtrim(chunk.dictionary, " ")).dictionary_decode()
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, column.type.value_type)


def _reason(error: Exception) -> str:
    """Return what the server says, without the words of the driver and without the query that it repeats."""
    details = dict(getattr(error, "details", None) or [])
    if said := details.get(b"PG_DIAG_MESSAGE_PRIMARY"):
        return str(said.decode(errors="replace"))
    return str(error).partition("\n\nQuery was:")[0].rpartition("Failed to connect: ")[2].rpartition("ERROR: ")[2]


def _with_timeout(url: str) -> str:
    if "connect_timeout=" in url or "PGCONNECT_TIMEOUT" in os.environ:
        return url
    return f"{url}{'&' if '?' in url else '?'}connect_timeout={SECONDS_TO_CONNECT}"


@contextmanager
def _open(address: Address) -> Iterator[Session]:
    import adbc_driver_manager
    import adbc_driver_postgresql.dbapi

    try:
        connection = adbc_driver_postgresql.dbapi.connect(_with_timeout(address.target))
    except adbc_driver_manager.Error as error:
        remedy = "check the address and that the server runs; a password may be in PGPASSWORD or ~/.pgpass"
        raise failure(address, _reason(error), remedy) from None
    with connection:
        with _told(address), connection.cursor() as cursor:
            for statement in _BEFORE:
                cursor.execute(statement)
        yield _PostgreSQLSession(address, connection)


POSTGRESQL = Database("PostgreSQL", _open)
