"""Facts without a time: read as background, kept with the graph, and events of nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import foretime
from foretime.data.facts import UNKNOWN
from foretime.data.graph import GRAPH
from foretime.errors import DataError, RunError

Write = Callable[[str, str | bytes], Path]
EVENTS = "a\tp\tb\t2014-01-01\nb\tq\tc\t2014-01-02\na\tq\tc\t2014-01-03\n"


def _folder(write: Write, **files: str) -> Path:
    splits = {"train": EVENTS, "valid": "a\tp\tb\t2014-01-04\n", "test": "a\tp\tc\t2014-01-05\n", **files}
    return next(iter([write(f"g/{name}.tsv", text) for name, text in splits.items()])).parent


def test_a_row_without_a_time_is_background_and_said(write: Write) -> None:
    graph = foretime.load(_folder(write, train=EVENTS + "c\tlies in\td\t\na\tlies in\td\t####-##-##\n"))
    assert len(graph.train) == 3, "the dated rows are events"
    assert [row[:3] for row in graph.rows("background")] == [("c", "lies in", "d"), ("a", "lies in", "d")]
    assert (graph.background.start == UNKNOWN).all()
    assert (graph.background.end == UNKNOWN).all()
    assert graph.notes[-1].startswith("2 of the 5 facts"), "the count is said"
    assert graph.notes[-1].endswith("no time: background, no events")


def test_an_interval_with_neither_end_is_background_and_one_with_an_end_is_not(write: Write) -> None:
    text = "a\tp\tb\t2001\t2003\na\tp\tc\t\t2003\na\tp\td\t\t\n" * 4
    graph = foretime.load(write("a.tsv", text))
    assert len(graph.facts()) == 8
    assert len(graph.background) == 4


def test_a_file_called_background_has_three_columns(write: Write) -> None:
    graph = foretime.load(_folder(write, background="c\tlies in\td\nd\tlies in\te\n"))
    assert list(graph.rows("background")) == [("c", "lies in", "d", ""), ("d", "lies in", "e", "")]
    assert graph.entities.names[-2:] == ("d", "e"), "names that only the background has come last"
    assert not any("background" in note for note in graph.notes), "a file that is called so needs no word"


def test_a_header_finds_the_columns_of_a_background_file(write: Write) -> None:
    graph = foretime.load(_folder(write, background="object\tsubject\tpredicate\nd\tc\tlies in\n"))
    assert next(graph.rows("background")) == ("c", "lies in", "d", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("c\tin\td\t2014-01-01\n", "expected 3 columns"),
        ("subject\tpredicate\tobject\tdate\nc\tin\td\t2014-01-01\n", "has a column for the time"),
        ("c\tin\td\nc\tin\n", "found 2"),
    ],
)
def test_a_background_file_with_times_or_broken_rows_is_an_error(write: Write, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        foretime.load(_folder(write, background=text))


def test_frames_have_background_by_name() -> None:
    events = pa.table({"subject": ["a"] * 5, "predicate": ["p"] * 5, "object": ["b"] * 5, "time": [1, 2, 3, 4, 5]})
    known = pa.table({"subject": ["a"], "predicate": ["in"], "object": ["z"]})
    graph = foretime.load({"train": events, "background": known})
    assert len(graph.facts()) == 5
    assert len(graph.background) == 1


def test_what_valid_and_test_hold_out_is_no_background(write: Write) -> None:
    graph = foretime.load(_folder(write, test="a\tp\tc\t2014-01-05\nx\tp\ty\t\n"))
    assert len(graph.background) == 0
    assert len(graph.test) == 1
    assert "x" not in graph.entities, "a name that was left out has no id"
    assert any("left out" in warning for warning in graph.describe().warnings())
    assert any("1 of the 2 facts" in warning for warning in graph.describe().warnings())


def test_rows_without_a_time_are_never_split(write: Write) -> None:
    rows = "".join(f"a{i}\tp\tb{i}\t{i}\n" for i in range(20)) + "a1\tin\tz\t\n" * 3
    for by in ("random", "time"):
        graph = foretime.load(write("a.tsv", rows), split=by)
        assert len(graph.background) == 3
        assert len(graph.facts()) == 20
        again = graph.split(by="time", test_share=0.3)
        assert sorted(again.rows("background")) == sorted(graph.rows("background"))


def test_without_any_time_there_is_no_graph(write: Write) -> None:
    with pytest.raises(DataError, match="no fact has a known time"):
        foretime.load(write("a.tsv", "a\tp\tb\t\nb\tp\tc\t\n"))


def test_a_graph_with_background_is_saved_and_loaded(write: Write, tmp_path: Path) -> None:
    graph = foretime.load(_folder(write, background="c\tlies in\td\n"))
    graph.save(tmp_path / "saved")
    again = foretime.load(tmp_path / "saved")
    assert again.fingerprint() == graph.fingerprint()
    assert list(again.rows("background")) == list(graph.rows("background"))
    assert json.loads((tmp_path / "saved" / GRAPH).read_text())["format"] == 2, "an older version says that it cannot"


def test_a_graph_without_background_is_saved_as_before(write: Write, tmp_path: Path) -> None:
    graph = foretime.load(_folder(write))
    graph.save(tmp_path / "saved")
    header = json.loads((tmp_path / "saved" / GRAPH).read_text())
    assert header["format"] == 1
    assert header["fingerprint"] == graph.fingerprint()
    with_background = foretime.load(_folder(write, background="a\tp\tb\n"))
    assert with_background.fingerprint() != graph.fingerprint(), "another background is another graph"
    (tmp_path / "saved" / GRAPH).write_text(json.dumps(header | {"format": 3}))
    with pytest.raises(RunError, match="another version"):
        foretime.load(tmp_path / "saved")


def test_describe_and_frames_show_the_background(write: Write) -> None:
    graph = foretime.load(_folder(write, background="a\tp\tc\nc\tlies in\td\n"))
    summary = graph.describe()
    assert summary.background == 2
    assert summary.only_in_background == 1
    assert summary.in_background == {"train": 0, "valid": 0, "test": 1}
    assert "2 facts without a time" in str(summary)
    assert any(warning.startswith("test: 1 fact known without the time") for warning in summary.warnings())
    assert "2 background" in repr(graph)
    frame = graph.to_frame()
    assert list(frame["split"])[-2:] == ["background"] * 2
    assert frame["time"].isna().sum() == 2


def test_a_split_file_keeps_rows_without_a_time_in_train(write: Write, tmp_path: Path) -> None:
    rows = "".join(f"a{i}\tp\tb{i}\t{i}\n" for i in range(20)) + "a1\tin\tz\t\n"
    foretime.split_file(write("a.tsv", rows), tmp_path / "out", by="time")
    assert "a1\tin\tz\t\n" in (tmp_path / "out" / "train.tsv").read_text()
    assert len(foretime.load(tmp_path / "out").background) == 1


def test_events_are_the_same_whatever_the_background(write: Write) -> None:
    plain, more = foretime.load(_folder(write)), foretime.load(_folder(write, background="c\tlies in\td\na\tp\tb\n"))
    for split in ("train", "valid", "test"):
        pairs = zip(plain.facts(split).columns(), more.facts(split).columns(), strict=True)
        assert all(np.array_equal(one, other) for one, other in pairs), "ids and steps stay as they are"
    assert more.entities.names[: len(plain.entities)] == plain.entities.names
    assert more.timeline == plain.timeline
