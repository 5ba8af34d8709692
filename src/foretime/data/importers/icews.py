"""ICEWS coded event data (Harvard Dataverse, doi:10.7910/DVN/28075), the files `events.YYYY.*.tab`.

Tab-separated with a header; a quote is part of a name. What has to be known of them:

- dates are `2014-01-31`, and `1/31/2017` in the file of 2017, the month first;
- names are in UTF-8 or in ISO-8859-1;
- `None` stands for nothing;
- codes may have lost their leading zero (`20` for `020`, `251` for `0251`), and some are no numbers (`13y`);
- `Event ID` alone does not tell events apart, so it is not used: the same fact of several stories on a day is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from foretime.config import Section
from foretime.data.formats.table import Coded
from foretime.data.importers.base import EventSource, Head, ImportBatch
from foretime.data.importers.days import american_day
from foretime.data.importers.delimited import read_rows
from foretime.data.importers.headers import header_layout
from foretime.data.importers.inputs import InputFile
from foretime.data.importers.recognising import names_all
from foretime.data.importers.rows import Described, Rows, convert, first_known, is_absent, name_of

_WANTED = ("Event Date", "Source Name", "Event Text", "CAMEO Code", "Target Name")
_SAID = ("Source Country", "Source Sectors", "Target Country", "Target Sectors")
_LAST_ROOT = 20  # the roots of CAMEO are 01 to 20


class IcewsOptions(Section):
    """What can be chosen when files of ICEWS are imported."""

    predicate: Literal["text", "code"] = "text"
    """`text`: the words of the event, as in the benchmarks ("Make a visit"); `code`: its CAMEO code ("042")."""
    unnamed: Literal["drop", "country"] = "drop"
    """Rows with an actor that has no name: `drop` them, or let its `country` stand for it."""
    merge: bool = True
    """Whether the same fact on one day is kept only once, as in the benchmarks."""


def _read(files: Sequence[InputFile], options: IcewsOptions) -> Iterator[ImportBatch]:
    for file in files:
        for rows in read_rows(file, header_layout(file, _WANTED, _SAID, latin=True)):
            yield _batch(rows, options)


def _batch(rows: Rows, options: IcewsOptions) -> ImportBatch:
    day = convert(rows["Event Date"], american_day)
    rows.drop(is_absent(day), "the event date is no date")
    actors = []
    for side in ("Source", "Target"):
        actor = convert(rows[f"{side} Name"], name_of)
        country = _said(rows, f"{side} Country")
        if options.unnamed == "country" and country is not None:
            actor = first_known(actor, country)
        rows.drop(is_absent(actor), f"the {side.lower()} has no name")
        actors.append(actor)
    named = options.predicate == "text"
    predicate = convert(rows["Event Text" if named else "CAMEO Code"], name_of if named else cameo_code)
    rows.drop(is_absent(predicate), "no event text" if named else "no event code")
    subject, object_ = actors
    return rows.batch(
        [{"subject": subject, "predicate": predicate, "object": object_, "time": day}],
        [
            Described(actor, attribute, [column], separator)
            for actor, side in ((subject, "Source"), (object_, "Target"))
            for attribute, name, separator in (("country", "Country", ""), ("sectors", "Sectors", ","))
            if (column := _said(rows, f"{side} {name}")) is not None
        ],
    )


def _said(rows: Rows, name: str) -> Coded | None:
    return convert(rows[name], name_of) if name in rows.columns else None


def cameo_code(text: str) -> str | None:
    """Return a code with the leading zero that a spreadsheet may have taken: codes have three digits or four.

    No code has two digits, and no code of three begins with more than 20, so that what is missing is never in doubt.
    """
    code = text.strip()
    if not code.isdecimal():
        return name_of(code)
    code = code.zfill(3)
    return f"0{code}" if len(code) == 3 and int(code[:2]) > _LAST_ROOT else code


def _recognise(head: Head) -> bool:
    return names_all(head, "\t", ("Event Date", "Source Name", "CAMEO Code", "Target Name", "Story ID"))


ICEWS = EventSource("icews", "ICEWS coded events", IcewsOptions, (".tab", ".tsv", ".txt"), _read, _recognise)
