"""Which column of a table is which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foretime.errors import ConfigError, DataError, suggestion

NAMES = ("subject", "predicate", "object")
EVENT = (*NAMES, "time")
INTERVAL = (*NAMES, "start", "end")
KNOWN = "known"
"""The optional column of the time at which an event was known; only updates read it."""
TIMES = ("time", "start", "end", KNOWN)
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
# What says less than another column for the same: an id where there is a name, a year where there is a date.
_LESSER = frozenset(
    (
        *("subjectid", "headid", "sourceid", "relationid", "objectid", "tailid", "targetid"),
        *("timeid", "year", "month", "day", "startyear", "endyear"),
    )
)
ENDS = ("subject", "object")
_ATTRIBUTES = {"type": "type types", "country": "country countries", "sectors": "sectors sector", "aliases": "aliases"}
_ROLE_OF |= {
    f"{alias}{word}": f"{end}_{attribute}"
    for end in ENDS
    for alias in _ALIASES[end].split()
    for attribute, words in _ATTRIBUTES.items()
    for word in words.split()
}


def attribute_of(role: str) -> tuple[str, str] | None:
    """Return of which end of a fact a column gives an attribute, and which: `subject` and `type` for `subject_type`."""
    end, _, attribute = role.partition("_")
    return (end, attribute) if end in ENDS and attribute else None


def is_optional(role: str) -> bool:
    """Return whether a table need not have a column."""
    return role == KNOWN or attribute_of(role) is not None


def recognise(row: Sequence[str]) -> dict[str, list[int]]:
    """Return the columns that the cells of a row name, by the words that people use for them."""
    found: dict[str, list[int]] = {}
    for position, cell in enumerate(row):
        if (word := _word(cell)) in _ROLE_OF:
            found.setdefault(_ROLE_OF[word], []).append(position)
    return found


def _word(cell: str) -> str:
    return "".join(letter for letter in cell.casefold() if letter.isalnum())


def names_columns(row: Sequence[str]) -> bool:
    """Return whether a row is a header: it names a subject, a predicate and an object."""
    return set(NAMES) <= set(recognise(row))


def column_doubts(header: Sequence[str]) -> list[str]:
    """Return what deserves a second look in columns that were found by the words of a header."""
    doubts: list[str] = []
    if not names_columns(header):
        return doubts
    found = recognise(header)
    roles = INTERVAL if set(INTERVAL) <= set(found) else EVENT
    for role in roles:
        if len(found.get(role, ())) > 1:
            taken = _chosen(role, header, found)
            others = ", ".join(repr(header[i]) for i in found[role] if i != taken)
            doubts.append(
                f"the {role} was read from column {header[taken]!r} and not from {others}; --columns says which"
            )
    if roles == INTERVAL and "time" in found:
        unread = ", ".join(repr(header[i]) for i in found["time"])
        doubts.append(f"facts were read with start and end, and {unread} was left out; --columns says which")
    return doubts


def _chosen(role: str, header: Sequence[str], found: Mapping[str, list[int]]) -> int:
    """Return the column for a role; of two the one that says more, if only one of them does."""
    candidates = found[role]
    if len(candidates) > 1:
        candidates = [i for i in candidates if _word(header[i]) not in _LESSER]
    if len(candidates) == 1:
        return candidates[0]
    listed = " or ".join(repr(header[i]) for i in found[role])
    roles = INTERVAL if set(INTERVAL) <= set(found) else EVENT
    example = ",".join(f"{name}={header[found[name][0]]}" for name in roles if name in found)
    raise DataError(f'the {role} may be column {listed}; say which column is which, as in --columns "{example}"')


def check_mapping(columns: Mapping[str, str | int], timeless: bool = False) -> None:
    """Raise `ConfigError` unless the mapping is empty or names every column of an event or of an interval, once.

    Facts that are `timeless` have neither a time nor a start and an end.
    """
    for role in columns:
        if role not in _ALIASES and not is_optional(role):
            raise ConfigError(f"columns: unknown column {role!r}{suggestion(role, _ALIASES)}")
    if {role for role in columns if not is_optional(role)} not in (
        set(),
        *((set(NAMES),) if timeless else (set(EVENT), set(INTERVAL))),
    ):
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


def map_columns(
    columns: Mapping[str, str | int], header: Sequence[str] | None, width: int, source: str, timeless: bool = False
) -> Positions:
    """Return the position of each column, from 0, in a table with `width` columns and perhaps a header.

    Where only columns are given that a table need not have, the others are found as they would be without them. Facts
    that are `timeless` have no column for a time.
    """
    if columns and all(map(is_optional, columns)):
        extra = {role: _position(role, column, header, width, source) for role, column in columns.items()}
        named = header is not None and names_columns(header)
        return map_columns({}, header, width if named else width - len(extra), source) | extra
    if columns:
        positions = {role: _position(role, column, header, width, source) for role, column in columns.items()}
        # a column that is named for one role and numbered for another
        if twice := _twice({role: position + 1 for role, position in positions.items()}):
            raise DataError(f"{source}: {twice}")
        return positions
    if timeless:
        return _map_timeless(header, width, source)
    if header is not None and names_columns(header):
        found = recognise(header)
        for roles in (INTERVAL, EVENT):
            if set(roles) <= set(found):
                try:
                    return {role: _chosen(role, header, found) for role in found if role in roles or is_optional(role)}
                except DataError as error:
                    raise DataError(f"{source}: {error}") from None
        listed = ", ".join(repr(name) for name in header)
        raise DataError(f"{source}: no column for the time among {listed}; name it with --columns, as in time=COLUMN")
    if width not in (4, 5):
        raise DataError(
            f"{source}: expected 4 columns (subject predicate object time) or 5 (… start end), found {width}; {HOW}"
        )
    positions = {role: position for position, role in enumerate(EVENT if width == 4 else INTERVAL)}
    for role, places in recognise(header or ()).items():
        if role != KNOWN and positions.get(role) not in places:
            listed = ", ".join(repr(name) for name in header or ())
            raise DataError(f"{source}: {listed} name no subject, predicate, object and time in this order; {HOW}")
    return positions


def _map_timeless(header: Sequence[str] | None, width: int, source: str) -> Positions:
    if header is None or not names_columns(header):
        if width != len(NAMES):
            raise DataError(
                f"{source}: expected 3 columns (subject predicate object), found {width}; facts with a time belong in "
                "train"
            )
        return {role: position for position, role in enumerate(NAMES)}
    found = recognise(header)
    if dated := sorted({"time", "start", "end"} & set(found)):
        raise DataError(
            f"{source}: has a column for the {dated[0]}, but its facts have no time; facts with one belong in train"
        )
    return {role: _chosen(role, header, found) for role in NAMES}


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
