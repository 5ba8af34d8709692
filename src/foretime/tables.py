"""A small table: what a notebook, a terminal, a document and a data frame are all made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from foretime.errors import ForetimeError

FrameLibrary = Literal["pandas", "polars", "arrow"]


@dataclass(frozen=True)
class Table:
    """Named columns and rows of plain values; `formats` says how a column is printed, as in `{"mrr": ".4f"}`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    formats: Mapping[str, str] | None = None

    @classmethod
    def of(
        cls, records: Sequence[Mapping[str, Any]], title: str = "", formats: Mapping[str, str] | None = None
    ) -> Table:
        """Return the table of some records; a value that a record lacks is None."""
        columns = tuple(dict.fromkeys(name for record in records for name in record))
        return cls(columns, tuple(tuple(record.get(name) for name in columns) for record in records), title, formats)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return self.to_text()

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return a data frame with the unrounded values.

        Raises `ForetimeError` if the library is not installed.
        """
        import pyarrow

        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        table = {name: list(column) for name, column in zip(self.columns, columns, strict=True)}
        return frame_of(pyarrow.table(table), library)

    def cells(self) -> list[list[str]]:
        """Return the printed text of every cell."""
        formats = self.formats or {}
        return [
            [_text(value, formats.get(name, "")) for name, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def to_text(self) -> str:
        """Return the table in plain text, its columns aligned."""
        lines = [list(self.columns), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)] if self.columns else []
        right = [_is_number(column) for column in (zip(*self.rows, strict=True) if self.rows else self.columns)]
        shown = [
            "  ".join(
                cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(line, widths, right, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*([self.title] if self.title else []), *shown])

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        lines = [list(self.columns), ["---"] * len(self.columns), *self.cells()]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"

    def to_html(self) -> str:
        """Return the table in HTML, every name escaped."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.cells())
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    _repr_html_ = to_html


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
    return "" if value is None else format(value, form)


def _is_number(column: Any) -> bool:
    return all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in column)
