"""Every trap of the real data, in a small copy that is always run and in the original where it is there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from foretime.data.facts import UNKNOWN
from foretime.data.graph import Graph, read_graph
from foretime.data.summary import Summary

Write = Callable[[str, str | bytes], Path]


@cache
def real_graph(folder: Path) -> Graph:
    return read_graph(folder)


def twin(write: Write) -> Graph:
    """Return a graph with one of each trap."""
    write("g/entity2id.txt", "Q1\u00a0\t0\nQ2\t1\nQ3\t2\n")
    write("g/relation2id.txt", "P1\t0\n")
    write("g/valid.txt", "1\t0\t0\t####-##-##\t2018-##-##\n")
    write("g/test.txt", "2\t0\t0\t19-##-##\t-44-##-##\n")
    rows = ["0\t0\t1\t986-##-##\t1000-##-##", "0\t0\t0\t1990-##-##\t1990-##-##", "0\t0\t1\t1990-##-##\t####-##-##"]
    return read_graph(write("g/train.txt", "\n".join(rows)).parent)


def test_a_name_that_ends_in_a_no_break_space_is_kept(write: Write) -> None:
    assert twin(write).entities.names == ("Q1\u00a0", "Q2", "Q3")
    assert twin(write).describe().untrimmed_names == ["Q1\u00a0"]


def test_years_are_not_padded_and_lie_on_one_timeline(write: Write) -> None:
    graph = twin(write)
    assert graph.timeline.span == "-44 to 2018"
    assert [graph.timeline.label(int(step)) for step in graph.train.start] == ["986", "1990", "1990"]


def test_open_and_reversed_intervals_and_self_loops_are_counted(write: Write) -> None:
    summary = twin(write).describe()
    assert (summary.without_start, summary.without_end, summary.reversed_intervals) == (1, 1, 1)
    assert summary.self_loops == {"train": 1, "valid": 0, "test": 0}
    assert summary.intervals == 4


def test_facts_about_an_unseen_entity_are_counted(write: Write) -> None:
    summary = twin(write).describe()
    assert summary.unseen_entity == {"train": 0, "valid": 0, "test": 1}
    assert (summary.entities, summary.entities_in_train) == (3, 2)


def test_no_duplicates_are_found_where_there_are_none(write: Write) -> None:
    summary = twin(write).describe()
    assert not any([*summary.duplicates.values(), *summary.leaked.values()])


SIZES = {
    "icews14": ([72_826, 8_941, 8_963], 7_128, 6_869, 230, 365),
    "icews05-15": ([368_962, 46_275, 46_092], 10_488, 10_094, 251, 4_017),
    "wikidata12k": ([32_497, 4_062, 4_062], 12_554, 12_544, 24, 2_002),
}


def real_summary(real_data: Path, name: str) -> Summary:
    return real_graph(real_data / name).describe()


@pytest.mark.real
@pytest.mark.parametrize("name", SIZES)
def test_the_real_graphs_have_the_published_sizes(real_data: Path, name: str) -> None:
    summary = real_summary(real_data, name)
    found = list(summary.facts.values()), summary.entities, summary.entities_in_train, summary.predicates, summary.steps
    assert found == SIZES[name]


@pytest.mark.real
@pytest.mark.parametrize("name", SIZES)
def test_the_real_graphs_have_no_duplicates_and_no_leaks(real_data: Path, name: str) -> None:
    summary = real_summary(real_data, name)
    assert not any([*summary.duplicates.values(), *summary.leaked.values()])


@pytest.mark.real
@pytest.mark.parametrize("name", SIZES)
def test_every_row_of_the_real_graphs_can_be_written_back(real_data: Path, name: str) -> None:
    graph = real_graph(real_data / name)
    ids = {kind: {} for kind in ("entity", "relation")}
    for kind, found in ids.items():
        if (path := real_data / name / f"{kind}2id.txt").is_file():
            found.update(line.split("\t") for line in path.read_text().splitlines())
    entities = [ids["entity"].get(name, name) for name in graph.entities.names]
    predicates = [ids["relation"].get(name, name) for name in graph.predicates.names]
    suffix = "-##-##" if name == "wikidata12k" else ""
    times = [*(graph.timeline.label(step) + suffix for step in range(len(graph.timeline))), "####-##-##"]
    for split in ("train", "valid", "test"):
        rows = zip(*(column.tolist() for column in graph.facts(split).columns()), strict=True)
        lines = (
            "\t".join(
                [entities[s], predicates[p], entities[o], *([times[start], times[end]] if suffix else [times[start]])]
            )
            for s, p, o, start, end in rows
        )
        assert "\n".join(lines) == (real_data / name / f"{split}.txt").read_text(encoding="utf-8").rstrip("\n")


@pytest.mark.real
def test_icews14_has_a_name_with_a_no_break_space_and_unseen_entities(real_data: Path) -> None:
    summary = real_summary(real_data, "icews14")
    assert [name[-1] for name in summary.untrimmed_names] == ["\u00a0"]
    assert summary.unseen_entity["test"] == 146


@pytest.mark.real
def test_icews05_15_has_self_loops_and_unseen_entities(real_data: Path) -> None:
    summary = real_summary(real_data, "icews05-15")
    assert summary.self_loops["train"] == 128
    assert summary.unseen_entity["test"] == 234


@pytest.mark.real
def test_wikidata12k_has_open_and_reversed_intervals_and_names(real_data: Path) -> None:
    graph, summary = real_graph(real_data / "wikidata12k"), real_summary(real_data, "wikidata12k")
    assert (summary.without_end, summary.without_start, summary.reversed_intervals) == (4_735, 1_405, 10)
    assert all(name.startswith("Q") for name in graph.entities.names)
    assert all(name.startswith("P") for name in graph.predicates.names)
    assert graph.timeline.label(0) == "19"
    assert int((graph.facts().end == UNKNOWN).sum()) == 4_735


@pytest.mark.real
@pytest.mark.parametrize(("name", "unit"), [("wikidata12k", "year"), ("yago", "step"), ("icews14", "day")])
def test_the_real_graphs_are_read_with_no_option_and_without_a_doubt(real_data: Path, name: str, unit: str) -> None:
    graph = real_graph(real_data / name)
    assert graph.timeline.unit == unit
    assert graph.doubts == ()
    assert not graph.bad_rows
    assert graph.notes[-1].endswith(f"one step is one {'integer' if unit == 'step' else unit}"), "a folder is not split"
