"""Frames and files of odd types: each is read for what it means, or refused in words, and never ends in a traceback."""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import uuid
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest
from test_reading import ROWS, WHOLE, read, rows_of

import foretime
from foretime.data.graph import read_graph
from foretime.errors import DataError

COLUMNS = dict(zip(("subject", "relation", "object", "time"), map(list, zip(*ROWS, strict=True)), strict=True))
FACTS = pa.table(COLUMNS)
ID = "12345678-1234-5678-1234-567812345678"


@pytest.mark.parametrize(
    "frame",
    [
        duckdb.sql("from FACTS"),
        FACTS.to_reader(),
        FACTS.to_batches()[0],
        pa.dataset.dataset(FACTS),
        pa.dataset.dataset(FACTS).scanner(),
        pl.LazyFrame(COLUMNS).collect(),
        pl.DataFrame(COLUMNS).lazy().collect(engine="streaming"),
    ],
    ids=["relation of DuckDB", "reader", "batch", "dataset", "scanner", "collected", "streamed"],
)
def test_whatever_streams_arrow_is_a_frame(frame: Any) -> None:
    assert rows_of(read_graph(frame, WHOLE)) == ROWS


def test_frames_of_duckdb_by_split() -> None:
    relation = duckdb.sql("from FACTS")
    graph = foretime.load({"train": relation.limit(1), "valid": relation.limit(1, 1), "test": relation.limit(1, 2)})
    assert [len(graph.facts(split)) for split in ("train", "valid", "test")] == [1, 1, 1]


def test_a_stream_that_breaks_is_refused_in_words() -> None:
    def batches() -> Any:
        yield FACTS.to_batches()[0]
        raise RuntimeError("the cable was cut")

    reader = pa.RecordBatchReader.from_batches(FACTS.schema, batches())
    with pytest.raises(DataError, match=r"the frame: cannot be read as a table: .*the cable was cut"):
        foretime.load(reader)
    relation = duckdb.sql("select subject::date as subject, relation, object, time from FACTS")
    with pytest.raises(DataError, match="the frame: cannot be read as a table: Conversion Error"):
        foretime.load(relation)
    used = FACTS.to_reader()
    used.read_all()
    with pytest.raises(DataError, match=r"the frame: (the table has no rows|cannot be read)"):
        foretime.load(used)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (decimal.Decimal(7), pa.decimal128(10, 0), "7"),
        (decimal.Decimal(-(10**50)), pa.decimal256(60, 0), f"-1{'0' * 50}"),
        (uuid.UUID(ID).bytes, pa.uuid(), ID),
        (2**64 - 1, pa.uint64(), str(2**64 - 1)),
        ("é\u200b ", pa.string_view(), "é\u200b "),
        ("x", pa.dictionary(pa.int8(), pa.large_string()), "x"),
        (7, pa.dictionary(pa.uint16(), pa.int64()), "7"),
        (dt.date(2014, 1, 2), pa.date64(), "2014-01-02"),
    ],
)
def test_types_that_are_names(tmp_path: Path, value: Any, kind: pa.DataType, text: str) -> None:
    storage = kind.storage_type if isinstance(kind, pa.UuidType) else kind
    plain = pa.array([value], storage.value_type if pa.types.is_dictionary(storage) else storage)
    column = plain.dictionary_encode() if pa.types.is_dictionary(storage) else plain
    column = pa.ExtensionArray.from_storage(kind, column) if isinstance(kind, pa.UuidType) else column
    table = pa.table({"subject": column, "relation": ["p"], "object": ["o"], "time": [1]})
    assert read(table) == [(text, "p", "o", "1")]


