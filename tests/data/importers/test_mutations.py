"""Damaged files: every row is accounted for, the two readers agree, and no error but ours."""

import random
from pathlib import Path

import pytest
from samples import acled, acled_file, gdelt, icews, icews_file, polecat, polecat_file, tabbed

import foretime
from foretime.data.importers import delimited
from foretime.errors import ForetimeError

FILES = {
    "icews": icews_file(*(icews(Event_Date=f"2014-01-{day:02d}") for day in range(1, 15))),
    "polecat": polecat_file(*(polecat(Event_Date=f"2021-03-{day:02d}") for day in range(1, 15))),
    "gdelt": tabbed(*(gdelt(SQLDATE=f"201501{day:02d}") for day in range(1, 15))),
    "acled": acled_file(*(acled(event_id_cnty=f"UTO{n}", actor2=f"Band {n}") for n in range(14))),
    "tgb": "timestamp,head,tail,relation_type\n" + "".join(f"{n},a{n % 3},b,p\n" for n in range(14)),
    "renet": "".join(f"{n % 3}\t0\t1\t{n}\t0\n" for n in range(14)),
}
MARKS = [b"\t", b"\n", b"\r", b'"', b",", b";", b"\xff", b"\x00", b"\xef\xbb\xbf", b"None", b"\t\t\t", b'"\n', b"9"]
TIMES = 40


def damage(content: bytes, draw: random.Random) -> bytes:
    """A file in which some bytes are replaced, left out or put in."""
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(content))
        content = content[:at] + draw.choice([*MARKS, b""]) + content[at + draw.randint(0, 3) :]
    return content


def outcome(source: str, path: Path, out: Path) -> dict | None:
    try:
        report = foretime.import_events(source, path, out)
    except ForetimeError:
        return None
    dropped = sum(each.rows for each in report.dropped)
    assert report.read == report.kept + report.merged + dropped
    assert len((out / "dropped.tsv").read_text(encoding="utf-8").split("\n")) == dropped + 2, "a line for each row"
    assert sum(len(foretime.load(out).facts(split)) for split in ("train", "valid", "test")) == report.facts
    return {"read": report.read, "facts": report.facts, "dropped": sorted((d.reason, d.rows) for d in report.dropped)}


@pytest.mark.parametrize("source", FILES)
def test_every_row_of_a_damaged_file_is_accounted_for(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    draw = random.Random(source)
    path = tmp_path / "train.txt"
    for number in range(TIMES):
        path.write_bytes(damage(FILES[source].encode(), draw))
        found = outcome(source, path, tmp_path / "graph")
        if number % 4 == 0:
            with monkeypatch.context() as slow:
                slow.setattr(delimited, "_split", lambda *_: None)
                assert outcome(source, path, tmp_path / "graph") == found, "Arrow and the loop read different rows"
