"""ACLED's events: CSV with a header and quotes, from the export tool, the API, or a spreadsheet.

What has to be known of them:

- dates are `01 January 2024` in exports, `2024-01-01` from the API, `7-Feb-25` or `2/7/2025` out of a spreadsheet, and
  `31-01-2024` in old files;
- `actor1` and `actor2` have no direction, as the codebook says, and most protests have no `actor2`;
- events are revised: of rows with one `event_id_cnty` the one with the latest `timestamp` holds. They are deleted too,
  which only the list of deletions says (`deleted`);
- the date may be precise to the week or the month only (`time_precision` 2 or 3);
- kinds of actors (`inter1`) are words or numbers; names of columns are in capitals in older exports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from foretime.config import Section
from foretime.data.columns import KNOWN
from foretime.data.formats.table import Coded
from foretime.data.importers.base import EventSource, Head, ImportBatch
from foretime.data.importers.days import european_day
from foretime.data.importers.delimited import Layout
from foretime.data.importers.headers import check_columns, header_names
from foretime.data.importers.inputs import InputFile
from foretime.data.importers.quoted import read_quoted_rows
from foretime.data.importers.recognising import head_of, names_all
from foretime.data.importers.rows import Described, Mask, Rows, convert, first_known, is_absent, is_one_of, name_of
from foretime.errors import DataError

_WANTED = ("event_date", "event_type", "sub_event_type", "actor1", "actor2")
_ID, _STAMP = "event_id_cnty", "timestamp"
_OPTIONAL = (_ID, _STAMP, "inter1", "inter2", "country", "time_precision")
_KINDS = {
    "1": "State forces", "2": "Rebel group", "3": "Political militia", "4": "Identity militia", "5": "Rioters",
    "6": "Protesters", "7": "Civilians", "8": "External/Other forces",
}  # fmt: skip
_ORDER = "event_date does not say whether the day or the month comes first: say it with --date-order"
_PREDICATES = {"event": "event_type", "sub-event": "sub_event_type"}

Newest = dict[str, tuple[int, int]]
"""The latest timestamp of each event, and the number of the last row that has it."""


class AcledOptions(Section):
    """What can be chosen when files of ACLED are imported."""

    predicate: Literal["event", "sub-event"] = "sub-event"
    """Whether the predicate is the type of the event ("Protests") or of the `sub-event` ("Peaceful protest")."""
    direction: Literal["one", "both"] = "one"
    """ACLED's two actors have no direction: `one` makes a fact from `actor1` to `actor2`, `both` a second one back."""
    unnamed: Literal["drop", "country"] = "drop"
    """Rows without `actor2`, as most protests: `drop` them, or let the `country` of the event stand for it."""
    precise_only: bool = False
    """Whether rows whose date is precise to the week or the month only are dropped."""
    deleted: str | None = None
    """A file of events that ACLED has deleted since: CSV with a column `event_id_cnty`, or one id to a line."""
    date_order: Literal["", "day-first", "month-first"] = ""
    """What `04/10/2024`, out of a spreadsheet, is: `day-first` or `month-first`. Without it such rows are dropped."""
    merge: bool = True
    """Whether the same fact on one day is kept only once."""


def _read(files: Sequence[InputFile], options: AcledOptions) -> Iterator[ImportBatch]:
    deleted = frozenset() if options.deleted is None else _ids(Path(options.deleted))
    newest: Newest = {}
    before = 0
    for file in files:  # which version of an event is the last can be in any file, so all are looked through first
        for rows in read_quoted_rows(file, _layout(file, (_ID, _STAMP))):
            _note_newest(rows, before, newest)
            before += len(rows)
    before = 0
    for file in files:
        for rows in read_quoted_rows(file, _layout(file, (*_WANTED, *_OPTIONAL))):
            _drop_versions(rows, before, newest, deleted)
            before += len(rows)
            yield _batch(rows, options)


def _layout(file: InputFile, columns: Sequence[str]) -> Layout:
    head = head_of(file)
    if _is_json(head):
        raise DataError(
            f"{file.label}: is JSON, and ACLED's events are read from CSV; ask the API for _format=csv, or take CSV "
            "from the export tool"
        )
    first = (head.lines or ("",))[0]
    delimiter = max(",;\t", key=first.count)
    names = tuple(name.strip('"').lower().replace(" ", "_") for name in header_names(file, delimiter))
    check_columns(file.label, names, _WANTED)
    return Layout(names, tuple(name for name in columns if name in names), header=True, delimiter=delimiter)


def _ids(path: Path) -> frozenset[str]:
    """Return the ids that a list of deletions has, with or without a header."""
    file = InputFile(path)
    names = [name.strip('"').lower() for name in header_names(file, ",")]
    at = names.index(_ID) if _ID in names else 0
    layout = Layout(tuple(f"{number}" for number in range(len(names))), (f"{at}",), header=_ID in names, delimiter=",")
    found = frozenset(value for rows in read_quoted_rows(file, layout) for value in rows[f"{at}"].values)
    if not found:
        raise DataError(f"{path}: no ids of deleted events; expected a column {_ID}, or one id to a line")
    return found


