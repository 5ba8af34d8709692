"""Small files that unpack to gigabytes: they are refused, before or while they are read, in little memory."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import foretime as ft
from foretime.data.formats import unpacking
from foretime.data.formats.unpacking import CELL_BYTES, read_arrow, read_parquet
from foretime.files import UnfitFileError
from foretime.rules.table import Rules

ROLES = ("subject", "predicate", "object", "time")
ROOM = 1 << 26
"""In place of 1 GiB, so that the bombs are quickly made."""
LONG = 1 << 16
"""Characters of a name that is written once, and is the name of every row."""


def same_name(rows: int, length: int = 1) -> pa.Array:
    """Rows of one name, which is there once."""
    return pa.DictionaryArray.from_arrays(np.zeros(rows, dtype=np.int32), pa.array(["x" * length]))


def one_list(length: int) -> pa.Array:
    return pa.ListArray.from_arrays([0, length], pa.array(np.zeros(length, dtype=np.int8)))


def table_of(column: pa.Array) -> pa.Table:
    return pa.table(dict.fromkeys(ROLES, column))


def write(path: Path, table: pa.Table) -> Path:
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, compression="zstd")
    else:
        pyarrow.feather.write_feather(table, path, compression="zstd")
    return path


BOMBS: dict[str, Callable[[], pa.Table]] = {
    "many rows": lambda: table_of(pa.array(np.zeros(ROOM // CELL_BYTES // 2, dtype=np.int32))),
    "a long name in every row": lambda: table_of(same_name(2_000, LONG)),
    "a long list in a row": lambda: pa.table({"name": one_list(ROOM // CELL_BYTES + 1)}),
    "rows without a value": lambda: pa.table({"name": pa.nulls(ROOM // CELL_BYTES + 1)}),
}
UNPACKS = "unpacks to more than 64 MiB; if it is the right file, write it as text, or in several files"


@pytest.fixture(autouse=True)
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unpacking.LEAST_ROOM == 1 << 30
    monkeypatch.setattr(unpacking, "LEAST_ROOM", ROOM)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_file_that_unpacks_to_far_more_is_refused(tmp_path: Path, bomb: str, suffix: str):
    path = write(tmp_path / f"bomb{suffix}", BOMBS[bomb]())
    assert path.stat().st_size < ROOM / 100
    before = pa.total_allocated_bytes()
    with pytest.raises(ft.DataError, match=UNPACKS):
        ft.load(path)
    assert pa.total_allocated_bytes() - before < ROOM // 10
    (tmp_path / "events.tsv").write_text("a\tb\tc\t2024-01-01\n", encoding="utf-8")
    with pytest.raises(ft.DataError, match=UNPACKS):
        ft.load(tmp_path / "events.tsv", entities=str(path))


def test_rules_and_saved_attributes_are_bounded_too(tmp_path: Path):
    empty = Rules.of([]).to_frame("arrow")
    columns = {name: same_name(2_000, LONG) if name == "text" else pa.nulls(2_000) for name in empty.column_names}
    with pytest.raises(ft.DataError, match=UNPACKS):
        ft.read_rules(write(tmp_path / "rules.parquet", pa.table(columns)))
    events = pa.table({"subject": ["a"], "predicate": ["b"], "object": ["c"], "time": ["2024-01-01"]})
    graph = ft.load(events, valid_share=0, test_share=0, entities=pa.table({"name": ["a"], "type": ["t"]}))
    graph.save(tmp_path / "saved")
    write(tmp_path / "saved" / "attributes.parquet", pa.table({"name": same_name(2_000, LONG)}))
    with pytest.raises(ft.RunError, match="unpacks to more than"):
        ft.load(tmp_path / "saved")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_file_that_is_as_large_as_its_content_is_read_as_it_was_written(tmp_path: Path, suffix: str):
    table = pa.table(
        {
            "text": pa.array(["a", None, "b", "a"]),
            "category": pa.array(["x", "y", None, "x"]).dictionary_encode(),
            "large": pa.array(["a", "b", "c", None], pa.large_string()),
            "list": pa.array([["a", "b"], None, [], ["c"]]),
            "number": pa.array([1, 2, None, 4]),
            "day": pa.array([1, 2, 3, 4], pa.date32()),
            "struct": pa.array([{"a": "x"}, None, {"a": None}, {"a": "y"}]),
        }
    )
    path = tmp_path / f"whole{suffix}"
    if suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=3)
    else:
        pyarrow.feather.write_feather(table, path, chunksize=3)
    found = (read_parquet if suffix == ".parquet" else read_arrow)(path)
    assert found.to_pylist() == table.to_pylist()
    assert found.cast(table.schema).equals(table)


def test_room_goes_with_the_size_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write(tmp_path / "plain.parquet", table_of(pa.array([str(number) for number in range(3_000)])))
    monkeypatch.setattr(unpacking, "LEAST_ROOM", 1)
    assert read_parquet(path).num_rows == 3_000
    monkeypatch.setattr(unpacking, "TIMES_THE_FILE", 1)
    with pytest.raises(UnfitFileError, match="unpacks to more than"):
        read_parquet(path)


def test_what_a_message_says_of_its_size_is_looked_at_before_it_is_unpacked(tmp_path: Path):
    """A buffer that claims terabytes, as its first eight bytes do, would have them allocated."""
    path = write(tmp_path / "claims.arrow", table_of(pa.array(["name " * 500])))
    content, size = path.read_bytes(), struct.pack("<q", 2_500)
    assert content.count(size) >= 4
    path.write_bytes(content.replace(size, struct.pack("<q", 1 << 42)))
    with pytest.raises(ft.DataError, match=UNPACKS):
        ft.load(path)
