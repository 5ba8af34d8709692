from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_reading import ROWS, TSV, WHOLE, rows_of

from foretime.config import DataConfig
from foretime.data.facts import UNKNOWN
from foretime.data.graph import Graph, read_graph
from foretime.errors import DataError, RunError

Write = Callable[[str, str | bytes], Path]
names = st.sampled_from(["a", "b", "c", "d", "e", "f"])
years = st.one_of(st.none(), st.integers(-50, 2020))
facts = st.lists(
    st.tuples(names, names, names, years, years).filter(lambda row: row[3:] != (None, None)), min_size=1, max_size=12
)


def text_of(rows: list[tuple[str, str, str, int | None, int | None]]) -> str:
    def ends(*times: int | None) -> list[str]:
        return ["####-##-##" if time is None else f"{time}-##-##" for time in times]

    return "".join("\t".join([*row[:3], *ends(*row[3:])]) + "\n" for row in rows)


@given(facts, facts, facts)
def test_ids_and_interval_ends_are_those_of_a_plain_loop(
    tmp_path_factory: pytest.TempPathFactory, train: list, valid: list, test: list
) -> None:
    folder = tmp_path_factory.mktemp("graph")
    for name, rows in {"train": train, "valid": valid, "test": test}.items():
        (folder / f"{name}.tsv").write_text(text_of(rows))
    graph = read_graph(folder)
    every = [*train, *valid, *test]
    assert list(graph.entities.names) == list(dict.fromkeys(name for row in every for name in (row[0], row[2])))
    assert list(graph.predicates.names) == list(dict.fromkeys(row[1] for row in every))
    first = min(time for row in every for time in row[3:] if time is not None)
    expected = [
        (
            graph.entities.id(s),
            graph.predicates.id(p),
            graph.entities.id(o),
            *(UNKNOWN if time is None else time - first for time in (start, end)),
        )
        for s, p, o, start, end in every
    ]
    assert list(zip(*(column.tolist() for column in graph.facts().columns()), strict=True)) == expected
    assert graph.has_intervals == any(start != end for *_, start, end in every)


