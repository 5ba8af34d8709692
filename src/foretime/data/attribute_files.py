"""Files of entities and their attributes, and columns of facts that say the same of their subjects and objects."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from foretime.data.attributes import NAME, Attributes, Values, attribute_name
from foretime.data.columns import attribute_of
from foretime.data.formats import format_of
from foretime.data.formats.arrow import ARROW, NAMES_NOT_UTF8, PARQUET
from foretime.data.formats.json_lines import JSON_LINES
from foretime.data.formats.streams import COMPRESSIONS, without_compression
from foretime.data.formats.table import RawTable, as_arrow
from foretime.data.formats.text import Record, records
from foretime.data.formats.unpacking import read_arrow, read_parquet
from foretime.data.problems import Place, Problems
from foretime.data.restrictions import BETWEEN
from foretime.data.sources import IdNames
from foretime.errors import DataError
from foretime.files import parse_json

STEM, SUFFIXES = "entities", (".tsv", ".csv", ".jsonl", ".ndjson", ".parquet", ".arrow")
ByEntity = dict[str, dict[str, Values]]


class _Row(NamedTuple):
    """What a row says of an entity: the cells by the names of their columns."""

    place: Place
    cells: dict[str, Any]


def entity_file(folder: Path) -> Path | None:
    """Return the file of entities in a folder, if there is one; raise `DataError` if there are several."""
    packed = ("", *COMPRESSIONS)
    found = [path for end in SUFFIXES for more in packed if (path := folder / f"{STEM}{end}{more}").is_file()]
    if len(found) > 1:
        raise DataError(f"{folder}: {' and '.join(path.name for path in found)} both describe entities; leave one")
    return found[0] if found else None


def find_attributes(
    tables: Iterable[RawTable], names: dict[str, IdNames], folder: Path | None, entities: Any, problems: Problems
) -> tuple[Attributes, list[str]]:
    """Return what the columns of tables and a file of entities say of these, and notes on it.

    `entities` is a file or a frame, `auto` for the file in the folder of the data, or `none`. Where both the file and
    the columns give an attribute of an entity, it is the file that counts.
    """
    in_columns, said = _of_columns(tables, names)
    path = entities
    if isinstance(entities, str) and entities in ("auto", "none"):
        path = None if folder is None or entities == "none" else entity_file(folder)
        if path is not None and not _names_entities(path):
            said.append(f"{path.name} beside the data has no column {NAME!r}, so it was not read")
            path = None
    in_file = {} if path is None else read_attributes(path, problems)
    both = {name: {**in_columns.get(name, {}), **in_file.get(name, {})} for name in (*in_file, *in_columns)}
    return Attributes.of(both), said


def _names_entities(path: Path) -> bool:
    """Return whether a file has a column `name`: another one is not about entities, whatever it is called."""
    if format_of(path) in (PARQUET, ARROW, JSON_LINES):
        first = next(_rows_of_file(path, Problems()), None)
        return first is None or any(map(_is_name, first.cells))  # a file without a good row is reported as it is read
    return any(map(_is_name, _header(path, _delimiter(path))))


def read_attributes(source: Any, problems: Problems) -> ByEntity:
    """Return the attributes of each entity of a file or a frame; bad rows are reported to `problems`.

    A list of values is written `a;b`. Two rows may say different things of one entity, but not of one attribute of it.
    """
    is_file = isinstance(source, str | Path)
    rows = _rows_of_file(Path(source), problems) if is_file else _rows_of_frame(source, "the frame of entities")
    found: ByEntity = {}
    places: dict[tuple[str, str], Place] = {}
    for place, cells in rows:
        if not found and not any(map(_is_name, cells)):
            raise DataError(f"{place.source}: {_no_name(cells)}")
        try:
            name, own = _attributes(cells)
        except ValueError as error:
            problems.add(place, str(error))
            continue
        known = found.setdefault(name, {})
        for word, values in own.items():
            if not values:
                continue
            if set(known.setdefault(word, values)) != set(values):
                here, there = (repr(BETWEEN.join(one)) for one in (values, known[word]))
                text = f"the {word} of {name!r} is {here} here and {there} in {places[name, word]}; leave one of them"
                problems.add(place, text)
            places.setdefault((name, word), place)
    return found


def _attributes(cells: dict[str, Any]) -> tuple[str, dict[str, Values]]:
    """Return the name in a row and its attributes; raise `ValueError` with what is wrong with it."""
    name: Any = None
    own: dict[str, Values] = {}
    for word, cell in cells.items():
        if _is_name(word):
            name = cell
        elif attribute_name(word) in own:
            raise ValueError(f"two columns are the {attribute_name(word)}; leave one")
        else:
            own[attribute_name(word)] = _values(word, cell)
    if not any(map(_is_name, cells)):
        raise ValueError(_no_name(cells))
    if not isinstance(name, str) or not name:
        raise ValueError("the name is empty, or no text; give it a name, or remove the row")
    return name, own


def _no_name(words: Iterable[str]) -> str:
    return f"no column {NAME!r} among {', '.join(map(repr, words))}; name the column of entities so"


def _is_name(word: str) -> bool:
    return word.strip().casefold() == NAME


def _values(word: str, cell: Any) -> Values:
    """Return the values in a cell: a list, or a text with semicolons between them."""
    if cell is None:
        return ()
    parts = cell.split(BETWEEN) if isinstance(cell, str) else cell if isinstance(cell, list) else [cell]
    if any(isinstance(part, bool | float | dict | list) for part in parts):
        raise ValueError(f"the {word} {json.dumps(cell, ensure_ascii=False)[:40]} is neither text nor a list of texts")
    return tuple(dict.fromkeys(text for part in parts if part is not None and (text := str(part).strip())))


def _rows_of_file(path: Path, problems: Problems) -> Iterator[_Row]:
    problems.begin(str(path))
    form = format_of(path)
    if form in (PARQUET, ARROW):
        try:
            table = (read_parquet if form is PARQUET else read_arrow)(path)
            table.column_names  # noqa: B018, it decodes them
        except UnicodeDecodeError:
            raise DataError(f"{path}: {NAMES_NOT_UTF8}") from None
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{path}: cannot be read as {form.name}: {str(error).splitlines()[0]}") from None
        yield from _rows_of_frame(table, str(path))
    elif form is JSON_LINES:
        yield from _json_rows(path, problems)
    else:
        yield from _text_rows(path, problems)


def _rows_of_frame(frame: Any, name: str) -> Iterator[_Row]:
    table = as_arrow(frame, name)
    for row, cells in enumerate(table.to_pylist(), start=1):
        yield _Row(Place(name, row, "row"), cells)


def _json_rows(path: Path, problems: Problems) -> Iterator[_Row]:
    for record in records(path, "\t"):
        place = Place(str(path), record.line)
        try:
            cells = parse_json(record.text.encode("utf-8", "surrogateescape"))
        except ValueError as error:
            problems.add(place, f"not valid JSON: {error}; fix the line")
            continue
        if isinstance(cells, dict):
            yield _Row(place, cells)
        else:
            problems.add(place, f"expected an object, found {record.text.strip()[:40]}; fix the line")


def _text_rows(path: Path, problems: Problems) -> Iterator[_Row]:
    delimiter = _delimiter(path)
    header, found = _header(path, delimiter), records(path, delimiter)
    next(found, None)
    twice = next((word for word in header if header.count(word) > 1), None)
    if not all(header) or twice is not None:
        what = "a column without a name" if twice is None else f"two columns {twice!r}"
        raise DataError(f"{path}:1: {what}; the first row must name every column once, and one of them {NAME!r}")
    for record in found:
        place = Place(str(path), record.line)
        if not _is_utf8(record.text):
            problems.add(place, "not valid UTF-8; save the file as UTF-8")
        elif len(record.fields) != len(header):
            problems.add(
                place, f"expected {len(header)} fields as in the header, found {len(record.fields)}; fix the row"
            )
        else:
            yield _Row(place, dict(zip(header, record.fields, strict=True)))


def _header(path: Path, delimiter: str) -> list[str]:
    return next(records(path, delimiter), Record(1, "", [])).fields


def _delimiter(path: Path) -> str:
    """Return the delimiter of a text file: a tab, or in a `.csv` what its header has most of."""
    if without_compression(path).suffix.lower() != ".csv":
        return "\t"
    line = next(records(path, "\t"), Record(1, "", [])).text
    return max(",;\t|", key=lambda mark: len(next(csv.reader([line], delimiter=mark), [])))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _of_columns(tables: Iterable[RawTable], names: dict[str, IdNames]) -> tuple[ByEntity, list[str]]:
    """Return what columns such as `subject_type` say of entities, and notes on what they say otherwise elsewhere.

    An entity has all the values that any row gives it.
    """
    found: ByEntity = {}
    varied: dict[str, set[str]] = {}
    for table in tables:
        for role, column in table.columns.items():
            if (of := attribute_of(role)) is None:
                continue
            end, attribute = of[0], attribute_name(of[1])
            ends = table.columns[end]
            given, width = (ends.codes >= 0) & (column.codes >= 0), max(len(column.values), 1)
            for pair in np.unique(ends.codes[given] * width + column.codes[given]).tolist():
                name, values = ends.values[pair // width], _values(role, column.values[pair % width])
                if not values:
                    continue
                own = found.setdefault(names[end].names.get(name, name) if end in names else name, {})
                before = own.get(attribute, values)
                if set(before) != set(values):
                    varied.setdefault(attribute, set()).add(name)
                own[attribute] = tuple(dict.fromkeys([*before, *values]))
    said = [
        f"{len(entities):,} entities have another {attribute} in other rows, as {min(entities)!r} has; all are kept"
        for attribute, entities in varied.items()
    ]
    return found, said
