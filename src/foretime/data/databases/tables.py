"""The table of a database that a user means."""

from __future__ import annotations

import re

from foretime.data.databases.address import Address
from foretime.data.databases.session import failure
from foretime.errors import suggestion

_LISTED = 10
_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')


def quoted_table(wanted: str | None, tables: list[tuple[str, str]], address: Address) -> str:
    """Return a table as SQL has it: `"public"."events"` for `public.events`; one that is not there is a `DataError`.

    A name with a dot in it is written in quotes, as in SQL.
    """
    names = [name for _, name in tables]
    if wanted is None:
        raise failure(address, "nothing says what to read", f"give a query, or a table{_listed(names)}")
    parts = _parts(wanted)
    if not any(parts == ((schema, name) if len(parts) == 2 else (name,)) for schema, name in tables):
        known = suggestion(parts[-1] if parts else wanted, names).removeprefix("; ")
        raise failure(address, f"no table {wanted!r}", known or f"name another{_listed(names)}")
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def _parts(wanted: str) -> tuple[str, ...]:
    if not re.fullmatch(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*", wanted):
        return (wanted,)
    return tuple(quoted.replace('""', '"') or plain for quoted, plain in _PART.findall(wanted))


def _listed(names: list[str]) -> str:
    if not names:
        return "; there is none"
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return (
        f": there are {', '.join(map(repr, names[:_LISTED]))}{more}" if len(names) > 1 else f": there is {names[0]!r}"
    )
