"""GDELT events, 2.0 (61 columns, every 15 minutes) and 1.0 (57 columns, 58 since April 2013).

Tab-separated in spite of the ending `.CSV`, without a header. What has to be known of them:

- dates are `20150131` and `20150131234500`: days, not numbers;
- codes are text: `0251` is not 251;
- one actor or both are empty in a large share of rows;
- the day of an event may be long before the day on which it was added: `known` is the latter, and a forecast that is
  to be honest takes it for the time (`date = "report"`);
- most users take root events only, and each fact once a day.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from foretime.config import Section
from foretime.data.columns import KNOWN
from foretime.data.formats.table import Coded
from foretime.data.importers.base import EventSource, Head, ImportBatch
from foretime.data.importers.days import compact_day
from foretime.data.importers.delimited import Layout, read_rows
from foretime.data.importers.inputs import InputFile
from foretime.data.importers.recognising import head_of
from foretime.data.importers.rows import Described, Mask, Rows, convert, first_known, is_absent, is_one_of, name_of
from foretime.errors import DataError

LATE = 30
"""Days after which an event that is added is remarked on."""
_BEGIN = "GLOBALEVENTID SQLDATE MonthYear Year FractionDate"
_ACTOR = "Code Name CountryCode KnownGroupCode EthnicCode Religion1Code Religion2Code Type1Code Type2Code Type3Code"
_EVENT = "IsRootEvent EventCode EventBaseCode EventRootCode QuadClass GoldsteinScale NumMentions NumSources NumArticles"
_GEO = "Type FullName CountryCode ADM1Code ADM2Code Lat Long FeatureID"
_LEVELS = {"full": "EventCode", "base": "EventBaseCode", "root": "EventRootCode"}
_ATTRIBUTES = {
    "country": ("CountryCode",),
    "type": ("Type1Code", "Type2Code", "Type3Code"),
    "group": ("KnownGroupCode",),
    "ethnic": ("EthnicCode",),
    "religion": ("Religion1Code", "Religion2Code"),
}
ROOTS = (
    "Make public statement", "Appeal", "Express intent to cooperate", "Consult", "Engage in diplomatic cooperation",
    "Engage in material cooperation", "Provide aid", "Yield", "Investigate", "Demand", "Disapprove", "Reject",
    "Threaten", "Protest", "Exhibit military posture", "Reduce relations", "Coerce", "Assault", "Fight",
    "Engage in unconventional mass violence",
)  # fmt: skip
"""The twenty roots of CAMEO, 01 to 20."""


def _columns(version: int) -> tuple[str, ...]:
    """Return the columns of a version: the first has no second level of administrative regions."""
    geo = [name for name in _GEO.split() if version == 2 or name != "ADM2Code"]
    return (
        *_BEGIN.split(),
        *(f"Actor{side}{name}" for side in (1, 2) for name in _ACTOR.split()),
        *_EVENT.split(),
        "AvgTone",
        *(f"{place}Geo_{name}" for place in ("Actor1", "Actor2", "Action") for name in geo),
        "DATEADDED",
        "SOURCEURL",
    )


COLUMNS = {61: _columns(2), 58: _columns(1), 57: _columns(1)[:-1]}
"""The columns of a file by their number."""


class GdeltOptions(Section):
    """What can be chosen when files of GDELT are imported."""

    predicate: Literal["text", "code"] = "text"
    """`text`: the words of the CAMEO root with the code behind them ("Consult (042)"); `code`: the code ("042")."""
    level: Literal["full", "base", "root"] = "full"
    """Which code: `full` ("0251"), its `base` ("025") or its `root` ("02")."""
    root_only: bool = True
    """Whether only root events are taken (`IsRootEvent` is 1), as is usual: the others stand deeper in a story."""
    date: Literal["event", "report"] = "event"
    """Whether the time of a fact is the day of the event (`SQLDATE`) or the day on which it was added (`DATEADDED`);
    the latter is `known` in both cases."""
    unnamed: Literal["drop", "code"] = "drop"
    """Rows with an actor that has no name: `drop` them, or let its `code` stand for it where it has one."""
    merge: bool = True
    """Whether the same fact on one day is kept only once."""


def _read(files: Sequence[InputFile], options: GdeltOptions) -> Iterator[ImportBatch]:
    for file in files:
        for rows in read_rows(file, _layout(file)):
            yield _batch(rows, options)


def _layout(file: InputFile) -> Layout:
    widths = [len(line.split("\t")) for line in head_of(file).lines]
    names = next((COLUMNS[width] for width in widths if width in COLUMNS), None)
    if widths and names is None:
        raise DataError(
            f"{file.label}:1: expected 61 columns (GDELT 2.0) or 57 or 58 (1.0), separated by tabs, found {widths[0]}; "
            "give files of events (export.CSV), as they were downloaded"
        )
    names = names or COLUMNS[61]  # a file without rows
    actors = [f"Actor{side}{name}" for side in (1, 2) for name in _ACTOR.split()]
    return Layout(names, ("SQLDATE", "DATEADDED", "IsRootEvent", *_LEVELS.values(), *actors))


def _batch(rows: Rows, options: GdeltOptions) -> ImportBatch:
    if options.root_only:
        rows.drop(~is_one_of(rows["IsRootEvent"], {"1"}), "not a root event")
    subject, object_ = (_actor(rows, side, options) for side in (1, 2))
    code = convert(rows[_LEVELS[options.level]], _code)
    rows.drop(is_absent(code), "no event code")
    event, added = (convert(rows[name], compact_day) for name in ("SQLDATE", "DATEADDED"))
    day = event if options.date == "event" else added
    rows.drop(is_absent(day), f"{'SQLDATE' if options.date == 'event' else 'DATEADDED'} is no date")
    predicate = convert(code, event_text) if options.predicate == "text" else code
    notes = {f"reported more than {LATE} days after the event": _late(event, added)} if options.date == "event" else {}
    return rows.batch(
        [{"subject": subject, "predicate": predicate, "object": object_, "time": day, KNOWN: added}],
        [
            Described(actor, attribute, [convert(rows[f"Actor{side}{name}"], name_of) for name in names])
            for actor, side in ((subject, 1), (object_, 2))
            for attribute, names in _ATTRIBUTES.items()
        ],
        notes,
    )


def _actor(rows: Rows, side: int, options: GdeltOptions) -> Coded:
    actor = convert(rows[f"Actor{side}Name"], name_of)
    if options.unnamed == "code":
        actor = first_known(actor, convert(rows[f"Actor{side}Code"], name_of))
    rows.drop(is_absent(actor), f"actor {side} has no name")
    return actor


def _code(text: str) -> str | None:
    return text if text.strip("-") else None


def event_text(code: str) -> str:
    """Return a code in words: `Consult (042)`; a code that is not of CAMEO stays as it is."""
    root = code[:2]
    return f"{ROOTS[int(root) - 1]} ({code})" if root.isdecimal() and 1 <= int(root) <= len(ROOTS) else code


def _late(event: Coded, added: Coded) -> Mask:
    """Return which rows were added long after the event."""
    days = [np.array([*column.values, "NaT"], dtype="datetime64[D]")[column.codes] for column in (event, added)]
    return np.asarray(days[1] - days[0] > np.timedelta64(LATE, "D"))


def _recognise(head: Head) -> bool:
    """Return whether a file has the columns of GDELT: no header, and dates where they should be."""
    cells = head.lines[0].split("\t") if head.lines else []
    names = COLUMNS.get(len(cells))
    if names is None:
        return False
    row = dict(zip(names, cells, strict=True))
    dates = compact_day(row["SQLDATE"]) and compact_day(row["DATEADDED"])
    return bool(dates) and row["GLOBALEVENTID"].isdecimal() and row["MonthYear"] == row["SQLDATE"][:6]


GDELT = EventSource("gdelt", "GDELT events", GdeltOptions, (".csv", ".tsv", ".txt"), _read, _recognise)
