"""Results of SPARQL queries on Wikidata: JSON, CSV and TSV, plain or verbose, as its query service gives them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

import orjson

from foretime.data.formats.streams import bounded_text
from foretime.data.linked.dates import KnownTime, UnreadableTimeError
from foretime.data.linked.query_cells import cell_time, entity_id, is_unknown, plain_cell
from foretime.data.linked.statements import LeftOut, LinkedFact, spans_of
from foretime.data.linked.wikidata_entities import BAD_TIME, NO_ENTITY, TIMELESS, UNKNOWN_VALUE
from foretime.errors import ConfigError, DataError
from foretime.files import read_up_to, size_text

WORDS = {
    "subject": ("s", "subject", "item", "entity"),
    "predicate": ("p", "predicate", "property", "relation"),
    "object": ("o", "object", "value"),
    "start": ("from", "start", "starttime"),
    "end": ("to", "end", "endtime"),
    "time": ("time", "date", "pointintime"),
}
"""The variables that are known by their name, for each role; case does not matter."""
_NAMED = ("subject", "predicate", "object")
_TIMES = ("start", "end", "time")

MOST_OF_RESULT = 1 << 30
"""Bytes of a result in JSON, which is read as a whole and takes many times as much memory."""
WRONG_WIDTH = "another number of cells than the header"
NOT_UTF8 = "not valid UTF-8"
NOT_A_ROW = "not as a query service writes rows"
EMPTY = "the subject, the predicate or the object is empty"


class ResultRow(NamedTuple):
    """A row: its line (of JSON: its number), and its cells by variable or what is wrong with it."""

    line: int
    found: Mapping[str, str] | LeftOut


@dataclass(frozen=True)
class ResultColumns:
    """Which variable has which role; a query about one property has no variable for it, but a constant."""

    roles: Mapping[str, str]
    predicate: str = ""
    precision: str = "guess"
    timeless: bool = True
    variables: Sequence[str] = field(default=(), repr=False)

    def label(self, row: Mapping[str, str], role: str) -> str:
        """Return what the label service gave for a role: the variable `?sLabel` beside `?s`."""
        return row.get(f"{self.roles[role]}Label", "") if role in self.roles else ""


def find_columns(variables: Sequence[str], given: Mapping[str, str], predicate: str, place: str) -> dict[str, str]:
    """Return the variable of each role that has one: the given one, or one that is known by its name."""
    unknown = [role for role in given if role not in WORDS]
    if unknown:
        raise ConfigError(f"columns: {unknown[0]!r} is no role; one of {', '.join(WORDS)}")
    absent = [variable for variable in given.values() if variable not in variables]
    if absent:
        raise DataError(f"{place}: there is no column {absent[0]!r}; the columns are {', '.join(variables)}")
    by_word = {variable.casefold(): variable for variable in variables}
    roles = dict(given)
    for role, words in WORDS.items():
        fitting = [by_word[word] for word in words if word in by_word and by_word[word] not in given.values()]
        if role in given or not fitting or (role == "predicate" and predicate):
            continue
        if len(fitting) > 1:
            raise DataError(f"{place}: {' and '.join(fitting)} may both be the {role}; say which with --columns")
        roles[role] = fitting[0]
    missing = [role for role in _NAMED if role not in roles and not (role == "predicate" and predicate)]
    if missing:
        remedy = (
            "name it with --predicate" if missing == ["predicate"] else "say which with --columns subject=…,object=…"
        )
        raise DataError(f"{place}: no column for the {missing[0]} among {', '.join(variables)}; {remedy}")
    return roles


def result_rows(stream: BinaryIO, ending: str, place: str) -> tuple[list[str], Iterator[ResultRow]]:
    """Return the variables of a result and its rows. JSON is read as a whole, CSV and TSV line by line."""
    if ending == ".json":
        content = read_up_to(stream, MOST_OF_RESULT)
        if len(content) > MOST_OF_RESULT:
            raise DataError(f"{place}: a result of more than {size_text(MOST_OF_RESULT)}; fetch it as TSV, or in parts")
        return _json_rows(content, place)
    return _text_rows(stream, "\t" if ending == ".tsv" else ",", place)


def _json_rows(content: bytes, place: str) -> tuple[list[str], Iterator[ResultRow]]:
    try:
        found = orjson.loads(content)
        bindings = found["results"]["bindings"] if isinstance(found, dict) else found
        named = found["head"]["vars"] if isinstance(found, dict) else dict.fromkeys(key for row in found for key in row)
        if not isinstance(bindings, list):
            raise TypeError
        return [str(name) for name in named], _bound(bindings)
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        what = f": {error}" if isinstance(error, orjson.JSONDecodeError) else ""
        raise DataError(f"{place}: no result of a query in JSON{what}; fetch it again") from None


def _bound(bindings: list[Any]) -> Iterator[ResultRow]:
    for number, binding in enumerate(bindings, start=1):
        try:
            yield ResultRow(number, {name: _bound_value(cell) for name, cell in binding.items()})
        except (AttributeError, KeyError, TypeError):
            yield ResultRow(number, LeftOut(NOT_A_ROW, str(binding)[:200]))


def _bound_value(cell: Any) -> str:
    if isinstance(cell, str):  # the plain form of the query service's page
        return cell
    value = cell["value"]
    return f"_:{value}" if cell.get("type") == "bnode" else str(value)


def _text_rows(stream: BinaryIO, delimiter: str, place: str) -> tuple[list[str], Iterator[ResultRow]]:
    text = bounded_text(stream, place)
    plain = delimiter == "\t"  # a quote in TSV is part of a cell
    reader = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE if plain else csv.QUOTE_MINIMAL)
    header = next(reader, None)
    if header is None:
        raise DataError(f"{place}: the file is empty; expected the result of a query")
    variables = [plain_cell(name).removeprefix("?") for name in header]
    return variables, _read_text(reader, variables, place)


def _read_text(reader: Any, variables: list[str], place: str) -> Iterator[ResultRow]:
    try:
        for cells in reader:
            if not cells:
                continue
            joined = "\t".join(cells)
            if len(cells) != len(variables):
                yield ResultRow(reader.line_num, LeftOut(WRONG_WIDTH, _printable(joined)))
            elif not joined.isascii() and _printable(joined) != joined:
                yield ResultRow(reader.line_num, LeftOut(NOT_UTF8, _printable(joined)))
            else:
                yield ResultRow(reader.line_num, dict(zip(variables, map(plain_cell, cells), strict=True)))
    except csv.Error as error:
        raise DataError(f"{place}:{reader.line_num}: {error}; fetch it again, as TSV or JSON") from None


def _printable(text: str) -> str:
    return text.encode("utf-8", errors="backslashreplace").decode()


def row_facts(row: Mapping[str, str], columns: ResultColumns) -> Iterator[LinkedFact | LeftOut]:
    """Yield what a row becomes: a fact, or why it is none."""
    cells = {role: row.get(variable, "") for role, variable in columns.roles.items()}
    cells.setdefault("predicate", columns.predicate)
    shown = " ".join(cells[role] for role in _NAMED)
    if not all(cells[role] for role in _NAMED):
        yield LeftOut(EMPTY, shown)
        return
    if is_unknown(cells["object"]) or is_unknown(cells["subject"]):
        yield LeftOut(UNKNOWN_VALUE, shown)
        return
    subject, object_ = entity_id(cells["subject"]), entity_id(cells["object"])
    predicate = entity_id(cells["predicate"]) or cells["predicate"]
    if not subject or not object_:
        yield LeftOut(NO_ENTITY, shown)
        return
    try:
        starts, ends, points = (list(_times(row, role, columns)) for role in _TIMES)
    except UnreadableTimeError as error:
        yield LeftOut(BAD_TIME, f"{shown}: {error}")
        return
    for span in spans_of(starts, ends, points):
        timeless = not span.start and not columns.timeless
        yield LeftOut(TIMELESS, shown) if timeless else LinkedFact(subject, predicate, object_, *span)


def _times(row: Mapping[str, str], role: str, columns: ResultColumns) -> Iterator[KnownTime]:
    variable = columns.roles.get(role)
    if variable and row.get(variable):
        yield cell_time(row[variable], row.get(f"{variable}Precision"), columns.precision)
