"""What is guessed of tables whose columns nobody has named."""

from __future__ import annotations

from dataclasses import replace

from foretime.data.formats.table import ABSENT, RawTable
from foretime.data.times import INTEGER, parse_time

Tables = dict[str, RawTable]


def without_meaningless_end(tables: Tables) -> tuple[Tables, list[str]]:
    """Return the tables as tables of events if their fifth column cannot be the end of an interval, and what was done.

    RE-Net's files and those made like them have a fifth column that is always 0. A column is left out only if it was
    taken for an end in all tables, if it is one integer throughout, and if no fact would begin before that.
    """
    every = list(tables.values())
    if not all(table.guessed and "end" in table.columns for table in every):
        return tables, []
    ends = {_text(table, "end", code) for table in every for code in set(table.columns["end"].codes.tolist())}
    starts = [_integer(text) for table in every for text in table.columns["start"].values]
    constant = _integer(ends.pop()) if len(ends) == 1 else None
    known = [start for start in starts if start is not None]
    if constant is None or len(known) < len(starts) or len(set(known)) < 2 or min(known) < constant:
        return tables, []
    note = f"the fifth column is always {constant} and no end of an interval, so it was left out"
    return {split: _as_events(table) for split, table in tables.items()}, [note]


def _as_events(table: RawTable) -> RawTable:
    columns = {("time" if role == "start" else role): own for role, own in table.columns.items() if role != "end"}
    return replace(table, columns=columns)


def _text(table: RawTable, role: str, code: int) -> str:
    return "" if code == ABSENT else table.columns[role].values[code]


def _integer(text: str) -> int | None:
    moment = parse_time(text)
    return moment.value if moment is not None and moment.precision == INTEGER else None
