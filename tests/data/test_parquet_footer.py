"""The footer of a Parquet file: its sizes are those that the library reads, and no damage of it ends the process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from foretime.data.formats.parquet_footer import GroupSize, group_sizes
from foretime.data.formats.unpacking import read_parquet

TABLES = {
    "texts": pa.table({name: ["a", "b", None, "a"] * 5 for name in ("subject", "predicate", "object", "time")}),
    "lists": pa.table({"name": ["a", "b"], "aliases": [["c", "d"], []], "about": [{"x": 1}, None]}),
    "numbers": pa.table({"id": [1, 2, 3], "share": [0.5, None, 1.0], "is": [True, False, None]}),
    "no rows": pa.table({"name": pa.array([], pa.string())}),
    "no columns": pa.table({}),
}


@pytest.fixture(params=TABLES)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "table.parquet"
    kept = {b"note": b"x" * 300, b"other": b""}
    pyarrow.parquet.write_table(TABLES[request.param].replace_schema_metadata(kept), path, row_group_size=7)
    return path


def test_sizes_are_those_of_the_library(file: Path) -> None:
    about = pyarrow.parquet.read_metadata(file)
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    columns = [[group.column(place) for place in range(group.num_columns)] for group in groups]
    assert list(group_sizes(file)) == [
        GroupSize(group.total_byte_size, tuple((one.num_values, one.total_uncompressed_size) for one in own))
        for group, own in zip(groups, columns, strict=True)
    ]


def test_no_damage_of_a_footer_ends_the_process(file: Path) -> None:
    whole = file.read_bytes()
    footer = 8 + int.from_bytes(whole[-8:-4], "little")
    for place in range(len(whole) - footer, len(whole) - 8):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        with suppress(pa.ArrowException, OSError):
            read_parquet(file)
    file.write_bytes(whole)
    assert read_parquet(file).num_rows >= 0


@pytest.mark.parametrize("footer", [b"\x19" * 1_000, b"\x19\xfc\xff\xff\xff\x7f", b"\x49\x1c\x26\x01\x00\x00", b"\x4f"])
def test_a_footer_that_is_none_is_told(tmp_path: Path, footer: bytes) -> None:
    path = tmp_path / "none.parquet"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(pa.ArrowInvalid, match="its footer is"):
        list(group_sizes(path))
