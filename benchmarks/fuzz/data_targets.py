"""Readers of data: tables, times, names, attributes and new events."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import foretime as ft
from benchmarks.fuzz.target import Reader, Target, by_first_byte, chosen
from benchmarks.mutated_files import COLUMNS, ODD_TIMES, Plain, compare_rows, plain_json, plain_text
from foretime.data.date_forms import WORDS, Misreadings, read_dates
from foretime.data.new_events import read_events
from foretime.data.restrictions import Restriction
from foretime.data.sources import ID_FILES
from foretime.data.timeline import Timeline
from foretime.data.times import INTEGER, UNITS, ticks_of

ROWS = [
    ("Ann", "visits", "Bob Lee", "2024-01-31"),
    ("Zürich", "sues", "Ann", "2024-02-01"),
    ("Bob Lee", "visits", "O'Neill", "2024-02-03"),
]
INTERVALS = [(*row, "2024-03-##") for row in ROWS]
GRANULARITIES = ("auto", *UNITS, "step", "bins:3")
FORMS = (*WORDS, "", "auto", "%d/%m/%Y", "%m/%d/%y", "%Y%m%d", "%d %b %Y", "%Y-%m-%d %H:%M:%S")


def table(rows: list[tuple[str, ...]], delimiter: str, header: bool = False) -> bytes:
    """Return rows as text."""
    every = [COLUMNS, *rows] if header else rows
    return "".join(delimiter.join(row) + "\n" for row in every).encode()


def json_lines(rows: list[tuple[str, ...]]) -> bytes:
    """Return rows as JSON Lines."""
    return "".join(json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False) + "\n" for row in rows).encode()


def columns_of(rows: list[tuple[str, ...]]) -> pa.Table:
    """Return rows as an Arrow table."""
    return pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))


def parquet(made: pa.Table) -> bytes:
    """Return a table as a Parquet file."""
    stream = io.BytesIO()
    pyarrow.parquet.write_table(made, stream)
    return stream.getvalue()


def feather(made: pa.Table) -> bytes:
    """Return a table as a file of Arrow."""
    stream = io.BytesIO()
    pyarrow.feather.write_feather(made, stream)
    return stream.getvalue()


def packed_by(codec: str) -> Callable[[bytes], bytes]:
    """Return what packs content as Arrow does."""

    def pack(content: bytes) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as stream:
            stream.write(content)
        return sink.getvalue().to_pybytes()

    return pack


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": packed_by("zstd"), ".lz4": packed_by("lz4"),
}  # fmt: skip


def written(content: bytes, folder: Path, name: str) -> Path:
    """Write an input to a file and return it."""
    path = folder / name
    path.write_bytes(content)
    return path


def read_rows(suffix: str, delimiter: str) -> Reader:
    """Return a reader of text whose rows are compared with those of a plain reader."""

    def read(content: bytes, folder: Path) -> None:
        path = written(content, folder, f"rows{suffix}")
        check_rows(path, list(plain_text(content, delimiter)), delimiter=delimiter)

    return read


def check_rows(path: Path, plain: list[Plain], **reading: object) -> None:
    """Compare the rows of a file with those of the plain reader; a file that is refused is a `DataError`."""
    if compare_rows(path, plain, path.name, **reading)["refused"]:
        raise ft.DataError(f"{path}: refused")


def read_json_lines(content: bytes, folder: Path) -> None:
    """Read JSON Lines, whose rows are compared with those of a plain reader."""
    check_rows(written(content, folder, "rows.jsonl"), list(plain_json(content)))


def load(suffix: str, **reading: object) -> Reader:
    """Return a reader of a file, as `foretime.load` reads it."""

    def read(content: bytes, folder: Path) -> None:
        graph = ft.load(written(content, folder, f"file{suffix}"), **reading)
        assert len(list(graph.rows())) + len(list(graph.rows("background"))) > 0, "a graph without facts"
        graph.describe()

    return read


def split(content: bytes, folder: Path) -> None:
    """Split a file: every row is in one of the files, and there is none more."""
    path, out = written(content, folder, "whole.csv"), folder / "split"
    for left in out.glob("*") if out.is_dir() else ():
        left.unlink()
    counts = ft.split_file(path, out, by="time", bad_rows="skip")
    lines = {file: file.read_bytes() for file in counts}
    assert sum(counts.values()) == len(ft.load(path, bad_rows="skip").bad_rows) + sum(
        len(list(ft.load(path, bad_rows="skip").rows(name))) for name in ("train", "valid", "test", "background")
    ), f"{counts} are other rows than those of the file"
    assert all(lines.values()) or not all(counts.values()), "a file of rows is empty"


def read_times(content: bytes, folder: Path) -> None:
    """Read times in a form and with a granularity, and build the timeline that they make."""
    if len(content) < 2:
        return
    form, granularity = FORMS[content[0] % len(FORMS)], GRANULARITIES[content[1] % len(GRANULARITIES)]
    texts = content[2:].decode("utf-8", "replace").split("\n")
    moments, _ = read_dates(texts, form, granularity)
    misread = Misreadings([text for text, kind in zip(texts, moments.precision.tolist(), strict=True) if not kind])
    for text in misread.texts:
        assert misread.reason(text)
    unit = granularity if granularity in UNITS else "day"
    ticks = ticks_of(moments, INTEGER if INTEGER in moments.precision.tolist() else unit)
    assert len(ticks) == len(texts)


def read_form(content: bytes, folder: Path) -> None:
    """Read a form of dates that somebody has made up, and a date in it."""
    form, _, text = content.decode("utf-8", "replace").partition("\n")
    ft.load(written(f"a\tb\tc\t{text}\n".encode(), folder, "form.tsv"), date_format=form)


def ask_timeline(content: bytes, folder: Path, timeline: Timeline) -> None:
    """Look a time up, as questions do."""
    text = content.decode("utf-8", "replace")
    step = timeline.step(text, beyond=True)
    assert timeline.step(text, beyond=True) == step


def restrict(content: bytes, folder: Path, graph: ft.Graph) -> None:
    """Restrict answers by attributes."""
    kind, _, where = content.decode("utf-8", "replace").partition("\n")
    allowed = Restriction.of(kind.split(";"), where).allowed(graph.attributes, graph.entities)
    assert allowed.any()


def search(content: bytes, folder: Path, graph: ft.Graph) -> None:
    """Search names."""
    assert len(graph.search(content.decode("utf-8", "replace"))) <= 20


def read_names(file: str) -> Reader:
    """Return a reader of names that lie beside a graph."""

    def read(content: bytes, folder: Path) -> None:
        written(b"0\t0\t1\t2024-01-01\n1\t0\t2\t2024-01-02\n", folder, "ids.tsv")
        written(content, folder, file)
        try:
            ft.load(folder / "ids.tsv", bad_rows="skip")
        finally:
            (folder / file).unlink()

    return read


def read_attributes(suffix: str) -> Reader:
    """Return a reader of attributes of entities."""

    def read(content: bytes, folder: Path) -> None:
        written(table(ROWS, "\t"), folder, "described.tsv")
        ft.load(folder / "described.tsv", entities=str(written(content, folder, f"about{suffix}")), bad_rows="skip")

    return read


def read_update(suffix: str, timeline: Timeline) -> Reader:
    """Return a reader of new events."""

    def read(content: bytes, folder: Path) -> None:
        found = read_events(written(content, folder, f"new{suffix}"), timeline, {}, None)
        assert len(found) > 0, "an update without events"

    return read


def data_targets() -> list[Target]:
    """Return the readers of data."""
    whole = columns_of(ROWS)
    described = pa.table({"name": ["Ann", "Zürich"], "type": ["person", "city"], "country": ["A;B", None]})
    about = "name\ttype\tcountry\taliases\nAnn\tperson\tA;B\tAnnie\nZürich\tcity\t\t\n"
    graph = ft.load(columns_of(ROWS), entities=described, valid_share=0, test_share=0)
    times = ["2024-01-31", "2014-W05", "31/01/2024", "7-Feb-25", "20150131", "195#", "-0044-03-15", *ODD_TIMES]
    updates: list[Reader] = [read_update(suffix, graph.timeline) for suffix in (".tsv", ".jsonl", ".csv")]
    tsv, csv = table(ROWS, "\t"), table(ROWS, ",", header=True)
    return [
        Target("tables: tsv", (tsv, table(ROWS, "\t", header=True)), read_rows(".tsv", "\t"), 3),
        Target("tables: csv", (csv, b'"A ""b""",says,"c,d",2024\n'), read_rows(".csv", ","), 3),
        Target(
            "tables: any text",
            (tsv, csv, table(INTERVALS, ";"), table(ROWS, " ")),
            by_first_byte([load(".txt"), load(".csv", bad_rows="skip"), load("", regular=False, granularity="bins:2")]),
            2,
        ),
        Target("tables: jsonl", (json_lines(ROWS),), read_json_lines, 3),
        Target(
            "tables: packed",
            chosen([[pack(tsv)] for pack in PACKED.values()]),
            by_first_byte([load(f".tsv{suffix}", bad_rows="skip") for suffix in PACKED]),
        ),
        Target(
            "tables: parquet and arrow",
            chosen([[parquet(whole)], [feather(whole)]]),
            by_first_byte([load(".parquet", bad_rows="skip"), load(".arrow", bad_rows="skip")]),
        ),
        Target("tables: split", (csv, tsv), split),
        Target("times", tuple(bytes([i % 16, i % 9]) + text.encode() for i, text in enumerate(times)), read_times, 4),
        Target(
            "times: forms", (b"%d/%m/%Y\n31/01/2024", b"unix-ms\n1700000000000", b"%H:%M %Y\n10:20 2024"), read_form
        ),
        Target(
            "times: of questions",
            tuple(text.encode() for text in times),
            partial(ask_timeline, timeline=graph.timeline),
            4,
        ),
        Target(
            "names",
            chosen([[b"3\nAnn\t0\nBob\t1\nCy\t2\n"], [b"visits\t0\n"]]),
            by_first_byte([read_names(file) for file in ID_FILES]),
        ),
        Target("names: searched", (b"zurich", "bob l\u00e9e".encode()), partial(search, graph=graph)),
        Target(
            "attributes",
            chosen(
                [
                    [about.encode()],
                    [about.replace("\t", ",").encode()],
                    [b'{"name": "Ann", "type": ["person"], "country": null}\n'],
                    [parquet(described)],
                ]
            ),
            by_first_byte([read_attributes(suffix) for suffix in (".tsv", ".csv", ".jsonl", ".parquet")]),
            2,
        ),
        Target("attributes: restrictions", (b"city;person\ncountry=A", b"\ntype=x"), partial(restrict, graph=graph), 2),
        Target("new events", chosen([[tsv], [json_lines(ROWS)], [csv]]), by_first_byte(updates), 2),
    ]
