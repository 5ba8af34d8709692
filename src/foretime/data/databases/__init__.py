"""Databases as sources: DuckDB, SQLite and PostgreSQL, each read by a library that hands on Arrow.

A database is only read: a file is opened read-only, a server is asked in a read-only transaction. What comes back is a
frame, and columns follow the rules of frames.
"""

from __future__ import annotations

import pyarrow as pa

from foretime.config import DataConfig
from foretime.data.databases.address import Address, kind_of_file, parse_address
from foretime.data.databases.duckdb_file import DUCKDB
from foretime.data.databases.postgresql import POSTGRESQL
from foretime.data.databases.session import Session
from foretime.data.databases.sqlite_file import SQLITE
from foretime.data.databases.tables import quoted_table
from foretime.errors import ConfigError, DataError

__all__ = ["Address", "check_no_query", "fetch", "kind_of_file", "parse_address"]

DATABASES = {"duckdb": DUCKDB, "sqlite": SQLITE, "postgresql": POSTGRESQL}
"""The kinds of databases; a new one is a module beside this one and a line here."""


def fetch(address: Address, config: DataConfig) -> pa.Table:
    """Return what the table or the query of a configuration selects from a database."""
    if config.query is not None and config.table is not None:
        raise ConfigError(f"{address.shown}: give a query or a table, not both")
    database = DATABASES[address.kind]
    try:
        with database.open(address) as session:
            return session.read(_statement(session, address, config))
    except ModuleNotFoundError as error:
        raise DataError(
            f"{address.shown}: {error.name} is not installed, which reads {database.title}; "
            "pip install 'foretime[databases]'"
        ) from None


def _statement(session: Session, address: Address, config: DataConfig) -> str:
    if config.query is None:
        return f"select * from {quoted_table(config.table, session.tables(), address)}"
    query = config.query.strip().rstrip(";").strip()
    if not query:
        raise ConfigError(f"{address.shown}: the query is empty; write a SELECT, or name a table")
    return query


def check_no_query(config: DataConfig, source: str) -> None:
    """Raise `ConfigError` if a query or a table is given for what is no database."""
    given = [name for name in ("query", "table") if getattr(config, name) is not None]
    if given:
        raise ConfigError(
            f"{source} is no database, so {' and '.join(given)} cannot be used; leave it out, or name a database: "
            "duckdb:FILE, sqlite:FILE or postgresql://USER@HOST/DATABASE"
        )
