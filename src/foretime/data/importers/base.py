"""What an importer is: a source with its options, which reads files and gives batches of facts.

A source is one module with one `EventSource`, and one line of `IMPORTERS` in `foretime/data/importers/__init__.py`.
Its `read` goes through the files in streams and yields an `ImportBatch` for each piece. Everything else is shared:
finding and unpacking files, merging, the folder that is written, and the report, in which every row that was read is
kept, merged or dropped with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from foretime.config import Section
from foretime.data.columns import EVENT, INTERVAL, KNOWN
from foretime.data.facts import Ids
from foretime.data.formats.table import ABSENT, Coded
from foretime.data.importers.inputs import InputFile
from foretime.data.sources import IMPORTED

EVENTS = IMPORTED
"""The table of facts that are not split yet."""


class DroppedRow(NamedTuple):
    """A row that is in no fact: its line, why, and its text as it stood."""

    line: int
    reason: str
    text: str


class Attribute(NamedTuple):
    """What rows say of an entity, such as `Attribute("Japan", "country", "JPN", 12)`, and how many of them say it."""

    entity: str
    attribute: str
    value: str
    rows: int = 1


@dataclass(frozen=True)
class ImportBatch:
    """A piece of a file. `read` is the rows in it: each is dropped, set aside, or behind at least one fact.

    `facts` has the columns subject, predicate, object and time, or start and end instead, and perhaps `known`, the day
    on which a fact was reported. Ends that are not known are `ABSENT`. All columns are of one length, and `rows` has,
    for each fact, the number of its row within the batch: two facts of one row have the same one.
    """

    file: str
    read: int
    facts: Mapping[str, Coded]
    rows: Ids
    dropped: Sequence[DroppedRow] = ()
    attributes: Sequence[Attribute] = ()
    """What the rows behind the facts say of their entities; a list is one attribute for each of its values."""
    notes: Mapping[str, int] = field(default_factory=dict)
    """Remarks on rows that were kept, with the number of rows."""
    table: str = EVENTS
    """The table that the facts belong to: `events`, or train, valid or test where the source is split."""
    set_aside: Mapping[str, int] = field(default_factory=dict)
    """Rows that can be no facts of this graph, by reason: counted in `read` and in the report, but not written out."""


class Head(NamedTuple):
    """How a file begins: its name, and its first rows, each as text without line end."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class EventSource:
    """A source of events that can be imported."""

    name: str
    """What users type."""
    title: str
    """What it is called, with the version that is read."""
    options: type[Section]
    """Its options with their defaults; every field has a docstring and is a flag of `foretime data import`."""
    suffixes: tuple[str, ...]
    """The endings, in lower case and without those of compression, of the files that are taken from a folder."""
    read: Callable[[Sequence[InputFile], Any], Iterator[ImportBatch]]
    """Yields the batches of the files, given the options."""
    recognise: Callable[[Head], bool] | None = None
    """Whether a file is unmistakably of this source; none: it has to be named."""
    foreign: bool = True
    """Whether its files have to be imported; `foretime.load` reads the others as they are."""


def coded(values: Iterable[str | None]) -> Coded:
    """Return values in Python as a column; None is `ABSENT`."""
    numbers: dict[str, int] = {}
    codes = [ABSENT if value is None else numbers.setdefault(value, len(numbers)) for value in values]
    return Coded(list(numbers), np.array(codes, dtype=np.int64))


def batch_of(
    file: str,
    read: int,
    facts: Iterable[tuple[int, Mapping[str, str | None]]],
    dropped: Sequence[DroppedRow] = (),
    attributes: Sequence[Attribute] = (),
) -> ImportBatch:
    """Return the batch of facts in Python, each as the number of its row and its texts by role.

    The facts have a time, or a start and an end where any of them has; `known` where any has.
    """
    listed = list(facts)
    found = {role for _, fact in listed for role in fact}
    roles = [*(INTERVAL if found & {"start", "end"} else EVENT), *([KNOWN] if KNOWN in found else [])]
    columns = {role: coded(fact.get(role) for _, fact in listed) for role in roles}
    return ImportBatch(file, read, columns, np.array([row for row, _ in listed], dtype=np.int64), dropped, attributes)
