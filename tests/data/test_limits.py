"""Input that would take all memory, or never ends, or has nothing in it, is refused with its place."""

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from foretime.data.formats.streams import LONGEST_LINE, LONGEST_ROW, BoundedLines
from foretime.data.graph import load
from foretime.data.importers.inputs import InputFile, blocks
from foretime.errors import ConfigError, DataError

ROW = "a\tb\tc\t2020-01-01\n"
MEASURED = """
import resource, sys, foretime
foretime.load(sys.argv[1] + "/good.tsv")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    foretime.load(sys.argv[1] + "/" + sys.argv[2])
except foretime.DataError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("begin", ["", 'a,b,c,2020-01-01\n"'], ids=["plain", "in quotes"])
def test_a_bomb_of_one_line_is_refused_while_memory_stays_small(tmp_path: Path, begin: str):
    (tmp_path / "good.tsv").write_text(ROW * 3)
    name = "bomb.csv.gz" if begin else "bomb.tsv.gz"
    with gzip.open(tmp_path / name, "wb", 9) as stream:
        stream.write(begin.encode())
        for _ in range(512):
            stream.write(b"a" * (1 << 20))
    assert (tmp_path / name).stat().st_size < 1 << 20
    words = [sys.executable, "-c", MEASURED, str(tmp_path), name]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    error, grown = done.stdout.splitlines()
    assert error.startswith(f"{tmp_path / name}:{begin.count(chr(10)) + 1}: a line of more than 4 MiB; is it a table")
    assert int(grown) < 200 * 1024  # kilobytes, where the line has half a gigabyte


def test_a_long_row_is_read_and_one_that_is_too_long_is_not(tmp_path: Path):
    file = tmp_path / "events.tsv"
    file.write_text(ROW * 3 + "a" * (LONGEST_ROW - 20) + "\tb\tc\t2020-01-01\n")
    assert len(load(file).entities) == 3
    file.write_text(ROW * 3 + "a" * LONGEST_ROW + "\tb\tc\n" + ROW)
    with pytest.raises(DataError, match=r"events\.tsv:4: a line of more than 4 MiB"):
        load(file)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("chunk", [1, 3, 5])
def test_lines_are_measured_whatever_their_ends_and_however_they_are_read(end: str, chunk: int):
    def read(text: str) -> bytes:
        stream = BoundedLines(io.BytesIO(text.encode()), "f", 5)
        return b"".join(iter(lambda: stream.read(chunk) or b"", b""))

    assert read(f"12345{end}1234{end}12345") == f"12345{end}1234{end}12345".encode()
    with pytest.raises(DataError, match=r"^f:\d: a line of more than 5 bytes"):
        read(f"1234{end}123456{end}1")


def test_a_line_of_a_dump_may_be_of_many_megabytes_and_not_without_end(tmp_path: Path):
    file = tmp_path / "dump.json.gz"
    with gzip.open(file, "wb", 1) as stream:
        stream.write(b"[\n" + b"x" * (10 << 20) + b"\n]\n")
    assert sum(len(block.content) for block in blocks(InputFile(file), 1 << 22)) == (10 << 20) + 5
    with gzip.open(file, "wb", 1) as stream:
        stream.write(b"[\n" + b"x" * (LONGEST_LINE + (1 << 22)))
    with pytest.raises(DataError, match=r"dump\.json\.gz:2: a line of more than 64 MiB; is it of this source"):
        list(blocks(InputFile(file), 1 << 20))


@pytest.mark.parametrize("name", ["e.tsv", "e.tsv.gz", "e.jsonl", "e.parquet", "e.arrow"])
def test_a_pipe_is_no_table(tmp_path: Path, name: str):
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match=r"cannot be read: it is a named pipe, not a file; name a file"):
        load(tmp_path / name)


def test_a_pipe_beside_the_data_is_not_waited_for(tmp_path: Path):
    (tmp_path / "events.tsv").write_text(ROW * 3)
    for name in ("entity2id.txt", "entities.tsv"):
        os.mkfifo(tmp_path / name)
    assert len(load(tmp_path / "events.tsv").entities) == 2
    with pytest.raises(DataError, match="a named pipe"):
        load(tmp_path / "events.tsv", entities=tmp_path / "entities.tsv")


@pytest.mark.parametrize("name", ["e.tsv", "e.csv", "e.txt", "e.jsonl"])
@pytest.mark.parametrize("content", [b"\xef\xbb\xbf\n", b"\n" * 70_000, b""], ids=["a mark", "blank lines", "nothing"])
def test_a_file_without_a_row_says_so(tmp_path: Path, name: str, content: bytes):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=r"the file is empty; expected lines|no facts; expected lines"):
        load(tmp_path / name)


def test_many_blank_lines_before_the_first_row_are_left_out(tmp_path: Path):
    (tmp_path / "e.tsv").write_text("\n" * 70_000 + ROW * 3)
    assert len(load(tmp_path / "e.tsv").train) == 1


@pytest.mark.parametrize("blanks", range(6))
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_line_of_blanks_is_no_row_where_blanks_separate(tmp_path: Path, blanks: int, end: str):
    rows = "a b c 2020-01-01\nb c d 2020-01-02\nc d a 2020-01-03\n"
    (tmp_path / "e.txt").write_text(rows + " " * blanks + end)
    graph = load(tmp_path / "e.txt")
    assert sum(len(graph.facts(split)) for split in ("train", "valid", "test")) == 3


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_column_whose_name_is_no_utf8_is_an_error(tmp_path: Path, form: str):
    table = pa.table({"subject": ["a"], "predicate": ["p"], "object": ["b"], "time": ["2020"], "odd1": [1]})
    file = tmp_path / f"e.{form}"
    if form == "parquet":
        pyarrow.parquet.write_table(table, file, store_schema=False)
    else:
        pyarrow.feather.write_feather(table, file, compression="uncompressed")
    file.write_bytes(file.read_bytes().replace(b"odd1", b"o\xffd1"))
    with pytest.raises(DataError, match="the name of a column is not valid UTF-8"):
        load(file)


def test_a_number_of_bins_of_many_digits_is_refused(tmp_path: Path):
    (tmp_path / "e.tsv").write_text(ROW * 3)
    with pytest.raises(ConfigError, match=r"granularity 'bins:9+': write the number of bins"):
        load(tmp_path / "e.tsv", granularity="bins:" + "9" * 5_000)
