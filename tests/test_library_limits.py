"""Limits that are not ours but that we rely on: each of these holds in the versions that are installed.

Those of the service have tests of their own, in tests/service/test_service_limits.py and test_wire.py, those of what is
unpacked in tests/data/test_unpacking.py, and those of the headers of tensors in tests/runs/test_hostile_files.py.
"""

import lzma
import os
import socket
import struct
import zlib
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
import safetensors
import safetensors.numpy

import foretime as ft
from foretime.data.databases import postgresql
from foretime.data.formats.streams import unpacked
from foretime.data.linked.query_results import result_rows
from foretime.data.linked.statements import LeftOut
from foretime.data.linked.wikidata_dump import dump_lines
from foretime.files import parse_json

DEEP = 100_000
MOST_OF_A_HEADER = 100_000_000
"""Bytes of the header of a file of tensors, above which safetensors does not read it."""
ROW = b"a\tb\tc\t2020-01-01\n"


@pytest.mark.parametrize("text", [b"[" * DEEP, b'{"a":' * DEEP, b"[" * DEEP + b"]" * DEEP])
def test_orjson_refuses_what_is_nested_deeply(text: bytes):
    (line,) = dump_lines(text)
    assert isinstance(line.found, LeftOut)
    with pytest.raises(ft.DataError, match=r"no result of a query in JSON: .*; fetch it again"):
        result_rows(BytesIO(text), ".json", "result.json")


def test_python_reads_no_number_of_any_length():
    assert parse_json("1" * 4_000) == int("1" * 4_000)
    with pytest.raises(ValueError, match="digits"):
        parse_json("1" * DEEP)


def varint(number: int) -> bytes:
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


STRUCT, LIST, TEXT = b"\x1c", b"\x19", b"\x68"
FOOTERS = {
    "a list of two thousand million columns": b"\x15\x02" + LIST + b"\xfc" + varint(2**31 - 1),
    "a text of two gigabytes": b"\x15\x02" + TEXT + varint(2**31 - 1),
    "structs within structs": STRUCT * DEEP,
    "lists within lists": LIST * DEEP,
}


@pytest.mark.parametrize("what", FOOTERS)
def test_the_footer_of_a_parquet_file_takes_no_memory_for_what_it_claims(tmp_path: Path, what: str):
    file = tmp_path / "events.parquet"
    file.write_bytes(b"PAR1" + FOOTERS[what] + struct.pack("<I", len(FOOTERS[what])) + b"PAR1")
    before = pa.total_allocated_bytes()
    with pytest.raises(OSError, match="thrift"):
        pyarrow.parquet.ParquetFile(file)
    assert pa.total_allocated_bytes() - before < 1 << 20
    with pytest.raises(ft.DataError, match=r"events\.parquet: cannot be read"):
        ft.load(file)


def test_a_footer_that_is_longer_than_its_file_is_refused(tmp_path: Path):
    file = tmp_path / "events.parquet"
    file.write_bytes(b"PAR1" + bytes(20) + struct.pack("<I", 2**31) + b"PAR1")
    with pytest.raises(ft.DataError, match=r"events\.parquet: cannot be read"):
        ft.load(file)


def test_a_header_of_tensors_has_an_end(tmp_path: Path):
    file = tmp_path / "facts.safetensors"
    file.write_bytes(struct.pack("<Q", MOST_OF_A_HEADER + 1))
    os.truncate(file, MOST_OF_A_HEADER + 100)  # the disk keeps nothing of it
    with pytest.raises(safetensors.SafetensorError, match="header too large"):
        safetensors.numpy.load_file(file)


def test_a_window_of_zstandard_has_a_bound():
    window = 31 - 10 << 3  # of two gigabytes
    frame = struct.pack("<I", 0xFD2FB528) + bytes([0, window]) + b"\x01\x00\x00"
    with pytest.raises(OSError, match=r"(?i)zstd|memory"):
        unpacked(BytesIO(frame), Path("events.tsv.zst")).read()


def test_a_dictionary_of_xz_takes_memory_only_for_what_comes():
    packed = bytearray(lzma.compress(ROW, preset=0))
    length = (packed[12] + 1) * 4
    block = packed[12 : 12 + length]
    block[block.index(0x21) + 2] = 40  # four gigabytes
    block[-4:] = struct.pack("<I", zlib.crc32(bytes(block[:-4])))
    packed[12 : 12 + length] = block
    before = resident()
    assert unpacked(BytesIO(bytes(packed)), Path("events.tsv.xz")).read() == ROW
    assert resident() - before < 1 << 28


def resident() -> int:
    """Bytes that this process has held at the most."""
    resource = pytest.importorskip("resource")
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) << 10


def test_a_server_of_databases_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("adbc_driver_postgresql")
    monkeypatch.setattr(postgresql, "SECONDS_TO_CONNECT", 2)  # the least that its library takes
    monkeypatch.delenv("PGCONNECT_TIMEOUT", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/nothing"
        with pytest.raises(ft.DataError, match="timeout"):
            ft.load(address, table="events")
