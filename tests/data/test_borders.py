"""Splits at given times and at quantiles of the times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime.config import Config, override
from foretime.data.graph import Graph, load, split_file
from foretime.data.splitting import SPLITS, split_rows
from foretime.errors import ConfigError

Write = Callable[[str, str], Path]
DAYS = "".join(f"a{i % 3}\tp\tb{i}\t2014-01-{1 + i // 2:02d}\n" for i in range(20))  # two facts a day for ten days


def sizes(graph: Graph) -> list[int]:
    return [len(graph.facts(split)) for split in SPLITS]


def test_train_comes_before_the_first_time_and_test_from_the_second_on(write: Write) -> None:
    graph = load(write("a.tsv", DAYS), valid_from="2014-01-08", test_from="2014-01-10")
    times = graph.to_frame().groupby("split", observed=True)["time"].apply(lambda column: sorted(set(column)))
    assert times["train"][-1] == "2014-01-07"
    assert times["valid"] == ["2014-01-08", "2014-01-09"]
    assert times["test"] == ["2014-01-10"]
    assert sizes(graph) == [14, 4, 2]


def test_without_the_second_time_there_is_no_test(write: Write) -> None:
    assert sizes(load(write("a.tsv", DAYS), valid_from="2014-01-08")) == [14, 6, 0]


def test_the_facts_of_a_folder_are_pooled_and_cut(write: Write) -> None:
    lines = DAYS.splitlines(keepends=True)
    for name, part in (("train", lines[10:]), ("valid", lines[:5]), ("test", lines[5:10])):
        path = write(f"folder/{name}.txt", "".join(part))
    graph = load(path.parent, valid_from="2014-01-03", test_from="2014-01-04")
    assert sizes(graph) == [4, 2, 14]


def test_a_loaded_graph_is_cut_as_its_file_is(write: Write, tmp_path: Path) -> None:
    path = write("a.tsv", DAYS)
    borders: Any = {"valid_from": "2014-01-08", "test_from": "2014-01-10"}
    cut = load(path, **borders)
    assert load(path, split="time").split(by="time", **borders).fingerprint() == cut.fingerprint()
    files = split_file(path, tmp_path / "out", **borders)
    assert list(files.values()) == sizes(cut)
    assert load(tmp_path / "out").fingerprint() == cut.fingerprint()


def test_an_integer_and_a_date_of_toml_are_times() -> None:
    settings = override(Config(), {"data.valid_from": 178, "data.test_from": 183}).data
    assert (settings.valid_from, settings.test_from) == ("178", "183")
    assert override(Config(), {"data.valid_from": np.datetime64("2014-11-01").item()}).data.valid_from == "2014-11-01"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test_from": "2014-01-05"}, r"test_from '2014-01-05' needs valid_from too: the time at which train ends"),
        ({"valid_from": "2014-01-05", "test_from": "2014-01-05"}, r"test_from '2014-01-05' is not after valid_from"),
        ({"valid_from": "2014-01-01", "test_from": "2014-01-05"}, r"no fact is left for train; the times of the data"),
        ({"valid_from": "2014-01-05", "test_from": "2014-02-01"}, r"left for test; .*2014-01-01 to 2014-01-10, choose"),
        ({"valid_from": "2020-01-05"}, r"valid_from '2020-01-05': no fact is left for valid; the times of the data"),
        ({"valid_from": "May"}, r"valid_from: 'May' is not a time; write it as in 2014-01-01"),
        ({"valid_from": "2014"}, r"valid_from: '2014' is not a day; write it as in 2014-01-01"),
        ({"valid_from": "2014-01-05", "split": "random"}, r"are a split by time, not by 'random'; leave out one"),
    ],
)
def test_times_that_cut_nothing_are_refused(write: Write, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(write("a.tsv", DAYS), **settings)


def test_a_bin_is_not_cut(write: Write) -> None:
    graph = load(write("a.tsv", DAYS), granularity="bins:2")
    with pytest.raises(ConfigError, match="valid_from '2014-01-03' lies within a bin; name the first time of one"):
        graph.split(valid_from="2014-01-03")


@given(st.lists(st.integers(0, 30), min_size=3, max_size=80))
def test_quantiles_cut_as_the_temporal_graph_benchmark_does(times: list[int]) -> None:
    both = np.array(times + times)  # each fact and its inverse
    first, second = np.quantile(both, [0.70, 0.85])
    parts = split_rows(np.array(times), "quantile", 0.15, 0.15)
    expected = [sum(t <= first for t in times), sum(first < t <= second for t in times), sum(t > second for t in times)]
    assert [len(part) for part in parts] == expected


REAL = {
    "icews14-a": ("icews14", "2014-11-01", "2014-12-01", [74_845, 8_514, 7_371]),
    "icews14-b": ("icews14", "2014-09-20", "2014-11-11", [63_685, 13_823, 13_222]),
    "icews05-15": ("icews05-15", "2013-11-18", "2014-12-27", [368_868, 46_302, 46_159]),
}


@pytest.mark.real
@pytest.mark.parametrize("name", REAL)
def test_dates_make_the_published_forecasting_splits(real_data: Path, name: str) -> None:
    folder, valid_from, test_from, expected = REAL[name]
    assert sizes(load(real_data / folder, valid_from=valid_from, test_from=test_from)) == expected
