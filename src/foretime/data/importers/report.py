"""What an import did with every row."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foretime.tables import Table, Tabular, plural

PLACES = 3
"""Places that a report names for each reason."""


@dataclass(frozen=True)
class DroppedRows:
    """Rows that were dropped for one reason: how many, and where the first of them are."""

    reason: str
    rows: int
    places: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class ImportReport(Tabular):
    """What became of the rows of an import: `read = kept + merged + sum of dropped + sum of set_aside`.

    A row is merged if all of its facts are there already. A kept row may give two facts.
    """

    source: str
    title: str
    recognised: bool
    """Whether the source was not named but seen from the files."""
    out: str
    options: dict[str, Any]
    files: dict[str, int]
    """The rows read of each file."""
    sizes: dict[str, int]
    """The bytes of each file on the disk."""
    skipped: tuple[str, ...]
    """Files in folders and archives that do not look like files of the source."""
    read: int
    kept: int
    merged: int
    dropped: tuple[DroppedRows, ...]
    set_aside: dict[str, int]
    """Rows that can be no facts of this graph, by reason: counted, but not written out."""
    notes: dict[str, int]
    """Remarks on rows that were kept, with the number of rows."""
    facts: int
    entities: int
    predicates: int

    def table(self) -> Table:
        """Return one line for each thing that happened to rows, with the place of the first examples."""
        rows: list[tuple[str, int, str]] = [("read", self.read, ""), ("kept", self.kept, "")]
        if self.merged:
            rows.append(("merged with the same fact", self.merged, ""))
        rows += [(f"dropped: {each.reason}", each.rows, each.places[0]) for each in self.dropped]
        rows += [(f"set aside: {reason}", count, "") for reason, count in self.set_aside.items()]
        rows += [(f"kept, but {remark}", count, "") for remark, count in self.notes.items()]
        shown = tuple((what, count, place or None) for what, count, place in rows)
        return Table((self.title, "rows", "first"), shown, formats={"rows": ","})

    def __str__(self) -> str:
        return f"{self.table()}\n{self.summary}"

    @property
    def summary(self) -> str:
        """What was written, in one line."""
        entities = "1 entity" if self.entities == 1 else f"{self.entities:,} entities"
        return f"{self.out}: {plural(self.facts, 'fact')}, {entities}, {plural(self.predicates, 'predicate')}"

    @property
    def folder(self) -> Path:
        """The folder that was written; `foretime.load` reads it."""
        return Path(self.out)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return asdict(self)
