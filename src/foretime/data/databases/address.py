"""The address of a database as a user writes it, and the one way to show it: without its password."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from foretime.config import FILE_DATABASES, without_password
from foretime.errors import DataError, suggestion
from foretime.files import open_regular

MEMORY = ":memory:"
"""The name of a database that has no file: DuckDB can query other files from there."""
SCHEMES = {**{kind: kind for kind in FILE_DATABASES}, "postgresql": "postgresql", "postgres": "postgresql"}
"""How an address may begin, and the kind of database that it means."""
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):(.*)", re.IGNORECASE | re.DOTALL)
_SERVER = re.compile(r"//([^/@]*@)?(?P<hosts>[^/?@]*)(/(?P<database>[^?@]*))?(?P<parameters>\?[^@]*)?")
_URL = "write postgresql://USER@HOST/DATABASE"
_ENCODED = "write @ / ? : and % in a password as %40 %2F %3F %3A and %25, or set PGPASSWORD and leave it out"


@dataclass(frozen=True)
class Address:
    """Where a database is."""

    kind: str
    target: str = field(repr=False)
    """The path of a file; or a whole URL, which may hold a password and so is never shown."""
    shown: str
    """The address as messages have it."""
    name: str
    """What its graph is called, where no table names it."""


def parse_address(source: Any) -> Address | None:
    """Return the database that a text means, or None if it means none; raise `DataError` for a malformed one."""
    found = _ADDRESS.fullmatch(str(source)) if isinstance(source, str | Path) else None
    if found is None:
        return None
    scheme, rest = found[1].lower(), found[2]
    if scheme not in SCHEMES:
        if not rest.startswith("//"):
            return None  # a file with a colon in its name
        known = suggestion(scheme, SCHEMES) or f"; databases are {', '.join(f'{name}:' for name in SCHEMES)}"
        raise DataError(f"{scheme}: is no source that can be read{known}; of anything else, save a file and name that")
    return _server(str(source), rest) if SCHEMES[scheme] == "postgresql" else _file(scheme, rest)


def _file(kind: str, rest: str) -> Address:
    example = f"write {kind}:FILE, as in {kind}:events.db or {kind}:/data/events.db"
    if rest.startswith("//"):
        raise DataError(f"{kind}:{rest}: the slashes are no part of the name; {example}")
    if kind == "duckdb" and rest in ("", MEMORY):
        return Address(kind, MEMORY, f"duckdb:{MEMORY}", "graph")
    if not rest:
        raise DataError(f"{kind}: names no file; {example}")
    path = Path(rest).expanduser()  # a shell leaves ~ alone behind a colon
    if not path.is_file():
        wrong = "is a folder" if path.is_dir() else "no such file"
        raise DataError(f"{kind}:{rest}: {wrong}; {example}")
    _check_kind(kind, path)
    return Address(kind, str(path), f"{kind}:{rest}", path.stem)


def _check_kind(kind: str, path: Path) -> None:
    found = kind_of_file(path)
    if found not in (None, kind):
        raise DataError(f"{kind}:{path}: is a database of another kind; write {found}:{path}")


def kind_of_file(path: Path) -> str | None:
    """Return the kind of database that a file is, going by how it begins; None if it is none."""
    try:
        with open_regular(path) as stream:
            head = stream.read(16)
    except OSError:
        return None  # whoever reads it will say why
    if head == b"SQLite format 3\0":
        return "sqlite"
    return "duckdb" if head[8:12] == b"DUCK" else None


def _server(url: str, rest: str) -> Address:
    """Return the address of a server; whatever is wrong with it is said without the parts that may be a password."""
    if not rest.startswith("//"):
        raise DataError(f"postgresql: the address is no URL; {_URL}")
    if re.search(r"\s|%(?![0-9a-fA-F]{2})", rest):
        raise DataError(f"postgresql: the address has a blank or a % that encodes nothing; {_ENCODED}")
    found = _SERVER.fullmatch(rest)
    if found is None:
        raise DataError(f"postgresql: an @ in the address stands where none can be; {_ENCODED}")
    if not all(re.fullmatch(r"(\[[^]]*\]|[^:]*)(:\d*)?", host) for host in found["hosts"].split(",")):
        raise DataError(f"postgresql: the port in the address is no number; {_URL}; {_ENCODED}")
    named = re.search(r"[?&]dbname=([^&]*)", found["parameters"] or "")
    name = unquote(found["database"] or (named[1] if named else "")) or "postgresql"
    shown = without_password(url).partition("?")[0]  # a misspelt parameter may be a secret too
    return Address("postgresql", url, shown, name)