@given(facts, facts, facts)
def test_ids_are_those_of_a_plain_loop_where_rows_are_looked_at_in_pieces(
    tmp_path_factory: pytest.TempPathFactory, train: list, valid: list, test: list
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("foretime.data.assembling._LOOKED_AT", 2)
        test_ids_and_interval_ends_are_those_of_a_plain_loop.hypothesis.inner_test(  # type: ignore[attr-defined]
            tmp_path_factory, train, valid, test
        )


@pytest.mark.parametrize(("name", "mark"), [("events.tsv", "\t"), ("events.csv", ","), ("quoted.csv", ",")])
def test_the_graph_of_some_rows_is_the_same_to_the_last_bit_as_it_was(write: Write, name: str, mark: str) -> None:
    quote = '"' if name == "quoted.csv" else ""
    rows = [
        (f"e{n * n % 97}", f"p{n % 7}", f"e{n * 3 % 89}", f"2014-{n % 12 + 1:02}-{n % 28 + 1:02}") for n in range(999)
    ]
    lines = [mark.join([f"{quote}{s}{quote}", p, o, "" if n % 50 == 49 else t]) for n, (s, p, o, t) in enumerate(rows)]
    graph = read_graph(write(name, "\n".join(lines) + "\n"))
    assert len(graph.background) == 19
    assert graph.fingerprint() == "f3ab67ff09e4a0d39da49ec043406226f36684b637aa4407d15cc74cb681cc79"


def small_folder(write: Write) -> Path:
    write("graph/valid.tsv", "Bob\tvisits\tZoe\t2014-01-04\n")
    write("graph/test.tsv", "Yan\tlikes\tZoe\t2014-01-05\n")
    return write("graph/train.tsv", TSV).parent


def test_entities_that_train_never_shows_have_the_highest_ids(write: Write) -> None:
    graph = read_graph(small_folder(write))
    assert graph.name == "graph"
    assert graph.entities.names == ("Ann", "Bob", "Eve", "Zoe", "Yan")
    assert graph.predicates.names == ("visits", "sues", "likes")
    assert len(graph.timeline) == 5
    assert [len(graph.facts(name)) for name in ("train", "valid", "test")] == [3, 1, 1]


@pytest.mark.parametrize(
    "files",
    [
        {"train": "train.txt", "valid": "val.txt", "test": "test.txt"},
        {"train": "TRAIN.csv", "valid": "dev.csv", "test": "Test.csv"},
        {"train": "icews_train.txt", "valid": "icews_valid.txt", "test": "icews_test.txt"},
        {"train": "x-train.tsv", "valid": "x-validation.tsv", "test": "x-test.tsv"},
    ],
)
def test_splits_are_found_by_the_names_of_their_files(write: Write, files: dict[str, str]) -> None:
    for split, name in files.items():
        write(f"g/{name}", f"{split}\tp\tb\t7\n".replace("\t", "," if name.endswith("csv") else "\t"))
    folder = write("g/notes.txt", "not a split").parent
    graph = read_graph(folder)
    assert [graph.entities.name(int(graph.facts(split).subject[0])) for split in files] == list(files)


def test_a_file_named_just_so_goes_before_one_that_ends_so(write: Write) -> None:
    folder = small_folder(write)
    write("graph/old_train.tsv", "x\n")
    assert len(read_graph(folder).train) == 3


def test_a_folder_with_train_alone_is_split_like_a_file(write: Write) -> None:
    path = write("g/train.tsv", "".join(f"a\tp\tb{i}\t{i}\n" for i in range(50)))
    one, other = read_graph(path.parent), read_graph(path)
    assert [len(one.facts(name)) for name in ("train", "valid", "test")] == [40, 5, 5]
    assert one.fingerprint() == other.fingerprint()


def test_a_split_is_made_as_configured(write: Write) -> None:
    path = write("a.tsv", "".join(f"a\tp\tb{i}\t{i // 5}\n" for i in range(50)))
    graph = read_graph(path, DataConfig(split="time", valid_share=0.2, test_share=0.1))
    assert [len(graph.facts(name)) for name in ("train", "valid", "test")] == [35, 10, 5]
    assert graph.train.start.max() < graph.valid.start.min() <= graph.valid.start.max() < graph.test.start.min()
    seeds = [read_graph(path, DataConfig(split_seed=seed)).fingerprint() for seed in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_a_folder_is_split_anew_if_so_configured(write: Write) -> None:
    graph = read_graph(small_folder(write), DataConfig(split="time", valid_share=0.4, test_share=0.2))
    assert [len(graph.facts(name)) for name in ("train", "valid", "test")] == [2, 2, 1]


def test_an_unknown_split_is_an_error_with_a_hint(write: Write) -> None:
    with pytest.raises(DataError, match="unknown split 'tests'; did you mean 'test'"):
        read_graph(small_folder(write)).facts("tests")


def test_ids_get_their_names_from_the_files_beside_them(write: Write) -> None:
    write("g/entity2id.txt", "2\nGăgăuzia\u00a0\t0\nQ2\t1\n")
    write("g/relation2id.txt", "P9\t0\n")
    path = write("g/events.txt", "0\t0\t1\t1990-##-##\t1991-##-##\n")
    assert rows_of(read_graph(path, WHOLE)) == [("Găgăuzia\u00a0", "P9", "Q2", "1990", "1991")]
    assert rows_of(read_graph(path, WHOLE.model_copy(update={"names": "as-is"}))) == [("0", "0", "1", "1990", "1991")]


def test_a_name_of_a_fetched_graph_is_found(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small_folder(write)
    monkeypatch.setenv("FORETIME_DATA", str(folder.parent))
    assert read_graph("graph").fingerprint() == read_graph(folder).fingerprint()


@pytest.mark.parametrize("settings", [{}, {"granularity": "bins:2"}, {"regular": False}, {"granularity": "week"}])
def test_a_saved_graph_is_loaded_as_it_was(write: Write, tmp_path: Path, settings: dict[str, object]) -> None:
    graph = read_graph(small_folder(write), DataConfig.model_validate(settings))
    graph.save(tmp_path / "saved")
    loaded = Graph.load(tmp_path / "saved")
    assert loaded.fingerprint() == graph.fingerprint()
    assert (loaded.name, loaded.entities, loaded.predicates) == (graph.name, graph.entities, graph.predicates)
    assert loaded.timeline.to_dict() == graph.timeline.to_dict()
    assert loaded.train.subject.dtype == np.int64
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == ["facts.safetensors", "graph.json"]


def test_a_fingerprint_sees_every_name_time_and_fact(write: Write) -> None:
    changed = [
        TSV,
        TSV.replace("Eve", "Eva"),
        TSV.replace("2014-01-02", "2014-01-01"),
        TSV + TSV,
        TSV.replace("2014", "2015"),
    ]
    prints = {read_graph(write("a.tsv", text), WHOLE).fingerprint() for text in changed}
    assert len(prints) == len(changed)


def test_a_missing_or_damaged_saved_graph_is_a_run_error(write: Write, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    with pytest.raises(RunError, match=r"graph.json: missing; no whole graph is saved there"):
        Graph.load(saved)
    read_graph(small_folder(write)).save(saved)
    graph, columns = (saved / "graph.json").read_bytes(), (saved / "facts.safetensors").read_bytes()
    (saved / "facts.safetensors").write_bytes(columns[:-7])
    with pytest.raises(RunError, match="the saved graph is damaged"):
        Graph.load(saved)
    (saved / "facts.safetensors").write_bytes(columns[:-1] + b"\x01")
    with pytest.raises(RunError, match="has the id 16777217, not one from 0 to 4; make it again"):
        Graph.load(saved)
    other_id = b"\x01" if columns[-4:-3] == b"\x00" else b"\x00"
    (saved / "facts.safetensors").write_bytes(columns[:-4] + other_id + columns[-3:])
    with pytest.raises(RunError, match="do not agree; make it again"):
        Graph.load(saved)
    (saved / "facts.safetensors").unlink()
    with pytest.raises(RunError, match=r"facts.safetensors: missing"):
        Graph.load(saved)
    (saved / "graph.json").write_bytes(graph[:50])
    with pytest.raises(RunError, match=r"graph.json: the saved graph is damaged"):
        Graph.load(saved)
    (saved / "graph.json").write_bytes(graph.replace(b'"format": 1', b'"format": 9'))
    with pytest.raises(RunError, match="not a graph of format 1"):
        Graph.load(saved)


def test_granularity_makes_steps_coarser(write: Write) -> None:
    path = write("a.tsv", "a\tp\tb\t2014-01-01\na\tp\tc\t2014-03-31\n")
    months = read_graph(path, WHOLE.model_copy(update={"granularity": "month"}))
    assert [months.timeline.label(step) for step in range(3)] == ["2014-01", "2014-02", "2014-03"]
    assert len(read_graph(path, WHOLE).timeline) == 90
    assert len(read_graph(path, WHOLE.model_copy(update={"regular": False})).timeline) == 2


def test_every_row_is_a_fact_also_where_it_is_repeated(write: Write) -> None:
    assert rows_of(read_graph(write("a.tsv", TSV + TSV), WHOLE)) == ROWS + ROWS


def test_data_needs_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = None; import foretime.data, foretime.cli.data"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_line_of_data_loads_nothing_heavy() -> None:
    code = "import sys, foretime.cli.data; assert not {'pyarrow', 'numpy', 'torch', 'pydantic'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
