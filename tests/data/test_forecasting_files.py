"""The files of forecasting benchmarks as they are published: RE-Net's five columns, edge lists of TGB."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from foretime.data.graph import Graph, load, split_file
from foretime.data.splitting import SPLITS
from foretime.errors import DataError

Write = Callable[[str, str], Path]
RE_NET = {"train": "0\t0\t1\t0\t0\n1\t1\t2\t3\t0\n", "valid": "0\t0\t2\t4\t0\n", "test": "2\t1\t0\t5\t0\n"}
NAMES = "<Ada>\t0\t1913-##-##\t####-##-##\n<Bo>\t1\t####-##-##\t####-##-##\n<Cy>\t2\t2002-11-08\t####-##-##\n"
GUESS = "the fifth column is always 0 and no end of an interval, so it was left out"


def test_five_columns_of_re_net_are_events(write: Write, tmp_path: Path) -> None:
    for split, text in RE_NET.items():
        path = write(f"yago/{split}.txt", text)
    write("yago/entity2id.txt", NAMES)
    graph = load(path.parent)
    assert not graph.has_intervals
    assert list(graph.rows()) == [
        ("<Ada>", "0", "<Bo>", "0"),
        ("<Bo>", "1", "<Cy>", "3"),
        ("<Ada>", "0", "<Cy>", "4"),
        ("<Cy>", "1", "<Ada>", "5"),
    ]
    assert ("read as", GUESS) in graph.describe().rows()
    graph.save(tmp_path / "saved")
    assert GUESS in Graph.load(tmp_path / "saved").describe().guesses
    assert GUESS in graph.split(by="time").describe().guesses


@pytest.mark.parametrize(
    "rows",
    [
        "a\tp\tb\t0\t4\nb\tp\tc\t3\t4\n",  # ends together, after it began
        "a\tp\tb\t1\t0\nb\tp\tc\t3\t2\n",  # reversed, but not constant
        "a\tp\tb\t3\t0\nb\tp\tc\t3\t0\n",  # one time alone says nothing
        "a\tp\tb\t1990\t####-##-##\nb\tp\tc\t1995\t####-##-##\n",  # ends that are not known
    ],
)
def test_columns_that_can_be_ends_are_ends(write: Write, rows: str) -> None:
    graph = load(write("a.tsv", rows))
    assert graph.has_intervals
    assert not any("fifth column" in guess for guess in graph.describe().guesses)


def test_columns_that_are_named_are_not_guessed(write: Write) -> None:
    path = write("a.tsv", RE_NET["train"])
    numbered = {"subject": 1, "predicate": 2, "object": 3, "start": 4, "end": 5}
    assert load(path, columns=numbered).has_intervals


def test_such_a_file_is_split_by_time(write: Write, tmp_path: Path) -> None:
    path = write("all.tsv", "".join(RE_NET.values()))
    written = split_file(path, tmp_path / "out", valid_from="4", test_from="5")
    assert list(written.values()) == [2, 1, 1]
    assert (tmp_path / "out" / "test.tsv").read_text() == RE_NET["test"]


def test_a_row_of_names_with_another_width_is_named(write: Write) -> None:
    path = write("a/train.tsv", RE_NET["train"])
    write("a/entity2id.txt", NAMES + "<Di>\t3\n")
    with pytest.raises(
        DataError, match=r"entity2id.txt:4: expected a name, a tab and an id, and 2 more as in the first"
    ):
        load(path.parent)


def test_an_edge_list_of_the_temporal_graph_benchmark_is_read(write: Write) -> None:
    rows = "".join(f"{day},{day % 3},{day % 4 + 3},{day % 2}\n" for day in range(20))
    path = write("tkgl-icews_edgelist.csv", "timestamp,head,tail,relation_type\n" + rows)
    graph = load(path, split="quantile", valid_share=0.15, test_share=0.15)
    assert next(graph.rows("train")) == ("0", "0", "3", "0")  # subject, predicate, object, time
    assert [len(graph.facts(split)) for split in SPLITS] == [14, 3, 3]


@pytest.mark.real
def test_yago_is_read_as_it_is_published(real_data: Path) -> None:
    graph = load(real_data / "yago")
    assert [len(graph.facts(split)) for split in SPLITS] == [161_540, 19_523, 20_026]
    spans = [(facts.start.min(), facts.start.max()) for facts in map(graph.facts, SPLITS)]
    assert spans == [(0, 177), (178, 182), (183, 188)]
    assert load(real_data / "yago", valid_from="178", test_from="183").fingerprint() == graph.fingerprint()
