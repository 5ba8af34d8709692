from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime.config import DataConfig
from foretime.data.formats.streams import open_native
from foretime.data.graph import Graph, read_graph

Write = Callable[[str, str | bytes], Path]
ROWS = [
    ("Ann", "visits", "Bob", "2014-01-01"),
    ("Bob", "visits", "Ann", "2014-01-03"),
    ("Ann", "sues", "Eve", "2014-01-02"),
]
TSV = "".join("\t".join(row) + "\n" for row in ROWS)
CSV = TSV.replace("\t", ",")
WHOLE = DataConfig(valid_share=0, test_share=0)


def rows_of(graph: Graph) -> list[tuple[str, ...]]:
    """Return the training facts in words, in order: with one time, or with a start and an end."""
    facts, rows = graph.train, []
    for s, p, o, start, end in zip(*(column.tolist() for column in facts.columns()), strict=True):
        times = [start] if start == end else [start, end]
        labels = [graph.timeline.label(time) if time >= 0 else "?" for time in times]
        rows.append((graph.entities.name(s), graph.predicates.name(p), graph.entities.name(o), *labels))
    return rows


def read(source: object, **settings: object) -> list[tuple[str, ...]]:
    return rows_of(read_graph(source, WHOLE.model_copy(update=settings)))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", TSV),
        ("a.txt", TSV),
        ("a", TSV),
        ("a.csv", CSV),
        ("a.txt", CSV),
        ("a.csv", TSV),
        ("a.csv", CSV.replace(",", ";")),
        ("a.txt", CSV.replace(",", "|")),
        ("a.txt", CSV.replace(",", " ")),
        ("a.tsv", TSV.replace("\n", "\r\n")),
        ("a.csv", CSV.replace("\n", "\r\n")),
        ("a.tsv", "\ufeff" + TSV),
        ("a.tsv", TSV.rstrip("\n")),
        ("a.tsv", "\n\n" + TSV.replace("\n", "\n\n")),
        ("a.tsv", TSV.replace("\n", "\n   \n")),
        ("a.csv", '"' + CSV.rstrip("\n").replace(",", '","').replace("\n", '"\n"') + '"\n'),
    ],
)
def test_every_way_to_lay_out_a_text_file_gives_the_same_facts(write: Write, name: str, content: str) -> None:
    assert read(write(name, content)) == ROWS


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
    "lz4": lambda data: pa.Codec("lz4").compress(data, asbytes=True),
}


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize(("name", "content"), [("a.tsv", TSV), ("a.csv", CSV), ("a.txt", TSV)])
def test_every_compression_gives_the_same_facts(write: Write, ending: str, name: str, content: str) -> None:
    assert read(write(f"{name}.{ending}", COMPRESS[ending](content.encode()))) == ROWS


@pytest.mark.parametrize("ending", ["", *(f".{ending}" for ending in COMPRESS if ending != "xz")])
def test_arrow_reads_a_stream_without_anything_of_python_in_it(write: Write, ending: str) -> None:
    content = CSV.encode()
    path = write(f"a.csv{ending}", COMPRESS[ending[1:]](content) if ending else content)
    with open_native(path) as stream:
        assert type(stream) in (pa.OSFile, pa.CompressedInputStream)
        assert stream.read() == content


@pytest.mark.parametrize(
    "header",
    [
        "subject predicate object time",
        "Head Relation Tail Timestamp",
        "source rel target date",
        "subject_id relation_id object_id Day",
    ],
)
def test_a_header_is_seen_where_it_names_the_columns(write: Write, header: str) -> None:
    assert read(write("a.tsv", header.replace(" ", "\t") + "\n" + TSV)) == ROWS


def test_columns_are_found_by_the_words_of_a_header_in_any_order(write: Write) -> None:
    lines = ["id,date,head,tail,relation,url", *(f"7,{t},{s},{o},{p},http://x" for s, p, o, t in ROWS)]
    assert read(write("a.csv", "\n".join(lines))) == ROWS


def test_a_row_about_a_person_called_subject_is_no_header(write: Write) -> None:
    assert read(write("a.tsv", "subject\tvisits\tobject\t2014-01-01\n"))[0][0] == "subject"


def test_a_first_row_that_looks_like_a_header_is_a_fact_if_so_configured(write: Write) -> None:
    path = write("a.tsv", "subject\tpredicate\tobject\t2014-01-01\n" + TSV)
    assert len(read(path, header=False)) == 4


