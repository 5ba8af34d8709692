"""What the importers of Wikidata and of RDF share: batches of what was left out, and of facts with their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Annotated

import numpy as np
from pydantic import BeforeValidator

from foretime.data.importers.base import Attribute, DroppedRow, ImportBatch, batch_of
from foretime.data.importers.inputs import InputFile
from foretime.data.linked.dates import UNKNOWN
from foretime.data.linked.shelf import EntityNames, Shelf, ShelvedFact
from foretime.data.linked.statements import LeftOut, LinkedFact

PIECE = 1 << 22
"""Bytes of a file that are parsed at a time."""
_FACTS = 50_000  # of a batch, about


def _listed(value: object) -> object:
    """Return a text with commas as its parts: the command line gives lists so."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


AsWords = BeforeValidator(_listed)
WordList = Annotated[tuple[str, ...], AsWords]
"""Several words: in Python a sequence, on the command line separated by commas."""


class LeftRows:
    """Collects the rows of a piece that are no facts: those to be written out, and those that are only counted."""

    def __init__(self, file: str, only_counted: frozenset[str]) -> None:
        self._file = file
        self._only_counted = only_counted
        self._dropped: list[DroppedRow] = []
        self._counts: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()

    def add(self, line: int, left: LeftOut) -> None:
        """Take a row with its reason."""
        if left.reason in self._only_counted:
            self._counts[left.reason] += 1
        else:
            self._dropped.append(DroppedRow(line, *left))

    def count(self, reason: str) -> None:
        """Count a row that is set aside."""
        self._counts[reason] += 1

    def batch(self) -> ImportBatch:
        """Return the batch of these rows, which has no facts."""
        read = len(self._dropped) + self._counts.total()
        nothing = np.empty(0, dtype=np.int64)
        return ImportBatch(
            self._file, read, {}, nothing, self._dropped, notes=dict(self.notes), set_aside=dict(self._counts)
        )


def take_row(
    shelf: Shelf, file: int, row: int, line: int, becomes: Iterable[LinkedFact | LeftOut], left: LeftRows
) -> None:
    """Take what a row becomes: its facts if it has any, or the reason why it has none."""
    listed = list(becomes)
    facts = [found for found in listed if isinstance(found, LinkedFact)]
    for fact in facts:
        shelf.add_fact(file, row, fact)
    left.notes.update({remark for fact in facts for remark in fact.remarks})
    if not facts:
        left.add(line, next(found for found in listed if isinstance(found, LeftOut)))


def shelf_batches(shelf: Shelf, files: Sequence[InputFile]) -> Iterator[ImportBatch]:
    """Yield the facts on a shelf with their names, and what is known of their entities."""
    for number, facts in groupby(shelf.named_facts(), key=lambda fact: fact.file):
        for piece in _pieces(facts):
            rows = {row: place for place, row in enumerate(dict.fromkeys(fact.row for fact in piece))}
            yield batch_of(files[number].label, len(rows), [(rows[fact.row], _texts(fact)) for fact in piece])
    entities = shelf.entities()
    while some := list(islice(entities, _FACTS)):
        nothing = np.empty(0, dtype=np.int64)
        attributes = [attribute for entity in some for attribute in _attributes(entity)]
        yield ImportBatch(files[0].label, 0, {}, nothing, attributes=attributes)


def _pieces(facts: Iterable[ShelvedFact]) -> Iterator[list[ShelvedFact]]:
    """Yield facts in pieces; those of one row stay together."""
    piece: list[ShelvedFact] = []
    for fact in facts:
        if len(piece) >= _FACTS and fact.row != piece[-1].row:
            yield piece
            piece = []
        piece.append(fact)
    if piece:
        yield piece


def _texts(fact: ShelvedFact) -> dict[str, str | None]:
    start, end = (None if time in ("", UNKNOWN) else time for time in (fact.start, fact.end))
    return {"subject": fact.subject, "predicate": fact.predicate, "object": fact.object, "start": start, "end": end}


def _attributes(entity: EntityNames) -> Iterator[Attribute]:
    yield Attribute(entity.name, "id", entity.entity)
    yield from (Attribute(entity.name, "type", type_) for type_ in entity.types)
    yield from (Attribute(entity.name, "aliases", alias) for alias in entity.aliases)
