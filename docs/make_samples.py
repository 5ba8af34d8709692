"""Writes the made-up files of ICEWS and GDELT that docs/sources.md imports.

    python docs/make_samples.py FOLDER

The events are those of the generated world (`foretime data world`). Beside them stand some rows as the real files have
them, too: actors without a name, events told twice, a date that is none. `tests/data/importers/test_documented_way.py`
compares what the page shows with what the imports print.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import foretime as ft
from foretime.data.importers.gdelt import COLUMNS

EVENTS, SEED = 1_000, 7
ICEWS = (
    "Event ID", "Event Date", "Source Name", "Source Sectors", "Source Country", "Event Text", "CAMEO Code",
    "Intensity", "Target Name", "Target Sectors", "Target Country", "Story ID", "Sentence Number", "Publisher",
    "City", "District", "Province", "Country", "Latitude", "Longitude",
)  # fmt: skip
CODES = {
    "Make a visit": "042", "Express intent to meet": "036", "Accuse": "112", "Threaten": "130",
    "Demonstrate against": "141", "Report unrest to": "010", "Supply arms to": "072", "Attack": "190",
    "Host summit of": "043", "Attend summit of": "044", "Pledge support to": "051", "Host a visit": "043",
    "Hold consultations with": "040", "Criticise": "111", "Recall ambassador from": "160", "Impose curfew on": "175",
    "Arrest": "173", "Mobilise against": "152", "Meet at a summit": "046", "Provide aid to": "070",
    "Impose sanctions on": "163", "Make statement about": "012", "Consult by telephone": "041", "Trade with": "061",
    "Praise": "050", "Fight with": "193", "Appeal to": "020", "Campaign in": "019", "Investigate": "090",
    "Speak at": "018",
}  # fmt: skip
Event = tuple[str, str, str, str]


def world() -> tuple[list[Event], dict[str, str]]:
    """Return the events of a small world, and the type of each entity."""
    with tempfile.TemporaryDirectory() as folder:
        path = ft.generate_world(EVENTS, seed=SEED, days=120).write(folder)
        lines = [line for split in ("train", "valid", "test") for line in _lines(path / f"{split}.tsv")]
        types = dict(line.split("\t") for line in _lines(path / "entities.tsv")[1:])
    events = sorted((tuple(line.split("\t")) for line in lines), key=lambda event: event[3])
    return events, types  # type: ignore[return-value]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def icews_rows(events: list[Event], types: dict[str, str]) -> Iterator[list[str]]:
    """Yield rows of ICEWS."""
    for number, (subject, predicate, object_, day) in enumerate(events):
        row = {
            "Event ID": str(30_000 + number), "Event Date": day, "Source Name": subject,
            "Source Sectors": types[subject], "Event Text": predicate, "CAMEO Code": CODES[predicate], "Intensity": "0",
            "Target Name": object_, "Target Sectors": types[object_], "Story ID": str(number), "Sentence Number": "1",
        }  # fmt: skip
        yield [row.get(name, "") for name in ICEWS]
        if number % 10 == 0:  # a second story
            yield [
                (row | {"Event ID": str(60_000 + number), "Story ID": str(9_000 + number)}).get(n, "") for n in ICEWS
            ]
        if number % 25 == 0:
            yield [(row | {"Target Name": "None"}).get(name, "") for name in ICEWS]
        if number == 500:
            yield [(row | {"Event Date": "2024-02-30"}).get(name, "") for name in ICEWS]


def gdelt_rows(events: list[Event], types: dict[str, str]) -> Iterator[list[str]]:
    """Yield rows of GDELT 2.0."""
    columns = COLUMNS[61]
    for number, (subject, predicate, object_, day) in enumerate(events):
        date = day.replace("-", "")
        row = {
            "GLOBALEVENTID": str(410_000_000 + number), "SQLDATE": date, "MonthYear": date[:6], "Year": date[:4],
            "Actor1Name": subject.upper(), "Actor1Type1Code": types[subject][:3].upper(),
            "Actor2Name": object_.upper(), "Actor2Type1Code": types[object_][:3].upper(), "IsRootEvent": "1",
            "EventCode": CODES[predicate], "EventBaseCode": CODES[predicate], "EventRootCode": CODES[predicate][:2],
            "DATEADDED": f"{date}234500", "SOURCEURL": f"http://example.org/{number}",
        }  # fmt: skip
        yield [row.get(name, "") for name in columns]
        if number % 2 == 0:
            yield [(row | {"Actor2Name": ""}).get(name, "") for name in columns]
        if number % 5 == 0:
            yield [(row | {"IsRootEvent": "0"}).get(name, "") for name in columns]
        if number % 50 == 0:  # told of ten years later
            late = {"SQLDATE": f"2014{date[4:]}", "MonthYear": f"2014{date[4:6]}"}
            yield [(row | late).get(name, "") for name in columns]


def write_samples(folder: Path) -> None:
    """Write a file of ICEWS, and two archives of GDELT."""
    events, types = world()
    for name in ("icews", "gdelt"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(row) + "\n" for row in (list(ICEWS), *icews_rows(events, types))]
    (folder / "icews" / "events.2024.tab").write_text("".join(lines), encoding="utf-8")
    half = len(events) // 2
    for part in (events[:half], events[half:]):
        text = "".join("\t".join(row) + "\n" for row in gdelt_rows(part, types))
        name = f"{part[-1][3].replace('-', '')}234500.export.CSV"
        with zipfile.ZipFile(folder / "gdelt" / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, text)


if __name__ == "__main__":
    write_samples(Path(sys.argv[1]))