def test_a_header_of_other_words_is_passed_over_if_so_configured(write: Write) -> None:
    assert read(write("a.tsv", "wer\twas\twen\twann\n" + TSV), header=True) == ROWS


@pytest.mark.parametrize(
    "columns",
    [
        {"subject": "A", "predicate": "B", "object": "C", "time": "D"},
        {"subject": 2, "predicate": 3, "object": 4, "time": 5},
        {"subject": "A", "predicate": 3, "object": "C", "time": 5},
    ],
)
def test_columns_are_mapped_by_name_and_by_number(write: Write, columns: dict[str, str | int]) -> None:
    lines = ["n,A,B,C,D,note", *(f"{i},{','.join(row)},x" for i, row in enumerate(ROWS))]
    assert read(write("a.csv", "\n".join(lines)), columns=columns, header=True) == ROWS


def test_a_mapping_by_number_needs_no_header(write: Write) -> None:
    lines = [f"{t}\t{o}\t{p}\t{s}\textra\tmore" for s, p, o, t in ROWS]
    columns = {"subject": 4, "predicate": 3, "object": 2, "time": 1}
    assert read(write("a.tsv", "\n".join(lines)), columns=columns) == ROWS


def test_five_columns_are_intervals(write: Write) -> None:
    path = write(
        "a.tsv", "a\tp\tb\t1990\t1992\na\tp\tc\t1991\t1991\na\tq\tc\t####-##-##\t1993\nb\tq\tc\t1994-##-##\t\n"
    )
    assert read(path) == [
        ("a", "p", "b", "1990", "1992"),
        ("a", "p", "c", "1991"),
        ("a", "q", "c", "?", "1993"),
        ("b", "q", "c", "1994", "?"),
    ]


def test_an_interval_that_starts_after_its_end_is_kept(write: Write) -> None:
    assert read(write("a.tsv", "a\tp\tb\t1999-##-##\t1990-##-##\n")) == [("a", "p", "b", "1999", "1990")]


def test_a_quote_in_a_tsv_file_is_part_of_a_name(write: Write) -> None:
    path = write("a.tsv", 'the "Times\tvisits\t"Bob"\t2014-01-01\n"\tp\t"\t2014-01-01\n')
    assert read(path)[0][:3] == ('the "Times', "visits", '"Bob"')


def test_quotes_in_a_csv_file_group_commas_quotes_and_line_breaks(write: Write) -> None:
    path = write("a.csv", '"Smith, ""Al""",visits,"two\nlines",2014-01-01\nAnn,visits,Bob,2014-01-01\n')
    assert read(path)[0][:3] == ('Smith, "Al"', "visits", "two\nlines")


def test_names_are_never_stripped(write: Write) -> None:
    path = write("a.tsv", "Găgăuzia\u00a0\t visits\tBob \t2014-01-01\nGăgăuzia\tvisits\tBob\t2014-01-01\n")
    assert read(path)[0][:3] == ("Găgăuzia\u00a0", " visits", "Bob ")
    assert len(read_graph(path, WHOLE).entities) == 4


def test_words_for_nothing_are_names(write: Write) -> None:
    names = ["NA", "null", "None", "nan", "", "true", "1", "001", "1.0"]
    path = write("a.tsv", "".join(f"{name}\tis\tnull\t2014-01-01\n" for name in names if name))
    assert [row[0] for row in read(path)] == [name for name in names if name]


def test_a_delimiter_can_be_given(write: Write) -> None:
    assert read(write("a.txt", CSV.replace(",", "~")), delimiter="~") == ROWS


cells = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n\0"), min_size=1, max_size=6).filter(
    lambda text: text.strip(" ")
)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8))
def test_any_names_survive_a_tsv_file(
    tmp_path_factory: pytest.TempPathFactory, names: list[tuple[str, str, str]]
) -> None:
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    path.write_bytes("".join(f"{s}\t{p}\t{o}\t7\n" for s, p, o in names).encode())
    assert [row[:3] for row in read(path, header=False)] == names or names[0][0].startswith("\ufeff")


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8))
def test_any_names_survive_a_csv_file(
    tmp_path_factory: pytest.TempPathFactory, names: list[tuple[str, str, str]]
) -> None:
    import csv

    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([(*row, "7") for row in names])
    assert [row[:3] for row in read(path, header=False, delimiter=",")] == names
