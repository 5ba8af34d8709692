"""RE-Net's files and TGB's edge lists: `load` reads them too, and an import says the same."""

from collections.abc import Callable
from pathlib import Path

import pytest

import foretime
from foretime.errors import DataError

Write = Callable[[str, str | bytes], Path]


@pytest.mark.parametrize("constant", ["", "\t0", "\t-1"])
def test_renets_fifth_column_is_no_end_of_an_interval(write: Write, tmp_path: Path, constant: str):
    for split, step in (("train", 1), ("valid", 2), ("test", 3)):
        write(f"raw/{split}.txt", "".join(f"{i}\t0\t1\t{step}{constant}\n" for i in range(3)))
    write("raw/entity2id.txt", "Ada\t0\nBo\t1\nCy\t2\n")
    write("raw/relation2id.txt", "meets\t0\n")
    write("raw/stat.txt", "3\t1\t9\n")
    report = foretime.import_renet(tmp_path / "raw", tmp_path / "graph")
    assert report.read == report.kept == 9
    graph = foretime.load(tmp_path / "graph")
    assert not graph.has_intervals
    assert [len(graph.facts(split)) for split in ("train", "valid", "test")] == [3, 3, 3], "splits stay as they are"
    assert list(graph.rows("valid"))[2] == ("Cy", "meets", "Bo", "2")
    ids = foretime.import_renet(tmp_path / "raw", tmp_path / "graph", names="as-is")
    assert next(foretime.load(ids.folder).rows("train")) == ("0", "0", "1", "1")


def test_bad_rows_of_renets_files_are_dropped_with_a_reason(write: Write, tmp_path: Path):
    write("raw/train.txt", "0 0 1 1 0\n0 0 1 1 7\n0 0 1 soon 0\n0 0 9 1 0\n0 0\n")
    write("raw/entity2id.txt", "Ada\t0\nBo\t1\n")
    report = foretime.import_renet(tmp_path / "raw", tmp_path / "graph")
    assert {each.reason: each.rows for each in report.dropped} == {
        "a fifth column that is neither 0 nor -1: an interval": 1,
        "the time is no integer": 1,
        "the object has no name": 1,
        "not 5 columns": 1,
    }
    with pytest.raises(DataError, match="expected 4 or 5 columns of ids, found 2"):
        foretime.import_renet(write("two.txt", "0 1\n"), tmp_path / "two")


@pytest.mark.parametrize("time", ["timestamp", "ts"])
def test_an_edge_list_is_read_by_its_header(imported, time: str):
    found = imported("tgb", "a.csv", f"{time},tail,head,relation_type\n7,b,a,p\n7,b,a,p\nx,b,a,p\n8,b,,p\n")
    assert found.facts == [("a", "p", "b", "7")]
    assert found.report.merged == 1
    assert found.dropped == {"the time is no integer": 1, "the subject is empty": 1}
