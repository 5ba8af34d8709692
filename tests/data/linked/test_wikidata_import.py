"""Wikidata from its files to a folder that `foretime.load` reads."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.linked.wikidata_rows import JULIAN, claim, dump, entity, text_snak, time_snak, year

import foretime
from foretime.data.linked.dates import GUESSED_PRECISION, JULIAN_DAY

Write = Callable[[str, str | bytes], Path]

ENTITIES = (
    entity("P39", "position held"),
    entity("P36", "capital"),
    entity("Q5", "human"),
    entity("Q30", "Springfield", P36=claim("Q31", P580=year(1839))),
    entity("Q31", "Springfield", P36=claim("Q30", P585=time_snak("+1700-02-18T00:00:00Z", 11, JULIAN))),
    entity("Q1", "Ada", ("A. L.", "Ada"), P31=claim("Q5"), P39=[claim("Q2", P580=year(1986), P582=year(1990))]),
    entity("Q3", "", P39=[claim("Q2", rank="deprecated"), claim(text_snak("chair")), claim("Q2")]),
)
ROLES = ("subject", "predicate", "object", "start", "end")


def rows(folder: Path) -> set[tuple[str | None, ...]]:
    return {tuple(row[role] for role in ROLES) for row in parquet.read_table(folder / "events.parquet").to_pylist()}


def entities(folder: Path) -> dict[str, dict[str, str]]:
    header, *lines = (line.split("\t") for line in (folder / "entities.tsv").read_text(encoding="utf-8").splitlines())
    return {line[0]: dict(zip(header, line, strict=True)) for line in lines}


def test_a_dump_becomes_facts_by_their_labels_and_every_statement_is_accounted_for(write: Write) -> None:
    report = foretime.import_wikidata(write("latest-all.json", dump(*ENTITIES)), write("x", "").parent / "graph")
    assert rows(report.folder) == {
        ("Springfield (Q30)", "capital", "Springfield (Q31)", "1839-##-##", None),
        ("Springfield (Q31)", "capital", "Springfield (Q30)", "1700-02-28", "1700-02-28"),
        ("Ada", "position held", "Q2", "1986-##-##", "1990-##-##"),
        ("Q3", "position held", "Q2", None, None),
    }
    assert (report.read, report.kept, report.merged) == (7, 4, 0)
    assert {each.reason: each.places for each in report.dropped} == {
        "of a rank that was not asked for": (f"{write('latest-all.json', dump(*ENTITIES))}:8",)
    }
    assert report.set_aside == {
        "says what its subject is (P31): kept as its type": 1,
        "the value is no entity": 1,
    }
    assert report.notes == {JULIAN_DAY: 1}


def test_types_aliases_and_ids_come_along(write: Write) -> None:
    folder = foretime.import_wikidata(write("d.json", dump(*ENTITIES)), write("x", "").parent / "graph").folder
    found = entities(folder)
    assert found["Ada"] == {"name": "Ada", "id": "Q1", "type": "human", "aliases": "A. L.;Q1"}
    assert found["Springfield (Q30)"]["aliases"] == "Q30;Springfield"
    assert found["Q3"]["type"] == ""


def test_a_compressed_dump_is_read_in_all_its_streams(write: Write) -> None:
    content = dump(*ENTITIES)
    half = content.index(b"\n", len(content) // 2) + 1
    packed = bz2.compress(content[:half]) + bz2.compress(content[half:])  # as the published .bz2 is made
    expected = None
    for name, data in (("a.json.bz2", packed), ("a.json.gz", gzip.compress(content)), ("a.json", content)):
        report = foretime.import_wikidata(write(name, data), write("x", "").parent / "graph")
        expected = expected or rows(report.folder)
        assert rows(report.folder) == expected, name


def test_a_dump_is_recognised_and_a_cut_one_is_an_error(write: Write) -> None:
    out = write("x", "").parent / "graph"
    report = foretime.import_events(None, write("found.json", dump(*ENTITIES)), out)
    assert (report.source, report.recognised) == ("wikidata", True)
    whole = gzip.compress(dump(*ENTITIES))
    with pytest.raises(foretime.DataError, match=r"cut\.json\.gz: cannot be read: .*; fetch or write it again"):
        foretime.import_wikidata(write("cut.json.gz", whole[: len(whole) // 2]), out)


def test_properties_languages_ids_and_timeless_statements_are_choices(write: Write) -> None:
    file, out = write("d.json", dump(*ENTITIES)), write("x", "").parent / "graph"

    def imported(**options: Any) -> set[tuple[str | None, ...]]:
        return rows(foretime.import_wikidata(file, out, **options).folder)

    assert {row[1] for row in imported(property="P36,P35")} == {"capital"}
    assert {row[3] for row in imported(property=["P39"], timeless="drop")} == {"1986-##-##"}
    assert {row[0] for row in imported(names="as-is")} == {"Q30", "Q31", "Q1", "Q3"}
    assert {row[0] for row in imported(language="de")} == {"Q30", "Q31", "Q1", "Q3"}, "no label in German"
    assert len(imported(ranks="deprecated")) == 1


def test_a_bad_line_is_dropped_with_its_place(write: Write) -> None:
    lines = dump(*ENTITIES).split(b"\n")
    lines[2] = lines[2][:-7]
    report = foretime.import_wikidata(write("d.json", b"\n".join(lines)), write("x", "").parent / "graph")
    assert [(each.reason, each.places[0].rpartition(":")[2]) for each in report.dropped] == [
        ("the line is no JSON", "3"),
        ("of a rank that was not asked for", "8"),
    ]
    dropped = (report.folder / "dropped.tsv").read_text(encoding="utf-8").splitlines()
    assert len(dropped) == 1 + sum(each.rows for each in report.dropped)


def test_the_graph_that_was_imported_can_be_loaded(write: Write) -> None:
    dated = [found for found in ENTITIES if found["id"] != "Q3"]
    folder = foretime.import_wikidata(write("d.json", dump(*dated)), write("x", "").parent / "graph").folder
    graph = foretime.load(folder, granularity="year")
    assert set(graph.entities.names) == {"Ada", "Q2", "Springfield (Q30)", "Springfield (Q31)"}
    assert graph.timeline.span == "1700 to 1990"


RESULT = (
    "s,sLabel,p,o,oLabel,from,fromPrecision,to\n"
    "http://www.wikidata.org/entity/Q1,Ada,P39,http://www.wikidata.org/entity/Q2,Q2,1986-01-01T00:00:00Z,9,\n"
    "http://www.wikidata.org/entity/Q3,Ada,P39,http://www.wikidata.org/entity/Q2,Q2,,,1990-01-01T00:00:00Z\n"
    "http://www.wikidata.org/entity/Q3,Ada,P39,Berlin,Berlin,,,\n"
)


def test_query_results_are_named_by_the_label_service_and_ids_where_labels_repeat(write: Write) -> None:
    report = foretime.import_wikidata(write("r.csv", RESULT), write("x", "").parent / "graph")
    assert rows(report.folder) == {
        ("Ada (Q1)", "P39", "Q2", "1986-##-##", None),
        ("Ada (Q3)", "P39", "Q2", None, "1990-##-##"),
    }
    assert report.notes == {GUESSED_PRECISION: 1}
    assert [(each.reason, each.rows) for each in report.dropped] == [("the value is no entity", 1)]


def test_json_results_are_told_from_dumps(write: Write) -> None:
    cells = {"s": "http://www.wikidata.org/entity/Q1", "o": "http://www.wikidata.org/entity/Q2"}
    verbose = {
        "head": {"vars": ["s", "o"]},
        "results": {"bindings": [{name: {"type": "uri", "value": value} for name, value in cells.items()}]},
    }
    for content in (json.dumps(verbose, indent=2), json.dumps([cells])):
        report = foretime.import_wikidata(write("r.json", content), write("x", "").parent / "g", predicate="P39")
        assert rows(report.folder) == {("Q1", "P39", "Q2", None, None)}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_dump_loses_no_row_and_raises_nothing_but_our_errors(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(dump(*ENTITIES))
    for _ in range(data.draw(st.integers(1, 12))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b"", b"\n", b"]", b"{", b"7", b"\xff", b'"'])
        )
    file = tmp_path / "d.json"
    file.write_bytes(bytes(content))
    try:
        report = foretime.import_wikidata(file, tmp_path / "graph")
    except foretime.DataError:
        return
    left = sum(each.rows for each in report.dropped) + sum(report.set_aside.values())
    assert report.read == report.kept + report.merged + left


def test_options_that_cannot_be_are_refused_and_an_import_without_facts_says_why(write: Write) -> None:
    file, out = write("d.json", dump(*ENTITIES)), write("x", "").parent / "graph"
    with pytest.raises(foretime.ConfigError, match="ranks"):
        foretime.import_wikidata(file, out, ranks="best")
    with pytest.raises(foretime.ConfigError, match="property"):
        foretime.import_wikidata(file, out, property="position held")
    with pytest.raises(foretime.DataError, match="6 rows: of a property that was not asked for"):
        foretime.import_wikidata(file, out, property="P999")
