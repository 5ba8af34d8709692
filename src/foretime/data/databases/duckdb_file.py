"""DuckDB: a file that is opened read-only, by the library of DuckDB itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from foretime.data.databases.address import MEMORY, Address
from foretime.data.databases.batches import read_coded
from foretime.data.databases.session import ONE_SELECT, Database, Session, failure

_TABLES = """
select table_schema, table_name from information_schema.tables
where table_catalog = current_database() order by 1, 2
"""


@dataclass(frozen=True)
class _DuckDBSession:
    address: Address
    connection: Any

    def tables(self) -> list[tuple[str, str]]:
        with _told(self.address):
            return list(self.connection.execute(_TABLES).fetchall())

    def read(self, query: str) -> pa.Table:
        import duckdb

        with _told(self.address):
            kinds = [statement.type for statement in self.connection.extract_statements(query)]
            if kinds != [duckdb.StatementType.SELECT]:
                found = " and ".join(kind.name for kind in kinds) or "nothing"
                raise failure(self.address, f"the query is {found}", ONE_SELECT)
            return read_coded(pa.RecordBatchReader.from_stream(self.connection.sql(query)))


@contextmanager
def _told(address: Address) -> Iterator[None]:
    """Whatever DuckDB says against a query is a `DataError`."""
    import duckdb

    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise failure(address, f"the query failed: {_first_paragraph(error)}", ONE_SELECT) from None


def _first_paragraph(error: Exception) -> str:
    """Return what went wrong, without the line of the query that is printed below it."""
    return str(error).split("\n\n")[0]


@contextmanager
def _open(address: Address) -> Iterator[Session]:
    import duckdb

    try:
        connection = duckdb.connect(address.target, read_only=address.target != MEMORY)
    except duckdb.ConnectionException:
        remedy = "close that connection, or give what it selects: foretime.load(connection.sql(…))"
        raise failure(address, "this program has the file open for writing", remedy) from None
    except duckdb.Error as error:
        locked = "lock" in str(error)
        reason = "another program has the file open for writing" if locked else _first_paragraph(error)
        remedy = "close it there, or copy the file" if locked else "is it a DuckDB file that you may read?"
        raise failure(address, reason, remedy) from None
    with connection:
        # a table that is not there must not be found among the variables of this program
        connection.execute("set session python_enable_replacements = false")
        yield _DuckDBSession(address, connection)


DUCKDB = Database("DuckDB", _open)