def _note_newest(rows: Rows, before: int, newest: Newest) -> None:
    for row, (event, stamp) in enumerate(_versions(rows), start=before):
        if event is not None:
            newest[event] = max(newest.get(event, (stamp, row)), (stamp, row))


def _versions(rows: Rows) -> Iterator[tuple[str | None, int]]:
    """Yield the id and the timestamp of each row; there is no id where the file has no such column."""
    if _ID not in rows.columns:
        yield from ((None, 0) for _ in range(len(rows)))
        return
    ids = np.array([*rows[_ID].values, None], dtype=object)[rows[_ID].codes].tolist()
    stamps = [0] * len(rows)
    if _STAMP in rows.columns:
        numbers = [int(text) if text.isdecimal() else 0 for text in rows[_STAMP].values]
        stamps = np.array([*numbers, 0])[rows[_STAMP].codes].tolist()
    yield from ((event or None, stamp) for event, stamp in zip(ids, stamps, strict=True))


def _drop_versions(rows: Rows, before: int, newest: Newest, deleted: frozenset[str]) -> None:
    versions = list(_versions(rows))
    earlier = [
        event is not None and newest[event] != (stamp, row) for row, (event, stamp) in enumerate(versions, start=before)
    ]
    rows.drop(np.array([event in deleted for event, _ in versions], dtype=bool), "deleted by ACLED")
    rows.drop(np.array(earlier, dtype=bool), "an earlier version of an event that was revised")


def _batch(rows: Rows, options: AcledOptions) -> ImportBatch:
    day = convert(rows["event_date"], partial(european_day, slashes=options.date_order))
    rows.drop(is_absent(day) & is_one_of(rows["event_date"], _of_unknown_order(rows, options)), _ORDER)
    rows.drop(is_absent(day), "event_date is no date")
    country = convert(rows["country"], name_of) if "country" in rows.columns else None
    first, second = (convert(rows[name], name_of) for name in ("actor1", "actor2"))
    if options.unnamed == "country" and country is not None:
        second = first_known(second, country)
    rows.drop(is_absent(first), "actor1 is empty")
    rows.drop(is_absent(second), "actor2 is empty")
    column = _PREDICATES[options.predicate]
    predicate = convert(rows[column], name_of)
    rows.drop(is_absent(predicate), f"{column} is empty")
    coarse = _coarse(rows)
    if options.precise_only:
        rows.drop(coarse, "the date is precise to the week or the month only")
    facts = {"subject": first, "predicate": predicate, "object": second, "time": day}
    if _STAMP in rows.columns:
        facts[KNOWN] = convert(rows[_STAMP], _stamp_day)
    ways = [facts, facts | {"subject": second, "object": first}] if options.direction == "both" else [facts]
    return rows.batch(
        ways,
        [
            Described(actor, attribute, [column])
            for actor, name in ((first, "inter1"), (convert(rows["actor2"], name_of), "inter2"))
            for attribute, column in (("type", _kind(rows, name)), ("active_in", country))
            if column is not None
        ],
        {"with a date that is precise to the week or the month only": coarse},
    )


def _of_unknown_order(rows: Rows, options: AcledOptions) -> set[str]:
    """Return the dates that are days in one order of day and month, or in either, if nothing says which it is."""
    texts = rows["event_date"].values
    return set() if options.date_order else {text for text in texts if "/" in text and _days_of(text)}


def _days_of(text: str) -> list[str]:
    found = (european_day(text, slashes=order) for order in ("day-first", "month-first"))
    return [day for day in found if day is not None]


def _coarse(rows: Rows) -> Mask:
    if "time_precision" not in rows.columns:
        return np.zeros(len(rows), dtype=bool)
    return is_one_of(rows["time_precision"], {"2", "3"})


def _kind(rows: Rows, name: str) -> Coded | None:
    return convert(rows[name], lambda text: name_of(_KINDS.get(text, text))) if name in rows.columns else None


def _stamp_day(text: str) -> str | None:
    """Return the day, in UTC, of a timestamp in seconds."""
    return datetime.fromtimestamp(int(text), UTC).date().isoformat() if text.isdecimal() and len(text) < 12 else None


def _recognise(head: Head) -> bool:
    return _is_json(head) or any(names_all(head, delimiter, (_ID, *_WANTED)) for delimiter in ",;\t")


def _is_json(head: Head) -> bool:
    """Return whether a file is an answer of ACLED's API in JSON."""
    text = "".join(head.lines).lstrip()
    return text.startswith(("{", "[")) and f'"{_ID}"' in text


ACLED = EventSource("acled", "ACLED events", AcledOptions, (".csv", ".txt"), _read, _recognise)
