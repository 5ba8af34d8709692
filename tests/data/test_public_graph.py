"""What a user does with a graph: load it, look at it, take it apart, split it anew."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_reading import ROWS, TSV, WHOLE, read, rows_of

from foretime.config import DataConfig
from foretime.data.catalog import CATALOG, datasets
from foretime.data.formats import FORMATS, SUFFIXES
from foretime.data.graph import Graph, load, read_graph, split_file
from foretime.errors import ConfigError, DataError

Write = Callable[[str, str | bytes], Path]
OBJECTS = [dict(zip(("subject", "relation", "object", "date"), row, strict=True)) for row in ROWS]
JSON_LINES = "\n\n".join(json.dumps(row | {"note": [1, {}]}) for row in OBJECTS)


def test_load_has_every_key_of_the_data_section_with_its_default() -> None:
    parameters = list(inspect.signature(load).parameters.values())[1:]
    defaults = {name: field.get_default(call_default_factory=True) for name, field in DataConfig.model_fields.items()}
    assert {p.name: p.default if p.name != "columns" else {} for p in parameters} == {
        name: value for name, value in defaults.items() if name != "path"
    }
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)


def test_a_graph_says_what_is_in_it(small_graph: Graph) -> None:
    assert repr(small_graph) == (
        "Graph events: 480 train, 60 valid, 60 test; 12 entities; 3 predicates; "
        "2020-01-02 to 2020-10-26 (299 steps, granularity day)"
    )
    assert ">12 entities</td>" in small_graph._repr_html_()
    summary = small_graph.describe()
    assert "times             2020-01-02 to 2020-10-26: 299 steps of day" in str(summary)
    assert summary.to_frame().set_index("split").facts.to_dict() == {"train": 480, "valid": 60, "test": 60}
    assert "<caption>" not in summary._repr_html_()


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_a_frame_of_a_graph_is_the_graph_again(small_graph: Graph, library: Any) -> None:
    frames = {split: small_graph.to_frame(split, library) for split in ("train", "valid", "test")}
    assert load(frames).fingerprint() == small_graph.fingerprint()
    assert len(small_graph.to_frame(library=library)) == 600


def test_a_frame_of_intervals_has_both_ends_and_none_where_they_are_not_known(write: Write) -> None:
    graph = read_graph(write("a.tsv", "a\tp\tb\t1990\t####-##-##\na\tp\tc\t1991\t1992\n"), WHOLE)
    assert graph.to_frame().astype(object).where(lambda frame: frame.notna(), None).to_numpy().tolist() == [
        ["train", "a", "p", "b", "1990", None],
        ["train", "a", "p", "c", "1991", "1992"],
    ]


def test_a_graph_is_split_anew_as_a_file_would_be(write: Write) -> None:
    text = "".join(f"a{i % 3}\tp{i % 2}\tb{i}\t{i // 5}\n" for i in range(50))
    whole = read_graph(write("a.tsv", text), WHOLE)
    for by, seed in (("random", 3), ("time", 0), ("quantile", 0)):
        again = whole.split(0.2, 0.1, by=by, seed=seed)
        assert (
            again.fingerprint() == load(write("a.tsv", text), split=by, valid_share=0.2, split_seed=seed).fingerprint()
        )
        assert sorted(rows_of(again.split(0, 0))) == sorted(rows_of(whole))
    with pytest.raises(ConfigError, match="a split by 'luck' cannot be made; use random, time or quantile"):
        whole.split(by="luck")  # type: ignore[arg-type]


def test_a_saved_graph_is_loaded_by_its_folder_and_read_no_other_way(small_graph: Graph, tmp_path: Path) -> None:
    small_graph.save(tmp_path)
    assert load(tmp_path).fingerprint() == small_graph.fingerprint()
    with pytest.raises(ConfigError, match=r"a saved graph is used as it is; leave out granularity, valid_share"):
        load(tmp_path, granularity="month", valid_share=0.2)


def test_no_two_formats_share_an_ending() -> None:
    assert len(SUFFIXES) == sum(len(form.suffixes) for form in FORMATS)


def write_as(suffix: str, path: Path) -> Path:
    """Write the rows in the format of an ending."""
    import pandas as pd

    path, frame = path / f"a{suffix}", pd.DataFrame(OBJECTS)
    if suffix in (".jsonl", ".ndjson"):
        path.write_text(JSON_LINES, encoding="utf-8")
    elif suffix in (".parquet", ".pq"):
        frame.to_parquet(path)
    elif suffix in (".arrow", ".feather"):
        frame.to_feather(path)
    else:
        frame.to_csv(path, sep="," if suffix == ".csv" else "\t", index=False)
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_gives_the_same_facts_and_is_split_into_files_of_its_own(tmp_path: Path, suffix: str) -> None:
    path = write_as(suffix, tmp_path)
    assert read(path) == ROWS
    files = split_file(path, tmp_path / "out")
    assert list(files.values()) == [1, 1, 1]
    assert sorted(rows_of(load(tmp_path / "out").split(0, 0))) == sorted(ROWS)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "a.jsonl:6: not valid JSON: "),
        ("[1]", "a.jsonl:6: expected an object, found [1]; fix the line"),
        ('{"subject": 1.5}', "a.jsonl:6: the subject 1.5 is neither text nor an integer; put it in quotes"),
        ('{"subject": "a"}', "a.jsonl:6: the predicate is empty; give it a name"),
        (json.dumps(OBJECTS[0] | {"date": "soon"}), "a.jsonl:6: the time 'soon' is not a time"),
        (json.dumps(OBJECTS[0]) + '\n{"subject": "\\udc80"}', "a.jsonl:7: the subject is not valid UTF-8"),
    ],
)
def test_a_bad_line_of_json_is_named(write: Write, line: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read_graph(write("a.jsonl", f"{JSON_LINES}\n{line}\n"))
    assert message in str(caught.value)


def test_json_lines_may_be_compressed_mapped_and_hold_integers(write: Write) -> None:
    import gzip

    text = "".join(json.dumps({"w": s, "x": p, "y": o, "z": i}) + "\n" for i, (s, p, o, _) in enumerate(ROWS))
    columns = {"subject": "w", "predicate": "x", "object": "y", "time": "z"}
    path = write("a.jsonl.gz", gzip.compress(text.encode()))
    assert [row[3] for row in read(path, columns=columns)] == ["0", "1", "2"]
    with pytest.raises(DataError, match=r"no column 'v' for the subject"):
        read_graph(path, DataConfig(columns=columns | {"subject": "v"}))
    with pytest.raises(DataError, match=r"b.jsonl:1: not valid JSON"):
        read_graph(write("b.jsonl", TSV))


def test_the_datasets_are_a_table() -> None:
    assert [row["name"] for row in datasets()] == list(CATALOG)
