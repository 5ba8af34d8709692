"""Bad rows that are skipped: none is silent, and every one is accounted for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from foretime.cli.data import data_app
from foretime.data.bad_rows import BadRows
from foretime.data.graph import Graph, load, split_file
from foretime.errors import DataError

Write = Callable[[str, str | bytes], Path]
GOOD = "".join(f"s{i % 7}\tp{i % 3}\to{i % 5}\t2024-01-{i % 28 + 1:02d}\n" for i in range(100))
BAD = b"a\tp\n\tp\tb\t2024-01-01\na\tp\tb\tsoon\n\xff\tp\tb\t2024-01-01\n\tp\tb\tlater\na\tp\tb\t2024-##-##\n"


@pytest.fixture
def dirty(write: Write) -> Path:
    return write("dirty.tsv", GOOD.encode() + BAD)


def test_skipped_rows_are_counted_with_place_text_and_reasons(dirty: Path) -> None:
    graph = load(dirty, bad_rows="skip")
    bad = graph.bad_rows
    assert (len(graph.facts()), len(bad), bad.kept) == (100, 6, 100)
    assert [row.line for row in bad.rows] == [101, 102, 103, 104, 105, 106]
    assert bad.rows[2].row == "a\tp\tb\tsoon"
    assert len(bad.rows[4].reasons) == 2, "no subject, and no time: one row with two reasons"
    assert "6 bad rows were skipped, 100 good ones read" in graph.notes
    kinds = [warning for warning in graph.describe().warnings() if warning.startswith("skipped: ")]
    assert len(kinds) == 5
    assert graph.describe().to_dict()["bad_rows"] == 6


def test_by_default_nothing_is_skipped(dirty: Path) -> None:
    with pytest.raises(DataError, match="5 bad rows; fix them, or leave them out with --bad-rows skip"):
        load(dirty)


def test_good_rows_are_those_of_the_clean_file(dirty: Path, write: Write) -> None:
    clean = load(write("clean.tsv", GOOD))
    assert load(dirty, bad_rows="skip").fingerprint() == clean.fingerprint()
    assert not clean.bad_rows
    assert str(clean.bad_rows) == "no bad rows"


def test_the_file_of_bad_rows_has_every_one(dirty: Path, tmp_path: Path) -> None:
    path = load(dirty, bad_rows="skip").bad_rows.write(tmp_path / "bad.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["line"] for row in rows] == [101, 102, 103, 104, 105, 106]
    assert {row["file"] for row in rows} == {str(dirty)}
    assert rows[3]["row"].startswith("\udcff"), "a byte that is not UTF-8 is kept as an escape"


def test_bad_rows_that_cannot_be_written_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the bad rows cannot be written"):
        BadRows().write(tmp_path / "none" / "bad.jsonl")


def test_a_file_without_any_good_row_is_an_error(write: Write) -> None:
    with pytest.raises(DataError, match="no row is left that can be read"):
        load(write("a.tsv", BAD.replace(b"2024-01-01", b"x").replace(b"2024-##", b"y")), bad_rows="skip")


def test_json_lines_and_frames_are_skipped_likewise(write: Write) -> None:
    rows = [json.dumps(dict(zip(("subject", "predicate", "object", "time"), line.split("\t"), strict=True)))
            for line in GOOD.splitlines()]  # fmt: skip
    graph = load(write("a.jsonl", "\n".join([*rows[:50], "{", "[1]", '{"subject": 1.5}', *rows[50:]])), bad_rows="skip")
    assert [(bad.line, bad.row) for bad in graph.bad_rows.rows] == [(51, "{"), (52, "[1]"), (53, '{"subject": 1.5}')]
    frame = pa.table({"subject": ["a", None, "c"], "relation": ["p", "q", "r"], "object": ["b"] * 3, "time": [1, 2, 3]})
    graph = load(frame, bad_rows="skip")
    assert [(bad.source, bad.line) for bad in graph.bad_rows.rows] == [("the frame", 2)]
    assert graph.bad_rows.rows[0].row == "subject='', predicate='q', object='b', time='2'"


def test_a_first_line_that_lacks_a_key_does_not_condemn_the_others(write: Write) -> None:
    whole = '{"subject": "a", "predicate": "p", "object": "b", "time": 3, "note": "x"}\n'
    graph = load(write("a.jsonl", whole.replace('"object": "b", ', "") + whole * 2), bad_rows="skip")
    assert [row[:3] for row in graph.rows()] == [("a", "p", "b")] * 2


def test_a_first_row_that_is_too_short_does_not_condemn_intervals(write: Write) -> None:
    path = write("a.txt", "a\tp\tb\t1990\n" + "a\tp\tb\t1990\t1995\n" * 9)
    assert [bad.line for bad in load(path, bad_rows="skip").bad_rows.rows] == [1]


def test_names_that_cannot_be_read_take_their_facts_along(write: Write) -> None:
    write("g/entity2id.txt", "A\t0\nB\t1\nC\n")
    path = write("g/train.tsv", "0\tp\t1\t3\n0\tq\t2\t4\n1\tp\t0\t5\n")
    graph = load(path.parent, bad_rows="skip")
    assert [(Path(bad.source).name, bad.line) for bad in graph.bad_rows.rows] == [
        ("entity2id.txt", 3),
        ("train.tsv", 2),
    ]
    assert len(graph.facts()) == 2


def test_a_split_leaves_bad_rows_out_and_writes_them_beside(dirty: Path, tmp_path: Path) -> None:
    written = split_file(dirty, tmp_path / "out", bad_rows="skip")
    assert {path.name: count for path, count in written.items()} == {
        "train.tsv": 80, "valid.tsv": 10, "test.tsv": 10, "bad_rows.jsonl": 6,
    }  # fmt: skip
    lines = [
        line for name in ("train", "valid", "test") for line in (tmp_path / f"out/{name}.tsv").read_text().splitlines()
    ]
    assert sorted(lines) == sorted(GOOD.splitlines())


def test_a_saved_graph_still_says_that_rows_were_skipped(dirty: Path, tmp_path: Path) -> None:
    load(dirty, bad_rows="skip").save(tmp_path / "saved")
    assert "6 bad rows were skipped, 100 good ones read" in Graph.load(tmp_path / "saved").notes


@pytest.mark.parametrize("command", ["describe", "check"])
def test_commands_say_it_and_write_the_file(
    dirty: Path, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(data_app, [command, str(dirty), "--bad-rows", "skip"])
    assert result.exit_code == 0, result.exception
    assert "6 bad rows were skipped, 100 good ones read; they are in dirty.bad_rows.jsonl" in result.output
    assert "warning: skipped: " in result.output
    report = CliRunner().invoke(data_app, [command, str(dirty), "--bad-rows", "skip", "--json"])
    assert json.loads(report.stdout)["bad_rows"] == 6
    assert len((tmp_path / "dirty.bad_rows.jsonl").read_text().splitlines()) == 6


def test_bad_rows_of_new_events_stop_or_are_skipped_by_every_door(small_graph: Graph, tmp_path: Path) -> None:
    from foretime.data.new_events import read_events

    path, timeline = tmp_path / "new.csv", small_graph.timeline
    path.write_text(
        "subject,predicate,object,time,known\na,p,b,2020-11-01,2020-11-03\n,p,b,2020-11-01,\na,p,c,soon,\n"
        "a,p,d,1990-01-01,\na,p,e,2020-11-02,never\na,p,f,2020-11-02\na,p,g,2020-11-04,2020-11-05\n"
    )
    with pytest.raises(DataError, match=r"4 bad rows; fix them, or leave them out with --bad-rows skip"):
        read_events(path, timeline, {}, None)
    events, bad = read_events(path, timeline, {"bad_rows": "skip"}, None)
    assert list(zip(events.object, events.known.tolist(), strict=True)) == [
        ("b", timeline.tick("2020-11-03")),
        ("g", timeline.tick("2020-11-05")),
    ]
    assert [(one.line, one.row) for one in bad.rows] == [
        (3, ",p,b,2020-11-01,"),
        (4, "a,p,c,soon,"),
        (5, "a,p,d,1990-01-01,"),
        (6, "a,p,e,2020-11-02,never"),
        (7, "a,p,f,2020-11-02"),
    ]
    assert bad.kept == len(events) == 2
