"""Made-up rows of every source, with defaults for the cells that a test does not care about."""

from __future__ import annotations

import csv
import io
from typing import Any

from foretime.data.importers.gdelt import COLUMNS as GDELT_COLUMNS
from foretime.data.importers.polecat import COLUMNS as POLECAT_COLUMNS

ICEWS_COLUMNS = (
    "Event ID", "Event Date", "Source Name", "Source Sectors", "Source Country", "Event Text", "CAMEO Code",
    "Intensity", "Target Name", "Target Sectors", "Target Country", "Story ID", "Sentence Number", "Publisher",
    "City", "District", "Province", "Country", "Latitude", "Longitude",
)  # fmt: skip
ACLED_COLUMNS = (
    "event_id_cnty", "event_date", "year", "time_precision", "disorder_type", "event_type", "sub_event_type", "actor1",
    "assoc_actor_1", "inter1", "actor2", "assoc_actor_2", "inter2", "interaction", "civilian_targeting", "iso",
    "region", "country", "admin1", "admin2", "admin3", "location", "latitude", "longitude", "geo_precision", "source",
    "source_scale", "notes", "fatalities", "tags", "timestamp",
)  # fmt: skip

ICEWS_DEFAULTS = {
    "Event ID": "926685", "Event Date": "2014-01-31", "Source Name": "Angela Merkel",
    "Source Sectors": "Executive,Government", "Source Country": "Germany", "Event Text": "Make a visit",
    "CAMEO Code": "042", "Intensity": "1.9", "Target Name": "France", "Target Sectors": "", "Target Country": "France",
    "Story ID": "1", "Sentence Number": "2", "Publisher": "A Paper",
}  # fmt: skip
POLECAT_DEFAULTS = {
    "Event ID": "7_AFP", "Event Date": "2021-03-01", "Event Type": "CONSULT", "Event Mode": "visit",
    "Actor Name": "Ada Lee", "Actor Country": "Utopia", "Primary Actor Sector": "GOV", "Actor Sectors": "GOV;MIL",
    "Recipient Name": "Bo Ray", "Recipient Country": "Arcadia", "Primary Recipient Sector": "CVL",
    "Recipient Sectors": "CVL", "Publication Date": "2021-03-02", "Version": "1.0",
}  # fmt: skip
GDELT_DEFAULTS = {
    "GLOBALEVENTID": "410412347", "SQLDATE": "20150131", "MonthYear": "201501", "Year": "2015",
    "FractionDate": "2015.0833", "Actor1Code": "JPNGOV", "Actor1Name": "JAPAN", "Actor1CountryCode": "JPN",
    "Actor1Type1Code": "GOV", "Actor2Code": "CHN", "Actor2Name": "CHINA", "Actor2CountryCode": "CHN",
    "IsRootEvent": "1", "EventCode": "0251", "EventBaseCode": "025", "EventRootCode": "02", "QuadClass": "1",
    "DATEADDED": "20150131234500", "SOURCEURL": "http://example.org/a",
}  # fmt: skip
ACLED_DEFAULTS = {
    "event_id_cnty": "UTO1", "event_date": "01 January 2024", "year": "2024", "time_precision": "1",
    "event_type": "Battles", "sub_event_type": "Armed clash", "actor1": "Army of Utopia", "inter1": "State forces",
    "actor2": "Red Band", "inter2": "Rebel group", "country": "Utopia", "notes": 'They said "no", twice,\nand left.',
    "timestamp": "1704844800",
}  # fmt: skip


def tabbed(*rows: list[str]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def cells(columns: tuple[str, ...], defaults: dict[str, str], **given: Any) -> list[str]:
    """A row: cells by the names of their columns, blanks written as underscores."""
    named = {
        name.replace("_", " ") if name.replace("_", " ") in columns else name: text for name, text in given.items()
    }
    assert set(named) <= set(columns), "a test names a column that there is not"
    return [str((defaults | named).get(column, "")) for column in columns]


def icews(**given: Any) -> list[str]:
    return cells(ICEWS_COLUMNS, ICEWS_DEFAULTS, **given)


def polecat(**given: Any) -> list[str]:
    return cells(POLECAT_COLUMNS, POLECAT_DEFAULTS, **given)


def gdelt(width: int = 61, **given: Any) -> list[str]:
    return cells(GDELT_COLUMNS[width], GDELT_DEFAULTS, **given)


def acled(**given: Any) -> list[str]:
    return cells(ACLED_COLUMNS, ACLED_DEFAULTS, **given)


def icews_file(*rows: list[str]) -> str:
    return tabbed(list(ICEWS_COLUMNS), *rows)


def polecat_file(*rows: list[str]) -> str:
    return tabbed(list(POLECAT_COLUMNS), *rows)


def acled_file(*rows: list[str], header: tuple[str, ...] = ACLED_COLUMNS, delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()
