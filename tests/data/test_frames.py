from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from test_reading import ROWS, WHOLE, read, rows_of

from foretime.data.graph import read_graph
from foretime.errors import DataError

COLUMNS = {
    name: list(values)
    for name, values in zip(("head", "relation", "tail", "date"), zip(*ROWS, strict=True), strict=True)
}
DATES = [dt.date.fromisoformat(text) for text in COLUMNS["date"]]


@pytest.mark.parametrize("build", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("times", [COLUMNS["date"], DATES, [dt.datetime(d.year, d.month, d.day, 23) for d in DATES]])
def test_every_kind_of_frame_gives_the_same_facts(build: Any, times: list[Any]) -> None:
    assert read(build(COLUMNS | {"date": times})) == ROWS


def test_a_frame_with_other_names_is_read_by_position_and_by_mapping() -> None:
    frame = pd.DataFrame(COLUMNS).set_axis(["w", "x", "y", "z"], axis=1)
    assert read(frame) == ROWS
    mapped = {"subject": "w", "predicate": "x", "object": 3, "time": "z"}
    assert read(frame.assign(more=1, again=2), columns=mapped) == ROWS


def test_the_index_of_a_pandas_frame_is_no_column() -> None:
    frame = pd.concat([pd.DataFrame(COLUMNS).head(1), pd.DataFrame(COLUMNS)]).iloc[1:]
    assert read(frame.set_index(pd.Index([7, 5, 3], name="n"))) == ROWS


def test_categories_are_names_and_unused_ones_are_none() -> None:
    frame = pd.DataFrame(COLUMNS)
    frame["head"] = pd.Categorical(frame["head"], categories=["Zoe", "Bob", "Ann"])
    graph = read_graph(frame, WHOLE)
    assert rows_of(graph) == ROWS
    assert "Zoe" not in graph.entities
    categories = pl.DataFrame(COLUMNS).with_columns(
        pl.col("head").cast(pl.Categorical), pl.col("tail").cast(pl.Enum(["Eve", "Bob", "Ann"]))
    )
    assert read(categories) == ROWS


def test_integers_are_names_and_steps() -> None:
    frame = pl.DataFrame({"subject": [1, 2], "relation": [0, 0], "object": [2, 10], "time": [5, 7]})
    assert read(frame) == [("1", "0", "2", "5"), ("2", "0", "10", "7")]


def test_a_zone_is_turned_into_utc() -> None:
    times = pd.to_datetime(COLUMNS["date"]).tz_localize("Asia/Tokyo")
    assert [row[3] for row in read(pd.DataFrame(COLUMNS | {"date": times}))] == [
        "2013-12-31",
        "2014-01-02",
        "2014-01-01",
    ]


def test_a_missing_end_is_an_open_interval() -> None:
    frame = pd.DataFrame({"subject": ["a", "a"], "relation": "p", "object": ["b", "c"], "start": [1990, 1991]})
    frame["end"] = pd.array([1995, None], dtype="Int64")
    assert read(frame) == [("a", "p", "b", "1990", "1995"), ("a", "p", "c", "1991", "?")]


def test_parquet_gives_the_same_facts(tmp_path: Path) -> None:
    for number, times in enumerate((COLUMNS["date"], DATES)):
        path = tmp_path / f"{number}.parquet"
        pyarrow.parquet.write_table(pa.table(COLUMNS | {"date": times}), path)
        assert read(path) == ROWS


def test_a_list_column_of_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lists.parquet"
    pyarrow.parquet.write_table(pa.table(COLUMNS | {"tail": [["Bob"], None, ["Eve", "Ann"]]}), path)
    with pytest.raises(DataError, match=r"lists.parquet: column 'object' is of type list<"):
        read_graph(path)


def test_frames_by_split_keep_their_splits(tmp_path: Path) -> None:
    frame = pl.DataFrame(COLUMNS)
    path = tmp_path / "x.parquet"
    frame[2:].write_parquet(path)
    graph = read_graph({"test": path, "train": frame[:1], "valid": pd.DataFrame(COLUMNS)[1:2]})
    assert (len(graph.train), len(graph.valid), len(graph.test)) == (1, 1, 1)
    assert graph.entities.names == ("Ann", "Bob", "Eve")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame(COLUMNS | {"tail": ["Bob", None, "Eve"]}), "the frame: row 2: the object is empty"),
        (
            pd.DataFrame(COLUMNS | {"date": ["2014-01-01", None, "x"]}),
            "the frame: row 3: the time 'x' is not a time",
        ),
        (pl.DataFrame(COLUMNS | {"date": ["2014-01-01", "", "x"]}), "the frame: row 3: the time 'x' is not a time"),
        (
            pd.DataFrame(COLUMNS | {"head": [1.5, 2.5, 3.5]}),
            "the frame: column 'subject' is of type double; expected text",
        ),
        (
            pa.table(COLUMNS | {"head": [["a"], ["b"], []]}),
            "the frame: column 'subject' is of type list<.*; expected text",
        ),
        (
            pa.table(COLUMNS | {"tail": [{"name": name} for name in "abc"]}),
            "the frame: column 'object' is of type struct<.*; expected text",
        ),
        (
            pd.DataFrame(COLUMNS | {"date": pd.PeriodIndex(COLUMNS["date"], freq="M")}),
            "the frame: column 'time' is of type extension<.*; expected text, integers, dates or timestamps",
        ),
        (pd.DataFrame(COLUMNS | {"head": [1, "a", b"c"]}), "the frame: cannot be read as a table"),
        (pl.DataFrame(COLUMNS)[:0], "the frame: the table has no rows"),
        (pl.DataFrame(COLUMNS).lazy(), "not LazyFrame; collect"),
        (pl.DataFrame(COLUMNS).drop("date"), "no column for the time among 'head', 'relation', 'tail'"),
        (pl.DataFrame({"a": [1], "b": [2]}), "expected 4 columns .* found 2; say which column is which"),
        ({"train": pl.DataFrame(COLUMNS), "tset": pl.DataFrame(COLUMNS)}, "unknown split 'tset'; did you mean 'test'"),
        (7, "expected a path or a pandas, Polars or Arrow table, not int"),
    ],
)
def test_a_broken_frame_is_refused(frame: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_graph(frame)
