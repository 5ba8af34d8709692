"""RDF files: places, bad lines, names, and what is missing."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest

pytest.importorskip("pyoxigraph")

import pyarrow.parquet as parquet

import foretime
from foretime.data.linked.naming import local_name, unique_names
from foretime.data.linked.rdf_files import BAD_SYNTAX, NOT_UTF8, PlacedQuad, line_quads
from foretime.data.linked.rdf_nesting import MOST_NESTED, TOO_DEEP, ShallowStream

Write = Callable[[str, str | bytes], Path]
LINE = b"<http://e/a> <http://e/p> <http://e/b> .\n"


def rows(folder: Path) -> set[tuple[str, str, str]]:
    table = parquet.read_table(folder / "events.parquet").to_pylist()
    return {(row["subject"], row["predicate"], row["object"]) for row in table}


def test_every_line_of_n_triples_has_its_place_also_among_comments_and_blank_lines() -> None:
    content = b"# a comment\n\n" + LINE + b"   \n" + LINE
    assert [placed.line for placed in line_quads(content, 10, "N_TRIPLES") if isinstance(placed, PlacedQuad)] == [
        12,
        14,
    ]


def test_a_bad_line_is_left_out_and_its_neighbours_are_kept(write: Write) -> None:
    bad = b"<http://e/a> <http://e/p> .\n<http://e/a> <http://e/p> <not an iri> .\n" + LINE.replace(b"/a>", b"/\xff>")
    file = write("d.nt", LINE + bad + LINE.replace(b"/b>", b"/c>"))
    report = foretime.import_rdf(file, file.parent / "graph")
    assert rows(report.folder) == {("a", "p", "b"), ("a", "p", "c")}
    assert {each.reason: each.places for each in report.dropped} == {
        BAD_SYNTAX: (f"{file}:2", f"{file}:3"),
        NOT_UTF8: (f"{file}:4",),
    }


def test_a_line_without_its_dot_is_no_statement_and_does_not_swallow_the_next(write: Write) -> None:
    file = write("d.nt", LINE.replace(b" .\n", b"\n") + LINE.replace(b"/b>", b"/c>"))
    report = foretime.import_rdf(file, file.parent / "graph")
    assert rows(report.folder) == {("a", "p", "c")}
    assert [each.places for each in report.dropped] == [(f"{file}:1",)]


def test_a_syntax_error_in_turtle_is_an_error_with_its_line(write: Write) -> None:
    file = write("d.ttl", "@prefix : <http://e/> .\n:a :p :b .\n:a :p ; .\n:a :p :c .\n")
    with pytest.raises(foretime.DataError, match=r"d\.ttl:3: .*; fix it, or convert the file to N-Quads line by line"):
        foretime.import_rdf(file, file.parent / "graph")


def test_blank_nodes_of_two_files_are_different_statements(write: Write) -> None:
    text = (
        "_:r <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <http://e/a> <http://e/p> <http://e/{}> )>> .\n"
        '_:r <http://e/since> "{}"^^<http://www.w3.org/2001/XMLSchema#gYear> .\n'
    )
    files = [
        write("one.nt", text.format("b", 2014)),
        write("two.nt.gz", gzip.compress(text.format("c", 2016).encode())),
    ]
    report = foretime.import_rdf(files, files[0].parent / "graph")
    table = parquet.read_table(report.folder / "events.parquet").to_pylist()
    assert {(row["object"], row["start"]) for row in table} == {("b", "2014-##-##"), ("c", "2016-##-##")}


def test_literals_blank_nodes_and_descriptions_are_counted_by_reason(write: Write) -> None:
    text = (
        "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        ':a :p :b ; :age 7 ; :name "A" . :b :p [] . :p a owl:ObjectProperty ; owl:inverseOf :q . :a a :Person .\n'
    )
    file = write("d.ttl", text)
    report = foretime.import_rdf(file, file.parent / "graph")
    assert report.set_aside == {
        "the object is a literal": 2,
        "says what its subject is: kept as its type": 2,
        "describes the data, or its classes": 1,
    }
    assert {each.reason: each.rows for each in report.dropped} == {"the subject or the object is a blank node": 1}
    assert (report.read, report.kept) == (7, 1)


def test_names_are_labels_and_local_names_and_never_the_same_for_two(write: Write) -> None:
    text = (
        "@prefix : <http://e/> . @prefix f: <http://f/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ':a :p f:a . :x :p :y . :x rdfs:label "Ada"@en , "Ада"@ru . :y rdfs:label "Ada" .\n'
    )
    file = write("d.ttl", text)
    folder = foretime.import_rdf(file, file.parent / "graph").folder
    assert rows(folder) == {("http://e/a", "p", "http://f/a"), ("Ada (x)", "p", "Ada (y)")}
    assert rows(foretime.import_rdf(file, file.parent / "g", names="as-is").folder) == {
        ("http://e/a", "http://e/p", "http://f/a"),
        ("http://e/x", "http://e/p", "http://e/y"),
    }
    assert ("Ада", "p", "y") not in rows(folder)


def test_local_names_and_repeated_labels() -> None:
    assert local_name("http://dbpedia.org/resource/Category:Z%C3%BCrich") == "Category:Zürich"
    assert local_name("urn:isbn:123") == "123"
    assert local_name("http://e/x#") == "x"
    names = unique_names({"Q1": "Springfield", "Q2": "Springfield", "Q3": "", "Q4": "Springfield (Q1)", "Q5": "Q3"})
    assert len(set(names.values())) == 5
    assert names["Q2"] == "Springfield (Q2)"


def test_only_the_properties_that_are_asked_for_are_taken(write: Write) -> None:
    file = write("d.nt", LINE + LINE.replace(b"/p>", b"/q>"))
    report = foretime.import_rdf(file, file.parent / "graph", property="q")
    assert rows(report.folder) == {("a", "q", "b")}
    assert report.set_aside == {"of a property that was not asked for": 1}


def test_rdf_is_recognised_by_its_ending_and_others_are_refused(write: Write) -> None:
    file = write("d.nt", LINE)
    assert foretime.import_events(None, file, file.parent / "graph").source == "rdf"
    with pytest.raises(foretime.DataError, match=r"d\.rdf: not known as RDF; name it \.nt, \.nq, \.ttl, \.trig"):
        foretime.import_rdf(write("d.rdf", "<rdf/>"), file.parent / "graph")


def test_without_pyoxigraph_the_extra_is_named(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(
        foretime.ConfigError, match=r"RDF needs pyoxigraph; install it with: pip install 'foretime\[rdf\]'"
    ):
        foretime.import_rdf(write("d.nt", LINE), write("x", "").parent / "graph")


def nested(depth: int) -> bytes:
    """A triple about a triple about a triple, so many times."""
    node = b"<http://e/a> <http://e/p> "
    return node + (b"<<( " + node) * depth + b"<http://e/b>" + b" )>>" * depth + b" .\n"


@pytest.mark.parametrize("depth", [MOST_NESTED + 1, 100_000])
def test_triples_within_each_other_without_end_crash_nothing(write: Write, depth: int) -> None:
    file = write("deep.nt", LINE + nested(depth) + LINE.replace(b"/b>", b"/c>"))
    report = foretime.import_rdf(file, file.parent / "graph")
    assert rows(report.folder) == {("a", "p", "b"), ("a", "p", "c")}
    assert {each.reason: each.places for each in report.dropped} == {TOO_DEEP: (f"{file}:2",)}
    for name in ("deep.ttl", "deep.trig"):
        file = write(name, LINE + nested(depth))
        with pytest.raises(foretime.DataError, match=rf"{name}: {TOO_DEEP}; is it the right file\?"):
            foretime.import_rdf(file, file.parent / f"{name}-graph")


def read_in_pieces(content: bytes, size: int) -> bytes:
    stream = ShallowStream(BytesIO(content), "d.ttl")
    return b"".join(iter(partial(stream.read, size), b""))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1 << 16])
def test_a_stream_is_as_deep_as_it_is_however_it_is_read(size: int) -> None:
    whole = nested(MOST_NESTED) * 3
    assert read_in_pieces(whole, size) == whole
    with pytest.raises(foretime.DataError, match=TOO_DEEP):
        read_in_pieces(nested(MOST_NESTED) + nested(MOST_NESTED + 1), size)
