"""What is guessed of tables whose columns nobody has named."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from foretime.data.formats.table import ABSENT, Coded, RawTable
from foretime.data.granularity import are_few
from foretime.data.problems import Problems
from foretime.data.times import INTEGER, parse_time

Tables = dict[str, RawTable]


def without_meaningless_end(tables: Tables, problems: Problems) -> Tables:
    """Return the tables as tables of events if their fifth column cannot be the end of an interval.

    RE-Net's files and those made like them have a fifth column that is always 0, or -1. A column is left out only if it
    was taken for an end in all tables, if it is one integer in all rows but a few, and if no fact would begin before
    that. The few rows with something else there are bad ones.
    """
    every = list(tables.values())
    if not all("end" in table.columns for table in every):
        return tables
    ends = _counts([table.columns["end"] for table in every])
    usual, count = ends.most_common(1)[0] if ends else ("", 0)
    starts = _counts([table.columns["start"] for table in every])
    numbers = {text: number for text in starts if (number := _integer(text)) is not None}
    constant = _integer(usual)
    integers = sum(starts[text] for text in numbers)
    if (
        constant is None
        or not all(table.guessed for table in every)
        or not are_few(ends.total() - count, count)
        or not are_few(starts.total() - integers, integers)
        or len(set(numbers.values())) < 2
        or min(numbers.values()) < constant
    ):
        if len(ends) == 1 and usual != "" and ends.total() > 1 and len(starts) > 1 and _is_known(usual):
            problems.doubts.append(f"every fact ends {usual}: is that the end, or another column? --columns says which")
        return tables
    problems.notes.append(f"the fifth column is always {constant} and no end of an interval, so it was left out")
    return {split: _as_events(table, usual, problems) for split, table in tables.items()}


def note_layouts(tables: Tables, problems: Problems) -> None:
    """Note how tables were laid out: once for all if they are alike, and by name where they are not."""
    every = list(tables.values())
    for notes, into in (([t.notes for t in every], problems.notes), ([t.doubts for t in every], problems.doubts)):
        if len(set(notes)) == 1:
            into += notes[0]
        else:
            into += [f"{t.name}: {note}" for t, own in zip(every, notes, strict=True) for note in own]


def _as_events(table: RawTable, usual: str, problems: Problems) -> RawTable:
    end = table.columns["end"]
    good = np.append(np.array([value == usual for value in end.values], dtype=bool), False)[end.codes]
    found = problems.of_table(len(table), table.locate)

    def words(row: int) -> str:
        other = "" if end.codes[row] == ABSENT else end.values[end.codes[row]]
        return f"the fifth column is {other!r}, and {usual} in the other rows; fix the row"

    found.add(np.flatnonzero(~good), "another fifth column", words)
    columns = {("time" if role == "start" else role): own for role, own in table.columns.items() if role != "end"}
    return replace(
        table, columns=columns, notes=tuple(note.replace("start, end", "time") for note in table.notes)
    ).take(good)


def _counts(columns: list[Coded]) -> Counter[str]:
    """Return how often each text occurs; a cell without a value is an empty text."""
    counts: Counter[str] = Counter()
    for column in columns:
        found = np.bincount(column.codes + 1, minlength=len(column.values) + 1).tolist()
        counts.update({text: number for text, number in zip(["", *column.values], found, strict=True) if number})
    return counts


def _is_known(text: str) -> bool:
    moment = parse_time(text)
    return moment is not None and moment.precision != "unknown"


def _integer(text: str) -> int | None:
    moment = parse_time(text)
    return moment.value if moment is not None and moment.precision == INTEGER else None
