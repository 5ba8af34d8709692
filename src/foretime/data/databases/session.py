"""What every kind of database offers: its tables, and the rows of one query."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

import pyarrow as pa

from foretime.data.databases.address import Address
from foretime.errors import DataError

ONE_SELECT = "the query has to be one SELECT that the database understands"


class Session(Protocol):
    """An open database that can only be read."""

    def tables(self) -> list[tuple[str, str]]:
        """Return its tables and views: schema and name of each."""
        ...

    def read(self, query: str) -> pa.Table:
        """Return the rows of a query; whatever the database says against it is a `DataError`."""
        ...


class Database(NamedTuple):
    """A kind of database."""

    title: str
    open: Callable[[Address], AbstractContextManager[Session]]


def failure(address: Address, reason: str, remedy: str) -> DataError:
    """Return the error about a database: where, what it said, in one line, and what to do."""
    return DataError(f"{address.shown}: {' '.join(reason.split())}; {remedy}")
