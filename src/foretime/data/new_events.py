"""New events for a graph, read and checked as training data is: from a file, a frame, or rows in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foretime.config import DataConfig, check_section
from foretime.data.assembling import join_tables
from foretime.data.bad_rows import BadRows
from foretime.data.columns import EVENT, INTERVAL, KNOWN
from foretime.data.databases import check_no_query, fetch, parse_address
from foretime.data.date_forms import read_dates
from foretime.data.facts import Ids
from foretime.data.formats import read_table
from foretime.data.formats.table import Coded, RawTable
from foretime.data.growth import NewEvents
from foretime.data.problems import Problems
from foretime.data.sources import read_id_names
from foretime.data.timeline import Timeline
from foretime.data.times import ACCEPTED, INTEGER, NO_TICK, is_coarser, tick_text, ticks_of
from foretime.errors import DataError


class ReadEvents(NamedTuple):
    """New events, and the bad rows that were left out."""

    events: NewEvents
    bad_rows: BadRows


def read_events(source: Any, timeline: Timeline, reading: Mapping[str, Any], known: str | int | None) -> ReadEvents:
    """Return the events of a file, a frame or rows; raise one `DataError` with every bad row, unless these are skipped.

    `reading` has keywords of `load`; `known` is the column that says when an event was known, by name or by number.
    """
    columns = {**reading.get("columns", {}), **({} if known is None else {KNOWN: known})}
    given = {**reading, "columns": columns, "granularity": timeline.unit}
    config = check_section(DataConfig, given, "", "data.")
    problems = Problems(config.bad_rows)
    address = parse_address(source)
    is_file = address is None and isinstance(source, str | Path)
    if address is None:
        check_no_query(config, str(source) if is_file else "a table")
    if is_file and Path(source).is_dir():
        raise DataError(f"{source}: a folder; name the one file of new events")
    names = read_id_names(Path(source).parent, problems) if is_file and config.names == "auto" else {}
    if address is not None:
        source = fetch(address, config)
    place = "the new events" if address is None else address.shown
    table = read_table(source if is_file else _framed(source), place, config, problems)
    known_at, unread = _known(table, timeline, config.date_format, problems)
    if config.bad_rows == "skip":
        table = table.take(~unread)
    rows = join_tables([table], names, config, problems)
    good = rows.tables[0]
    fit = _fitting(good, rows.start, rows.end, timeline, problems)
    known_at = known_at if good.kept is None else known_at[good.kept]
    events = NewEvents(
        _names(rows.subject), _names(rows.predicate), _names(rows.object), rows.start, rows.end, known_at
    )
    return ReadEvents(events.take(fit), problems.bad_rows(kept=len(fit)))


def _framed(source: Any) -> Any:
    """Return rows in Python as a table: tuples in the usual order, or dicts; a frame stays as it is."""
    if any(hasattr(source, name) for name in ("__arrow_c_stream__", "columns", "to_table")):
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


def _known(table: RawTable, timeline: Timeline, date_format: str, problems: Problems) -> tuple[Ids, NDArray[np.bool_]]:
    """Return when each event was known, as ticks, `NO_TICK` where the table does not say; and which cannot be read."""
    column = table.columns.get(KNOWN)
    if column is None:
        return np.full(len(table), NO_TICK), np.zeros(len(table), dtype=bool)
    moments, _ = read_dates([*column.values, ""], date_format, timeline.unit)
    coarse = [is_coarser(precision, timeline.unit) or precision == "" for precision in moments.precision.tolist()]
    if timeline.unit == INTEGER:
        coarse = [precision not in (INTEGER, "unknown") for precision in moments.precision.tolist()]
    rows = np.flatnonzero(np.array(coarse)[column.codes])

    def words(row: int) -> str:
        return f"known is {column.values[column.codes[row]]!r}, which is no {timeline.unit}; write {ACCEPTED}"

    found = problems.of_table(len(table), table.locate)
    found.add(rows, "no time: known", words)
    return np.asarray(ticks_of(moments, timeline.unit)[column.codes]), found.bad


def _fitting(table: RawTable, start: Ids, end: Ids, timeline: Timeline, problems: Problems) -> Ids:
    """Return the rows whose times the timeline has, or would have if it went on; the others are bad ones."""
    found = problems.of_table(len(table), table.locate)
    for ticks in (start, end) if table.start != table.end else (start,):
        words = partial(_misfit_words, ticks, timeline)
        found.add(np.flatnonzero(~timeline.fits(ticks)), "off the timeline", words)
    fit = np.flatnonzero(~found.bad)
    problems.check(kept=len(fit))
    return fit


def _misfit_words(ticks: Ids, timeline: Timeline, row: int) -> str:
    tick = int(ticks[row])
    return f"{tick_text(tick, timeline.unit)} {_misfit(tick, timeline)}"


def _misfit(tick: int, timeline: Timeline) -> str:
    """Return why a tick has no step, and what to do."""
    if tick < timeline.starts[0]:
        return f"is before the timeline, {timeline.span}; remove the row, or train anew with it"
    kind, remedy = ("made of bins", "without bins") if timeline.binned else ("irregular", "without --irregular")
    return f"has no step on the timeline, {timeline.span}, which is {kind}; remove the row, or train anew {remedy}"


def _names(column: Coded) -> tuple[str, ...]:
    return tuple(column.values[code] for code in column.codes.tolist())
