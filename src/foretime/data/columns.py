"""Which column of a table is which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foretime.errors import ConfigError, DataError, suggestion

NAMES = ("subject", "predicate", "object")
EVENT = (*NAMES, "time")
INTERVAL = (*NAMES, "start", "end")
KNOWN = "known"
"""The optional column of the time at which an event was known; only updates read it."""
HOW = "say which column is which with --columns subject=1,predicate=2,object=3,time=4"

Positions = dict[str, int]

# No single letters: a toy graph may well have a fact about s, p and o.
_ALIASES = {
    "subject": "subject subj head source src from sourceentity headentity subjectid headid sourceid actor1 entity1",
    "predicate": "predicate pred relation rel relationship relationtype property event eventtype relationid",
    "object": "object obj tail target dst to targetentity tailentity objectid tailid targetid actor2 entity2",
    "time": "time date timestamp datetime day month year when eventdate eventtime timeid",
    "start": "start begin since startdate starttime startyear validfrom starttimestamp",
    "end": "end until enddate endtime endyear validto validuntil endtimestamp",
    KNOWN: "known knownat knownsince knowndate knowntime",
}
_ROLE_OF = {alias: role for role, aliases in _ALIASES.items() for alias in aliases.split()}


def recognise(row: Sequence[str]) -> Positions:
    """Return the columns that the cells of a row name, by the words that people use for them; the first of each."""
    found: Positions = {}
    for position, cell in enumerate(row):
        word = "".join(letter for letter in cell.casefold() if letter.isalnum())
        if word in _ROLE_OF:
            found.setdefault(_ROLE_OF[word], position)
    return found


def names_columns(row: Sequence[str]) -> bool:
    """Return whether a row is a header: it names a subject, a predicate and an object."""
    return set(NAMES) <= set(recognise(row))


def check_mapping(columns: Mapping[str, str | int]) -> None:
    """Raise `ConfigError` unless the mapping is empty or names every column of an event or of an interval, once."""
    for role in columns:
        if role not in _ALIASES:
            raise ConfigError(f"columns: unknown column {role!r}{suggestion(role, _ALIASES)}")
    if set(columns) - {KNOWN} not in (set(), set(EVENT), set(INTERVAL)):
        missing = [name for name in NAMES if name not in columns]
        missing += [] if missing else ["time, or both start and end (not all three)"]
        raise ConfigError(f"columns: expected also {', '.join(missing)}")
    if twice := _twice(columns):
        raise ConfigError(f"columns: {twice}")


def _twice(columns: Mapping[str, str | int]) -> str:
    """Return in words which two roles one column has, empty if each has its own."""
    role_of: dict[str | int, str] = {}
    for role, column in columns.items():
        if (other := role_of.setdefault(column, role)) != role:
            return f"{other} and {role} are both column {column!r}; give each a column of its own"
    return ""


def map_columns(columns: Mapping[str, str | int], header: Sequence[str] | None, width: int, source: str) -> Positions:
    """Return the position of each column, from 0, in a table with `width` columns and perhaps a header.

    Where only the column `known` is given, the others are found as they would be without it.
    """
    if set(columns) == {KNOWN}:
        known = _position(KNOWN, columns[KNOWN], header, width, source)
        named = header is not None and names_columns(header)
        return map_columns({}, header, width if named else width - 1, source) | {KNOWN: known}
    if columns:
        positions = {role: _position(role, column, header, width, source) for role, column in columns.items()}
        # a column that is named for one role and numbered for another
        if twice := _twice({role: position + 1 for role, position in positions.items()}):
            raise DataError(f"{source}: {twice}")
        return positions
    if header is not None and names_columns(header):
        found = recognise(header)
        for roles in (INTERVAL, EVENT):
            if set(roles) <= set(found):
                return {role: found[role] for role in (*roles, KNOWN) if role in found}
        listed = ", ".join(repr(name) for name in header)
        raise DataError(f"{source}: no column for the time among {listed}; name it with --columns, as in time=COLUMN")
    if width not in (4, 5):
        raise DataError(
            f"{source}: expected 4 columns (subject predicate object time) or 5 (… start end), found {width}; {HOW}"
        )
    return {role: position for position, role in enumerate(EVENT if width == 4 else INTERVAL)}


def _position(role: str, column: str | int, header: Sequence[str] | None, width: int, source: str) -> int:
    if isinstance(column, int):
        if not 1 <= column <= width:
            raise DataError(f"{source}: no column {column} for the {role}; columns are numbered 1 to {width}")
        return column - 1
    if header is None:
        raise DataError(
            f"{source}: no header, so no column {column!r} for the {role}; number columns from 1, or use --header"
        )
    if column not in header:
        known = suggestion(column, header) or "; there are " + ", ".join(repr(name) for name in header)
        raise DataError(f"{source}: no column {column!r} for the {role}{known}")
    return list(header).index(column)
