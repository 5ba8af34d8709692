"""Wikidata: the JSON dump, and results of its query service in JSON, CSV and TSV.

A row is a statement of the dump, or a row of a result. Statements about an entity become facts with the times of their
qualifiers, written as precisely as they are known. Names are labels, with the id where a label is repeated or missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from foretime.config import Section
from foretime.data.importers.base import EventSource, Head, ImportBatch
from foretime.data.importers.inputs import InputFile, blocks
from foretime.data.importers.linked import PIECE, AsWords, LeftRows, shelf_batches, take_row
from foretime.data.linked.query_cells import entity_id
from foretime.data.linked.query_results import ResultColumns, find_columns, result_rows, row_facts
from foretime.data.linked.shelf import Shelf, open_shelf
from foretime.data.linked.statements import EntityNote, LeftOut
from foretime.data.linked.wikidata_dump import dump_lines, is_dump
from foretime.data.linked.wikidata_entities import (
    ONLY_COUNTED,
    WikidataChoices,
    entity_note,
    entity_statements,
)

_RESULT_STARTS = (b'{"head"', b'{"results"')
_DUMP_STARTS = (b'[{"type":', b'[{"id":', b'[{"pageid":')
_LOOKED_AT = 1 << 12
_ROWS = 50_000


def _pairs(value: object) -> object:
    """Return `subject=person,object=club` as a mapping."""
    if not isinstance(value, str):
        return value
    return dict(part.strip().partition("=")[::2] for part in value.split(",") if part.strip())


PropertyList = Annotated[tuple[Annotated[str, StringConstraints(pattern=r"^P\d+$")], ...], AsWords]
"""Ids of properties."""


class WikidataOptions(Section):
    """What can be chosen when Wikidata is imported."""

    language: str = "en"
    """The language of the names; `mul`, the label of many languages, where it has none."""
    property: PropertyList = ()
    """The properties that are taken, such as `P39,P54`; all by default, but `P31` as the type of its subject."""
    ranks: Annotated[tuple[Literal["preferred", "normal", "deprecated"], ...], AsWords] = ("preferred", "normal")
    """The ranks of the statements that are taken: `preferred`, `normal`, `deprecated`."""
    points: PropertyList = ("P585",)
    """The qualifiers that give a point in time, the first one that is there; `P577` and `P574` do for publications."""
    timeless: Literal["keep", "drop"] = "keep"
    """Whether statements without a time are kept, as facts without a time."""
    precision: Literal["guess", "day", "year"] = "guess"
    """What a time of a query result without its precision is taken for: no more than it may mean, a day, or a year."""
    columns: Annotated[dict[str, str], BeforeValidator(_pairs)] = Field(default_factory=dict)
    """The variables of a query result, such as `subject=person,object=club,start=since`."""
    predicate: str = ""
    """The property of a query result that has no variable for it."""
    names: Literal["auto", "as-is"] = "auto"
    """`auto` names things by their labels; `as-is` keeps the ids."""
    merge: bool = True
    """Whether the same fact at one time is kept only once."""


def _read(files: Sequence[InputFile], options: WikidataOptions) -> Iterator[ImportBatch]:
    with open_shelf() as shelf:
        rows = count()
        for number, file in enumerate(files):
            reader = _read_results if _is_result(file) else _read_dump
            yield from reader(shelf, number, file, options, rows)
        yield from shelf_batches(shelf, files)


def _is_result(file: InputFile) -> bool:
    ending = PurePath(file.name).suffix.lower()
    if ending != ".json":
        return ending in (".csv", ".tsv")
    with file.open() as stream:
        start = re.sub(rb"\s", b"", stream.read(_LOOKED_AT).removeprefix(b"\xef\xbb\xbf"))
    return start.startswith(_RESULT_STARTS) or (start.startswith(b"[{") and not start.startswith(_DUMP_STARTS))


def _read_dump(
    shelf: Shelf, number: int, file: InputFile, options: WikidataOptions, rows: Iterator[int]
) -> Iterator[ImportBatch]:
    choices = WikidataChoices(
        options.language,
        frozenset(options.property),
        frozenset(options.ranks),
        options.points,
        options.timeless == "keep",
    )
    for block in blocks(file, PIECE):
        left = LeftRows(file.label, ONLY_COUNTED)
        for line, found in dump_lines(block.content, block.line):
            if isinstance(found, LeftOut):
                left.add(line, found)
                continue
            for entity in found:
                _take_note(shelf, entity_note(entity, options.language), options)
                for becomes in entity_statements(entity, choices):
                    take_row(shelf, number, next(rows), line, becomes, left)
        yield left.batch()


def _take_note(shelf: Shelf, note: EntityNote, options: WikidataOptions) -> None:
    shelf.add_types(note.entity, note.types)
    shelf.add_aliases(note.entity, note.aliases)
    if note.label and options.names == "auto":
        shelf.add_label(note.entity, note.label)
    elif note.label:
        shelf.add_aliases(note.entity, [note.label])


def _read_results(
    shelf: Shelf, number: int, file: InputFile, options: WikidataOptions, rows: Iterator[int]
) -> Iterator[ImportBatch]:
    with file.open() as stream:
        variables, found = result_rows(stream, PurePath(file.name).suffix.lower(), file.label)
        roles = find_columns(variables, options.columns, options.predicate, file.label)
        columns = ResultColumns(roles, options.predicate, options.precision, options.timeless == "keep")
        while some := list(islice(found, _ROWS)):
            left = LeftRows(file.label, frozenset())
            for line, row in some:
                becomes = [row] if isinstance(row, LeftOut) else list(row_facts(row, columns))
                take_row(shelf, number, next(rows), line, becomes, left)
                if options.names == "auto" and isinstance(row, Mapping):
                    _take_labels(shelf, row, columns)
            yield left.batch()


def _take_labels(shelf: Shelf, row: Mapping[str, str], columns: ResultColumns) -> None:
    """Take the labels of a row; the label service gives the id where there is no label."""
    for role, variable in columns.roles.items():
        entity, label = entity_id(row.get(variable, "")), columns.label(row, role)
        if label and label != entity:
            shelf.add_label(entity, label)


def _recognise(head: Head) -> bool:
    return is_dump(head.lines) or re.fullmatch(r"(wikidata-\d{8}|latest)-(all|lexemes)\.json", head.name) is not None


WIKIDATA = EventSource(
    "wikidata", "Wikidata", WikidataOptions, (".json", ".jsonl", ".ndjson", ".csv", ".tsv"), _read, _recognise
)
