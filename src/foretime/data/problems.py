"""Bad rows, collected over all files and reported together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from foretime.errors import DataError

SHOWN = 20
"""Bad rows that a report shows; the others are counted."""


class Place(NamedTuple):
    """Where a row is: a line of a text file, or a `row` of a table without lines."""

    source: str
    line: int
    word: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.word} {self.line}" if self.word else f"{self.source}:{self.line}"


@dataclass
class Problems:
    """A growing report of bad rows. Only the first few of each kind are put into words; all are counted."""

    count: int = 0
    _found: list[tuple[Place, str]] = field(default_factory=list)
    _sources: dict[str, int] = field(default_factory=dict)

    def begin(self, source: str) -> None:
        """Note that a source is being read: the report lists sources in this order."""
        self._sources.setdefault(source, len(self._sources))

    def add(self, place: Place, text: str) -> None:
        """Count one bad row."""
        self.begin(place.source)
        self.count += 1
        self._found.append((place, text))

    def add_rows(self, rows: Sequence[int], locate: Callable[[Sequence[int]], list[Place]], texts: list[str]) -> None:
        """Count all the rows; `texts` says what is wrong with the first of them, at most `SHOWN`."""
        if not len(rows):
            return  # finding places is slow
        self.count += len(rows)
        shown = [int(row) for row in rows[: len(texts)]]
        self._found += zip(locate(shown), texts, strict=True)

    def check(self) -> None:
        """Raise one `DataError` with every bad row so far, if there is any."""
        if not self.count:
            return
        ordered = sorted(self._found, key=lambda found: (self._sources[found[0].source], found[0].line, found[1]))
        lines = [f"{place}: {text}" for place, text in ordered[:SHOWN]]
        if self.count > len(lines):
            lines.append(f"… and {self.count - len(lines):,} more")
        raise DataError("\n".join(lines))
