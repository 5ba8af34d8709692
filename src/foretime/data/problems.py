"""Bad rows, collected over all files and reported together: one line for each kind, with a count and places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.bad_rows import BadRow, BadRows
from foretime.errors import DataError
from foretime.tables import plural

SHOWN = 20
"""Bad rows whose places a report shows, beside the first of each kind; the others are counted."""
BadRowsChoice = Literal["stop", "skip"]
Written = Callable[[set[int]], dict[int, str]]
"""Gives the rows of a source as they stand there, by the numbers of their lines."""


class Place(NamedTuple):
    """Where a row is: a line of a text file, or a `row` of a table without lines."""

    source: str
    line: int
    word: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.word} {self.line}" if self.word else f"{self.source}:{self.line}"


class _Fault(NamedTuple):
    """One thing that is wrong in some rows; places and texts are found when they are wanted, for that is slow."""

    kind: str
    rows: Sequence[int]
    locate: Callable[[Sequence[int]], list[Place]]
    text: Callable[[int], str]

    def found(self, most: int | None = None) -> list[tuple[Place, str]]:
        rows = list(map(int, self.rows[:most]))
        return [(place, self.text(row)) for place, row in zip(self.locate(rows), rows, strict=True)]


@dataclass
class TableProblems:
    """What is wrong in the rows of one table."""

    locate: Callable[[Sequence[int]], list[Place]]
    bad: NDArray[np.bool_]
    """Which rows are bad, (rows,)."""
    faults: list[_Fault] = field(default_factory=list)

    def add(self, rows: NDArray[np.int64], kind: str, text: Callable[[int], str] | str) -> None:
        """Note what is wrong in some rows: in a word that all share, and in a text for each."""
        if len(rows):
            self.bad[rows] = True
            self.faults.append(
                _Fault(kind, rows.tolist(), self.locate, (lambda _: text) if isinstance(text, str) else text)
            )


@dataclass
class Problems:
    """A growing report of bad rows, and of what was guessed. A row counts once, whatever is wrong with it."""

    choice: BadRowsChoice = "stop"
    notes: list[str] = field(default_factory=list)
    """What was guessed on the way."""
    doubts: list[str] = field(default_factory=list)
    """What deserves a second look, though it could be read."""
    _single: list[_Fault] = field(default_factory=list)
    _tables: list[TableProblems] = field(default_factory=list)
    _sources: dict[str, int] = field(default_factory=dict)
    _written: dict[str, Written] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many rows are bad."""
        return len(self._single) + sum(int(table.bad.sum()) for table in self._tables)

    @property
    def stops(self) -> bool:
        """Whether there is a bad row, and bad rows are not to be skipped."""
        return self.choice == "stop" and self.count > 0

    def begin(self, source: str, written: Written | None = None) -> None:
        """Note that a source is being read, and how to see its rows: the report lists sources in this order."""
        self._sources.setdefault(source, len(self._sources))
        if written is not None:
            self._written[source] = written

    def add(self, place: Place, text: str, kind: str | None = None) -> None:
        """Count one bad row that is in no table; rows of one kind are reported together."""
        self.begin(place.source)
        self._single.append(_Fault(kind or text, [0], lambda _: [place], lambda _: text))

    def of_table(self, rows: int, locate: Callable[[Sequence[int]], list[Place]]) -> TableProblems:
        """Return the problems of a table with so many rows, to be filled."""
        self._tables.append(TableProblems(locate, np.zeros(rows, dtype=bool)))
        return self._tables[-1]

    def check(self, kept: int | None = None) -> None:
        """Raise one `DataError` with every kind of bad row so far, if there is any and they are not to be skipped.

        `kept` is how many good rows there are: if none, there is nothing that could be left after skipping.
        """
        if not self.count or (self.choice == "skip" and kept != 0):
            return
        lines = self.lines()
        if kept == 0:
            lines.append("no row is left that can be read")
        elif kept is not None:
            them = "them" if self.count > 1 else "it"
            lines.append(f"{plural(self.count, 'bad row')}; fix {them}, or leave {them} out with --bad-rows skip")
        raise DataError("\n".join(lines))

    def lines(self) -> list[str]:
        """Return one line for each kind of bad row, in the order of their first places."""
        kinds: dict[str, list[_Fault]] = {}
        for fault in self._faults():
            kinds.setdefault(fault.kind, []).append(fault)
        found = {kind: self._ordered(kinds[kind], SHOWN) for kind in kinds}
        order = sorted(kinds, key=lambda kind: self._rank(found[kind][0]))
        nearest = sorted(self._rank(one) for some in found.values() for one in some)[:SHOWN][-1:]
        lines = []
        for kind in order:
            (first, text), *others = found[kind]
            count = sum(len(fault.rows) for fault in kinds[kind])
            shown = [place for place, own in others if self._rank((place, own)) <= nearest[0]]
            lines.append(f"{first}: {text}" + _likewise(shown, count - 1))
        return lines

    def bad_rows(self, kept: int) -> BadRows:
        """Return every bad row with its place, the row as written, and what is wrong with it."""
        faults: dict[Place, list[str]] = {}
        for place, text in self._ordered(self._faults()):
            faults.setdefault(place, []).append(text)
        texts = {
            source: self._texts(source, {p.line for p in faults if p.source == source}) for source in self._sources
        }
        rows = tuple(
            BadRow(place.source, place.line, texts[place.source].get(place.line), tuple(dict.fromkeys(found)))
            for place, found in faults.items()
        )
        return BadRows(rows, tuple(self.lines()) if rows else (), kept)

    def _texts(self, source: str, lines: set[int]) -> dict[int, str]:
        if not lines or source not in self._written:
            return {}
        return self._written[source](lines)

    def _faults(self) -> Iterable[_Fault]:
        yield from self._single
        for table in self._tables:
            yield from table.faults

    def _ordered(self, faults: Iterable[_Fault], most: int | None = None) -> list[tuple[Place, str]]:
        return sorted((one for fault in faults for one in fault.found(most)), key=self._rank)

    def _rank(self, found: tuple[Place, str]) -> tuple[int, int, str]:
        place, text = found
        return self._sources[place.source], place.line, text


def _likewise(places: list[Place], count: int) -> str:
    """Return in words where else there is the same, of so many places."""
    if not count:
        return ""
    shown = []
    for (_, _), same in groupby(places, key=lambda place: (place.source, place.word)):
        first, *others = same
        shown.append(", ".join([str(first), *(str(place.line) for place in others)]))
    more = "" if len(places) == count else " …" if places else ""
    return f" ({count:,} more row{'s' if count > 1 else ''} like it{': ' if shown else ''}{', '.join(shown)}{more})"
