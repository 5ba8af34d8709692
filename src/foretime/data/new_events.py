"""New events for a graph, read and checked as training data is: from a file, a frame, or rows in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from foretime.config import DataConfig, check_section
from foretime.data.assembling import join_tables
from foretime.data.columns import EVENT, INTERVAL, KNOWN
from foretime.data.facts import Ids
from foretime.data.formats import read_table
from foretime.data.formats.table import Coded, RawTable
from foretime.data.growth import NewEvents
from foretime.data.problems import SHOWN, Problems
from foretime.data.sources import read_id_names
from foretime.data.timeline import Timeline
from foretime.data.times import ACCEPTED, NO_TICK, UNITS, parse_times, tick_text, ticks_of
from foretime.errors import DataError


def read_events(source: Any, timeline: Timeline, reading: Mapping[str, Any], known: str | int | None) -> NewEvents:
    """Return the events of a file, a frame or rows; raise one `DataError` with every bad row, if there is any.

    `reading` has keywords of `load`; `known` is the column that says when an event was known, by name or by number.
    """
    columns = {**reading.get("columns", {}), **({} if known is None else {KNOWN: known})}
    given = {**reading, "columns": columns, "granularity": timeline.unit}
    config = check_section(DataConfig, given, "", "data.")
    problems = Problems()
    is_file = isinstance(source, str | Path)
    if is_file and Path(source).is_dir():
        raise DataError(f"{source}: a folder; name the one file of new events")
    names = read_id_names(Path(source).parent, problems) if is_file and config.names == "auto" else {}
    table = read_table(source if is_file else _framed(source), "the new events", config, problems)
    known_at = _known(table, timeline, problems)
    rows = join_tables([table], names, config, problems)
    _check_times(table, rows.start, rows.end, timeline)
    return NewEvents(_names(rows.subject), _names(rows.predicate), _names(rows.object), rows.start, rows.end, known_at)


def _framed(source: Any) -> Any:
    """Return rows in Python as a table: tuples in the usual order, or dicts; a frame stays as it is."""
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "columns"):
        return source
    rows = list(source) if isinstance(source, Iterable) and not isinstance(source, Mapping) else [source]
    if not rows:
        raise DataError("there are no new events; give at least one row")
    if all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return pa.table({str(name): _texts([row.get(name) for row in rows]) for name in names})
    widths = {len(row) if isinstance(row, tuple | list) else 0 for row in rows}
    if len(widths) > 1 or widths - {len(EVENT), len(INTERVAL)}:
        raise DataError(
            "each new event is (subject, predicate, object, time) or (subject, predicate, object, start, end), all of "
            "one length, or a dict with these keys; fix the rows"
        )
    roles = EVENT if widths == {len(EVENT)} else INTERVAL
    return pa.table(dict(zip(roles, map(_texts, zip(*rows, strict=True)), strict=True)))


def _texts(values: Iterable[Any]) -> pa.Array:
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _known(table: RawTable, timeline: Timeline, problems: Problems) -> Ids:
    """Return when each event was known, as ticks; `NO_TICK` where the table does not say."""
    column = table.columns.get(KNOWN)
    if column is None:
        return np.full(len(table), NO_TICK)
    moments = parse_times([*column.values, ""])
    ours = UNITS[: UNITS.index(timeline.unit)] if timeline.unit in UNITS else UNITS
    wrong = (moments.precision == "") | np.isin(moments.precision, ours)
    rows = np.flatnonzero(wrong[column.codes])
    texts = [
        f"known is {column.values[code]!r}, which is no {timeline.unit}; write {ACCEPTED}"
        for code in column.codes[rows[:SHOWN]]
    ]
    problems.add_rows(rows.tolist(), table.locate, texts)
    return np.asarray(ticks_of(moments, timeline.unit)[column.codes])


def _check_times(table: RawTable, start: Ids, end: Ids, timeline: Timeline) -> None:
    problems = Problems()
    problems.begin(table.name)
    for ticks in (start, end) if table.start != table.end else (start,):
        rows = np.flatnonzero(~timeline.fits(ticks))
        texts = [
            f"{tick_text(int(tick), timeline.unit)} {_misfit(int(tick), timeline)}" for tick in ticks[rows[:SHOWN]]
        ]
        problems.add_rows(rows.tolist(), table.locate, texts)
    problems.check()


def _misfit(tick: int, timeline: Timeline) -> str:
    """Return why a tick has no step, and what to do."""
    if tick < timeline.starts[0]:
        return f"is before the timeline, {timeline.span}; remove the row, or train anew with it"
    kind, remedy = ("made of bins", "without bins") if timeline.binned else ("irregular", "without --irregular")
    return f"has no step on the timeline, {timeline.span}, which is {kind}; remove the row, or train anew {remedy}"


def _names(column: Coded) -> tuple[str, ...]:
    return tuple(column.values[code] for code in column.codes.tolist())
