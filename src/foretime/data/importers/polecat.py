"""POLECAT events in the ontology PLOVER, the successor of ICEWS: weekly tab-separated files of 40 columns.

What has to be known of them:

- some headers name more columns than the rows have (`Headline`): rows of 40 cells are read by position;
- some rows have empty cells behind their last column, which are left out;
- `None` stands for nothing, and sectors are lists with semicolons;
- the event has a date, and the story another one, on which the event was known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from foretime.config import Section
from foretime.data.columns import KNOWN
from foretime.data.formats.table import Coded
from foretime.data.importers.base import EventSource, Head, ImportBatch
from foretime.data.importers.days import iso_day
from foretime.data.importers.delimited import Layout, read_rows
from foretime.data.importers.headers import check_columns, header_names
from foretime.data.importers.inputs import InputFile
from foretime.data.importers.recognising import head_of, names_all
from foretime.data.importers.rows import Described, Rows, convert, first_known, is_absent, is_one_of, name_of, paired

COLUMNS = (
    "Event ID", "Event Date", "Event Type", "Event Mode", "Intensity", "Quad Code", "Contexts", "Actor Name",
    "Actor Country", "Actor COW", "Primary Actor Sector", "Actor Sectors", "Actor Title", "Actor Name Raw",
    "Wikipedia Actor ID", "Recipient Name", "Recipient Country", "Recipient COW", "Primary Recipient Sector",
    "Recipient Sectors", "Recipient Title", "Recipient Name Raw", "Wikipedia Recipient ID", "Placename", "City",
    "District", "Province", "Country", "Latitude", "Longitude", "GeoNames ID", "Raw Placename", "Feature Type",
    "Source", "Publication Date", "Story People", "Story Organizations", "Story Locations", "Language", "Version",
)  # fmt: skip
_SIDES = ("Actor", "Recipient")
_WANTED = (
    "Event Date", "Event Type", "Event Mode", "Publication Date",
    *(name.format(side) for side in _SIDES for name in ("{} Name", "{} Country", "Primary {} Sector", "{} Sectors")),
)  # fmt: skip
_PLOVER = (
    "AGREE", "CONSULT", "SUPPORT", "CONCEDE", "COOPERATE", "AID", "RETREAT", "REQUEST", "ACCUSE", "REJECT", "THREATEN",
    "PROTEST", "SANCTION", "MOBILIZE", "COERCE", "ASSAULT",
)  # fmt: skip


class PolecatOptions(Section):
    """What can be chosen when files of POLECAT are imported."""

    predicate: Literal["type", "mode"] = "type"
    """`type`: one of PLOVER's sixteen types ("CONSULT"); `mode`: the type with its mode where there is one
    ("CONSULT: visit")."""
    date: Literal["event", "report"] = "event"
    """Whether the time of a fact is the day of the event or that of the story; the latter is `known` in both cases."""
    unnamed: Literal["drop", "country"] = "drop"
    """Rows with an actor or recipient that has no name: `drop` them, or let its `country` stand for it."""
    merge: bool = True
    """Whether the same fact on one day is kept only once."""


def _read(files: Sequence[InputFile], options: PolecatOptions) -> Iterator[ImportBatch]:
    for file in files:
        for rows in read_rows(file, _layout(file)):
            yield _batch(rows, options)


def _layout(file: InputFile) -> Layout:
    """Return the columns of a file: by the header if the rows are as wide as it is, otherwise the forty by position."""
    lines = head_of(file).lines
    header = bool(lines) and lines[0].startswith("Event ID\t")
    names = header_names(file)
    while names and not names[-1]:
        names = names[:-1]
    widths = {len(line.rstrip("\t").split("\t")) for line in lines[1 if header else 0 :]}
    if header and names != COLUMNS and widths and max(widths) == len(names):
        check_columns(file.label, names, _WANTED)
        return Layout(names, _WANTED, header)
    return Layout(COLUMNS, _WANTED, header)


def _batch(rows: Rows, options: PolecatOptions) -> ImportBatch:
    event, report = (convert(rows[name], iso_day) for name in ("Event Date", "Publication Date"))
    day = event if options.date == "event" else report
    rows.drop(is_absent(day), f"the date of the {'event' if options.date == 'event' else 'story'} is no date")
    subject, object_ = (_actor(rows, side, options) for side in _SIDES)
    kind, mode = (convert(rows[name], name_of) for name in ("Event Type", "Event Mode"))
    rows.drop(is_absent(kind), "no event type")
    predicate = paired(kind, mode, ": ") if options.predicate == "mode" else kind
    return rows.batch(
        [{"subject": subject, "predicate": predicate, "object": object_, "time": day, KNOWN: report}],
        [
            each
            for actor, side in ((subject, "Actor"), (object_, "Recipient"))
            for each in _described(rows, actor, side)
        ],
        {"with an event type that is none of PLOVER's sixteen": ~is_one_of(kind, frozenset(_PLOVER))},
    )


def _actor(rows: Rows, side: str, options: PolecatOptions) -> Coded:
    actor = convert(rows[f"{side} Name"], name_of)
    if options.unnamed == "country":
        actor = first_known(actor, convert(rows[f"{side} Country"], name_of))
    rows.drop(is_absent(actor), f"the {side.lower()} has no name")
    return actor


def _described(rows: Rows, actor: Coded, side: str) -> list[Described]:
    table = (("country", f"{side} Country"), ("type", f"Primary {side} Sector"), ("sectors", f"{side} Sectors"))
    return [Described(actor, attribute, [convert(rows[name], name_of)], ";") for attribute, name in table]


def _recognise(head: Head) -> bool:
    return names_all(head, "\t", ("Event ID", "Event Type", "Event Mode", "Actor Name", "Recipient Name"))


POLECAT = EventSource("polecat", "POLECAT events", PolecatOptions, (".txt", ".tab", ".tsv"), _read, _recognise)
