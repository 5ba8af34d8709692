"""A small table: what a notebook, a terminal, a document and a data frame are all made of."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from numbers import Real
from typing import Any, Literal

from foretime.errors import ForetimeError

FrameLibrary = Literal["pandas", "polars", "arrow"]
WIDEST = 60
"""Characters of a cell that plain text shows."""
SHOWN = 30
"""Rows that `str()` and a notebook show."""


def plural(count: int, noun: str) -> str:
    """Return a number of things: `1 event`, `1,024 events`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class Table:
    """Named columns and rows of plain values.

    `formats` says how a column is printed, as in `{"mrr": ".4f"}`, and `labels` under which head, as in
    `{"mrr": "MRR"}`; data frames and CSV have the names and the unrounded values. An interval is a pair of numbers:
    `mrr_interval` is printed as one column, and is `mrr_low` and `mrr_high` in a frame. A column of nothing but None
    is not printed.

    >>> print(Table.of([{"model": "lcge", "mrr": 0.5342}, {"model": "transe", "mrr": 0.28}], formats={"mrr": ".3f"}))
    model     mrr
    lcge    0.534
    transe  0.280
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    formats: Mapping[str, str] | None = None
    labels: Mapping[str, str] | None = None

    @classmethod
    def of(
        cls,
        records: Sequence[Mapping[str, Any]],
        title: str = "",
        formats: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Table:
        """Return the table of some records; a value that a record lacks is None."""
        columns = tuple(dict.fromkeys(name for record in records for name in record))
        rows = tuple(tuple(record.get(name) for name in columns) for record in records)
        return cls(columns, rows, title, formats, labels)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def __str__(self) -> str:
        return "\n".join([self.head().to_text(), *self._more()])

    __repr__ = __str__

    def head(self, rows: int = SHOWN) -> Table:
        """Return the table of the first rows."""
        return replace(self, rows=self.rows[:rows])

    def column(self, name: str) -> list[Any]:
        """Return the values of a column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return a data frame with the unrounded values.

        Raises `ForetimeError` if the library is not installed.
        """
        import pyarrow

        return frame_of(pyarrow.table(self._plain()), library)

    def to_csv(self) -> str:
        """Return the unrounded values as CSV, the names of the columns in the first line; None is empty."""
        text = StringIO()
        columns = self._plain()
        csv.writer(text, lineterminator="\n").writerows([columns, *zip(*columns.values(), strict=True)])
        return text.getvalue()

    def to_text(self) -> str:
        """Return the table in plain text: numbers to the right, long texts cut short."""
        shown = self.filled()
        lines = [shown.heads(), *([_cut(cell) for cell in row] for row in shown.cells())]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        forms = [f"{'>' if right else '<'}{width}" for right, width in zip(shown.numeric(), widths, strict=True)]
        text = ("  ".join(map(format, line, forms)) for line in lines)
        return "\n".join([*([self.title] if self.title else []), *(line.rstrip() for line in text)])

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        shown = self.filled()
        rule = ["---:" if right else "---" for right in shown.numeric()]
        lines = [shown.heads(), rule, *shown.cells()]
        return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)

    def to_html(self) -> str:
        """Return the table in HTML, every text escaped."""
        shown = self.filled()
        sides = ["right" if right else "left" for right in shown.numeric()]

        def row(tag: str, line: list[str]) -> str:
            cells = zip(line, sides, strict=True)
            return "".join(f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>' for cell, side in cells)

        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        body = "".join(f"<tr>{row('td', line)}</tr>" for line in shown.cells())
        return f"<table>{caption}<thead><tr>{row('th', shown.heads())}</tr></thead><tbody>{body}</tbody></table>"

    def _repr_html_(self) -> str:
        return "".join([self.head().to_html(), *(f"<p>{more}</p>" for more in self._more())])

    def heads(self) -> list[str]:
        """Return the printed head of every column."""
        return [(self.labels or {}).get(name, name) for name in self.columns]

    def cells(self) -> list[list[str]]:
        """Return the printed text of every cell."""
        formats = [(self.formats or {}).get(name, "") for name in self.columns]
        return [[_text(value, form) for value, form in zip(row, formats, strict=True)] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Return which columns have nothing but numbers."""
        return [bool(self.rows) and all(map(_is_number, self.column(name))) for name in self.columns]

    def filled(self) -> Table:
        """Return the table without the columns that have nothing but None."""
        empty = {name for name in self.columns if self.rows and all(value is None for value in self.column(name))}
        kept = [place for place, name in enumerate(self.columns) if name not in empty]
        columns = tuple(self.columns[place] for place in kept)
        return replace(self, columns=columns, rows=tuple(tuple(row[place] for place in kept) for row in self.rows))

    def _plain(self) -> dict[str, list[Any]]:
        """Return the values of every column, each interval as two."""
        found = {}
        for name, values in ((name, self.column(name)) for name in self.columns):
            if any(map(_is_interval, values)):
                for place, end in enumerate(("low", "high")):
                    ends = [None if value is None else value[place] for value in values]
                    found[f"{name.removesuffix('_interval')}_{end}"] = ends
            else:
                found[name] = values
        return found

    def _more(self) -> list[str]:
        return [f"… {len(self) - SHOWN:,} more rows"] if len(self) > SHOWN else []


class Tabular(ABC):
    """A value that is shown as a table, in a terminal, a notebook and a data frame."""

    @abstractmethod
    def table(self) -> Table:
        """Return the table that shows this value."""

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return the table as a data frame; raises `ForetimeError` if the library is not installed."""
        return self.table().to_frame(library)

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def frame_of(table: Any, library: FrameLibrary) -> Any:
    """Return an Arrow table as a frame of a library; raise `ForetimeError` if that is not installed."""
    if library == "arrow":
        return table
    try:
        if library == "polars":
            import polars

            return polars.from_arrow(table)
        return table.to_pandas()
    except ImportError:
        raise ForetimeError(f"{library} is not installed; pip install {library}") from None


def _text(value: Any, form: str) -> str:
    """Return the printed text of a value, on one line; numbers with a sign need no dash between them."""
    if _is_interval(value):
        return (" " if form.startswith("+") else "–").join(format(end, form) for end in value)
    return "" if value is None else " ".join(format(value, form).splitlines())


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _is_number(value: Any) -> bool:
    return value is None or _is_interval(value) or (isinstance(value, Real) and not isinstance(value, bool))


def _is_interval(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(end, Real) for end in value)