@pytest.mark.parametrize(
    ("values", "kind", "name"),
    [
        ([True], pa.bool_(), "bool"),
        ([decimal.Decimal("1.50")], pa.decimal128(5, 2), r"decimal128\(5, 2\)"),
        ([b"x"], pa.binary(), "binary"),
        ([b"x"], pa.binary_view(), "binary_view"),
        ([dt.timedelta(1)], pa.duration("s"), r"duration\[s\]"),
        ([dt.time(1)], pa.time64("us"), r"time64\[us\]"),
        ([[1]], pa.list_(pa.int8()), "list<"),
        ([[("a", 1)]], pa.map_(pa.string(), pa.int8()), "map<"),
        ([{"a": 1}], pa.struct({"a": pa.int8()}), "struct<"),
    ],
)
def test_types_that_are_neither_names_nor_times_are_refused(values: Any, kind: pa.DataType, name: str) -> None:
    column = (
        pa.array(values, kind.value_type).dictionary_encode()
        if pa.types.is_dictionary(kind)
        else pa.array(values, kind)
    )
    for role in ("subject", "time"):
        table = pa.table({"subject": ["s"], "relation": ["p"], "object": ["o"], "time": [1]} | {role: column})
        with pytest.raises(DataError, match=rf"the frame: column '{role}' is of type {name}.*; expected text"):
            foretime.load(table)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (2**31 - 1, pa.date32()),
        (12_000_000, pa.date32()),
        (2**62, pa.timestamp("us")),
        (-(2**62), pa.timestamp("ms", "UTC")),
        (2**55, pa.timestamp("s")),
    ],
)
def test_a_date_that_no_calendar_has_is_a_bad_row(tmp_path: Path, value: int, kind: pa.DataType) -> None:
    times = pa.array([0, value], pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
    table = pa.table({"subject": ["a", "b"], "relation": ["p", "p"], "object": ["b", "a"], "time": times})
    if kind == pa.date32():
        pa.parquet.write_table(table, tmp_path / "a.parquet")
    for source in (table, *tmp_path.glob("*.parquet")):
        with pytest.raises(DataError, match=r"row 2: the time '(infinity|a date beyond the year 32767)' is not a time"):
            foretime.load(source)


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    broken = pa.array([b"\xe9", b"b", b"c"]).view(pa.string())
    table = pa.table(COLUMNS | {"object": broken})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    for source in (table, tmp_path / "a.parquet"):
        with pytest.raises(DataError, match="column 'object' has text that is not valid UTF-8; write it again"):
            foretime.load(source)
    beside = pa.table(COLUMNS | {"more": broken})
    assert read(beside) == ROWS, "a column beside may hold anything"


def test_two_columns_of_one_name_are_no_traceback() -> None:
    names = ["subject", "relation", "object", "time", "time"]
    table = pa.Table.from_arrays([FACTS.column(place) for place in (0, 1, 2, 3, 3)], names)
    columns = {"subject": 1, "predicate": 2, "object": 3, "time": 5}
    assert read(table, columns=columns) == ROWS, "numbers tell them apart"
    with contextlib.suppress(DataError):  # or refused, but in words
        foretime.load(table)


@pytest.mark.parametrize("kind", [pa.float16(), pa.float64(), pa.dictionary(pa.int8(), pa.float64())])
def test_numbers_with_a_fraction_are_no_names(kind: pa.DataType) -> None:
    value = (
        pa.array([2.0], kind.value_type).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array([2.0], kind)
    )
    with pytest.raises(DataError, match=r"column 'subject' is of type .*; expected text"):
        foretime.load(pa.table({"subject": value, "relation": ["p"], "object": ["o"], "time": [1]}))


@pytest.mark.parametrize("kind", ["texts", "large texts", "categories"])
def test_texts_of_a_damaged_file_that_lie_outside_of_it_are_refused(tmp_path: Path, kind: str) -> None:
    """What the file says of their places is nowhere checked by its reader: the process would end."""
    types = {
        "texts": pa.string(),
        "large texts": pa.large_string(),
        "categories": pa.dictionary(pa.int32(), pa.string()),
    }
    names = pa.array(["Ann", "Bobby", "Cy", "Ann"]).cast(types[kind])
    others = {name: pa.array(["x"] * 4) for name in ("predicate", "object")}
    table = pa.table({"subject": names, **others, "time": pa.array(["2020-01-01"] * 4)})
    file = tmp_path / "events.arrow"
    pyarrow.feather.write_feather(table, file, compression="uncompressed")
    assert len(foretime.load(file).facts()) == 4
    whole, places = file.read_bytes(), names.indices.to_numpy() if kind == "categories" else None
    wide = "<i8" if kind == "large texts" else "<i4"
    found = np.asarray([0, 3, 8, 10, 13] if places is None else places, dtype=wide).tobytes()
    at = whole.index(found)
    for value in (2**30, -5, 1_000):
        changed = np.frombuffer(found, dtype=wide).copy()
        changed[1] = value
        file.write_bytes(whole[:at] + changed.tobytes() + whole[at + len(found) :])
        with pytest.raises(DataError, match=r"events\.arrow: cannot be read as Arrow: Column 0: In chunk 0: Invalid: "):
            foretime.load(file)


def test_a_header_that_is_no_utf8_stands_in_the_files_of_a_split_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    header = b"subject,predicate,object,time,caf\xe9\n"
    file.write_bytes(header + b"".join(b"a,p,b,2020-01-%02d,x\n" % day for day in range(1, 21)))
    for path in foretime.split_file(file, tmp_path / "out"):
        assert path.read_bytes().startswith(header)
