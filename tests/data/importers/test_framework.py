"""What all importers share: finding and unpacking files, merging, the folder and the report."""

import gzip
import io
import json
import struct
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from samples import gdelt, icews, icews_file, tabbed

import foretime
from foretime import files
from foretime.data.importers import delimited, writing
from foretime.data.importers.base import Attribute, DroppedRow, ImportBatch, batch_of
from foretime.data.importers.collecting import AttributeCounts, Collector, FactTable
from foretime.data.importers.delimited import Layout, read_rows
from foretime.data.importers.inputs import InputFile, blocks
from foretime.errors import ConfigError, DataError


def rows_of_days(first: int, last: int) -> str:
    return tabbed(*(gdelt(SQLDATE=f"201501{day:02d}", Actor1Name=f"A{day}") for day in range(first, last + 1)))


def test_files_folders_and_archives_are_read_together(tmp_path: Path):
    folder = tmp_path / "raw" / "deep"
    folder.mkdir(parents=True)
    (tmp_path / "one.CSV").write_text(rows_of_days(1, 2))
    (folder / "two.CSV.gz").write_bytes(gzip.compress(rows_of_days(3, 4).encode()))
    with zipfile.ZipFile(folder / "three.export.CSV.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("three.export.CSV", rows_of_days(5, 6))
        archive.writestr("readme.pdf", "a codebook")
    (folder / "codebook.pdf").write_bytes(b"%PDF")
    (folder / ".hidden.CSV").write_text("not looked at")
    report = foretime.import_gdelt([tmp_path / "one.CSV", tmp_path / "raw"], tmp_path / "graph")
    assert list(report.files.values()) == [2, 2, 2]
    assert sorted(Path(name).name for name in report.skipped) == ["codebook.pdf", "readme.pdf"]
    assert any(name.endswith("three.export.CSV.zip/three.export.CSV") for name in report.files)
    assert len(foretime.load(tmp_path / "graph").facts()) == 6


def test_an_archive_in_an_archive_is_read_and_one_in_that_is_named(tmp_path: Path):
    inner, deep = tmp_path / "inner.zip", tmp_path / "deep.zip"
    with zipfile.ZipFile(deep, "w") as archive:
        archive.writestr("three.CSV", rows_of_days(3, 3))
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.CSV", rows_of_days(1, 2))
        archive.write(deep, "deep.zip")
    with zipfile.ZipFile(tmp_path / "outer.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(inner, "files/inner.zip")
        archive.writestr("two.CSV.gz", gzip.compress(rows_of_days(4, 6).encode()))
    report = foretime.import_gdelt(tmp_path / "outer.zip", tmp_path / "graph")
    outer = tmp_path / "outer.zip"
    assert report.files == {f"{outer}/files/inner.zip/one.CSV": 2, f"{outer}/two.CSV.gz": 3}
    assert report.skipped == (f"{outer}/files/inner.zip/deep.zip",)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("a.tar.gz", "is an archive; unpack it, or pack it as .zip"),
        ("a.XLSX", "is a workbook; save the sheet as CSV"),
        ("a.parquet", "foretime reads it as it is, with --columns"),
    ],
)
def test_what_is_no_file_of_events_is_refused_with_a_way_out(tmp_path: Path, name: str, remedy: str):
    (tmp_path / name).write_bytes(b"something")
    with pytest.raises(DataError, match=remedy):
        foretime.import_acled(tmp_path / name, tmp_path / "graph")


def test_a_folder_or_a_file_without_rows_is_said_to_have_none(imported, tmp_path: Path):
    (tmp_path / "nothing").mkdir()
    with pytest.raises(DataError, match="nothing: is empty; give the files that were downloaded"):
        foretime.import_icews(tmp_path / "nothing", tmp_path / "graph")
    with pytest.raises(DataError, match=r"a\.tab: no rows, but perhaps a header; is the download complete\?"):
        imported("icews", "a.tab", icews_file())
    beside = [tmp_path / "a.tab", tmp_path / "b.tab"]
    beside[1].write_text(icews_file(icews()))
    report = foretime.import_icews(beside, tmp_path / "graph")
    assert list(report.files.values()) == [0, 1], "a file that holds nothing is in the report too"


def test_a_damaged_archive_and_a_file_that_is_not_there_say_so(tmp_path: Path):
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(
        DataError, match=r"a\.zip: cannot be read: File is not a zip file; fetch it again, or unpack it"
    ):
        foretime.import_gdelt(tmp_path / "a.zip", tmp_path / "graph")
    with pytest.raises(DataError, match=r"b\.CSV: no such file or folder"):
        foretime.import_gdelt(tmp_path / "b.CSV", tmp_path / "graph")
    with pytest.raises(ConfigError, match="no files to import"):
        foretime.import_gdelt([], tmp_path / "graph")
    with pytest.raises(ConfigError, match=r"unknown source 'gdlt'; did you mean 'gdelt'\?"):
        foretime.import_events("gdlt", tmp_path / "a.zip", tmp_path / "graph")


def test_the_report_is_written_and_printed_with_a_line_for_each_reason(imported):
    rows = [gdelt(), gdelt(Actor1Name=""), gdelt(Actor1Name=""), ["1", "2"]]
    found = imported("gdelt", "a.CSV", tabbed(*rows))
    written = json.loads((found.folder / "import.json").read_text())
    assert written["read"] == 4
    assert written["dropped"][0] == {
        "reason": "actor 1 has no name",
        "rows": 2,
        "places": [f"{next(iter(found.report.files))}:{line}" for line in (2, 3)],
    }
    assert written["options"]["root_only"] is True
    assert written["sizes"] == {name: len(tabbed(*rows)) for name in written["files"]}
    text = str(found.report)
    assert text.count("actor 1 has no name") == 1, "one line for each kind"
    assert "dropped: not 61 columns" in text
    assert found.report.to_frame()["rows"].tolist() == [4, 1, 2, 1]


def test_progress_counts_the_bytes_of_the_disk_up_to_all_of_them(tmp_path: Path):
    (tmp_path / "a.CSV.gz").write_bytes(gzip.compress(rows_of_days(1, 28).encode()))
    (tmp_path / "b.CSV").write_text(rows_of_days(1, 3))
    seen: list[tuple[str, int, int]] = []
    files = [tmp_path / "a.CSV.gz", tmp_path / "b.CSV"]
    foretime.import_gdelt(files, tmp_path / "graph", progress=lambda *step: seen.append(step))
    total = sum(file.stat().st_size for file in files)
    assert seen[-1] == (str(files[1]), total, total)
    assert all(before[1] <= after[1] for before, after in pairwise(seen))


def test_only_an_earlier_import_is_replaced(imported, tmp_path: Path):
    imported("gdelt", "a.CSV", tabbed(gdelt()))
    assert len(imported("gdelt", "a.CSV", rows_of_days(1, 2)).facts) == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(DataError, match=r"mine: is there already and no import; give another folder"):
        foretime.import_gdelt(tmp_path / "a.CSV", tmp_path / "mine")


def test_an_import_that_fails_leaves_nothing_and_keeps_what_was_there(imported, tmp_path: Path):
    imported("gdelt", "a.CSV", tabbed(gdelt()))
    with pytest.raises(DataError, match="no row gives a fact of GDELT events\n  1 row: actor 1 has no name"):
        imported("gdelt", "b.CSV", tabbed(gdelt(Actor1Name="")))
    assert foretime.load(tmp_path / "graph").entities.names == ("JAPAN", "CHINA")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_names_lose_stray_blanks_and_are_composed(imported):
    rows = [icews(Source_Name=" Jose\u0301  Ruiz\u00a0"), icews(Source_Name="José Ruiz")]
    found = imported("icews", "a.tab", icews_file(*rows))
    assert [fact[0] for fact in found.facts] == ["José Ruiz"]
    assert found.report.merged == 1


def test_a_block_ends_with_a_line_and_lines_are_counted_on(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\na line that is longer than a block\nfour")
    found = list(blocks(InputFile(path), 5))
    assert b"".join(block.content for block in found) == path.read_bytes()
    assert [(block.line, block.content) for block in found][-1] == (4, b"four")


@pytest.mark.parametrize("size", [7, 64, 1 << 20])
def test_arrow_and_the_loop_read_the_same_rows(tmp_path: Path, monkeypatch, size: int):
    path = tmp_path / "a.tsv"
    path.write_bytes(b'\xef\xbb\xbfa\tb\tc\r\n1\t"2\t3\r\n\r\n4\t5\n6\t7\t8\t\t\n\t\t\n9\t\xff\t0\n \nx\ty\tz')
    layout = Layout(("a", "b", "c"), ("a", "c"), header=True)

    def read() -> list[tuple[int, str, tuple[str, ...]]]:
        monkeypatch.setattr(delimited, "blocks", lambda file: blocks(file, size))
        found = []
        for rows in read_rows(InputFile(path), layout):
            why = {each.line: each.reason for each in rows.dropped()}
            for row, line in enumerate(rows._lines.tolist()):
                texts = tuple([*rows[name].values, ""][rows[name].codes[row]] for name in layout.wanted)
                found.append((line, why.get(line, ""), texts))
        return sorted(found)

    fast = read()
    monkeypatch.setattr(delimited, "_split", lambda *_: None)
    assert read() == fast
    assert [(line, why) for line, why, _ in fast] == [
        (2, ""),
        (4, "not 3 columns"),
        (5, ""),
        (6, ""),
        (7, ""),
        (9, ""),
    ], "the broken byte is in a column that nobody wants"


def test_a_lone_carriage_return_ends_no_line(imported):
    found = imported("gdelt", "a.CSV", tabbed(gdelt(Actor1Name="JA\rPAN"), gdelt(Actor1Name="B")))
    assert [fact[0] for fact in found.facts] == ["JA PAN", "B"]


def test_facts_are_merged_over_many_batches_as_a_set_would_merge_them(monkeypatch):
    monkeypatch.setattr("foretime.data.importers.collecting._LEAST", 7)
    rows = [
        (f"s{i % 3}", f"p{i % 2}", f"o{i % 5}", f"2015-01-{i % 4 + 1:02d}", f"2015-02-{50 - i:02d}") for i in range(50)
    ]
    collector = Collector()
    for begin in range(0, 50, 5):
        facts = [
            (row, dict(zip(("subject", "predicate", "object", "time", "known"), texts, strict=True)))
            for row, texts in enumerate(rows[begin : begin + 5])
        ]
        collector.add(batch_of("a", 5, facts))
    earliest: dict[tuple[str, ...], str] = {}
    for *fact, known in rows:
        earliest[tuple(fact)] = min(earliest.get(tuple(fact), known), known)
    table = collector.facts()
    columns = [[texts[code] for code in codes.tolist()] for texts, codes in table.columns.values()]
    assert dict(zip(zip(*columns[:4], strict=True), columns[4], strict=True)) == earliest
    assert list(zip(*columns[:4], strict=True)) == list(earliest), "in the order in which they came"
    assert (collector.kept, collector.merged) == (len(earliest), 50 - len(earliest))


def test_intervals_have_ends_that_are_not_known():
    collector = Collector()
    facts = [(0, {"subject": "a", "predicate": "p", "object": "b", "start": "1986", "end": None})]
    collector.add(batch_of("a", 1, facts, [DroppedRow(2, "why", "text")], [Attribute("a", "type", "person")]))
    columns = collector.facts().columns
    assert list(columns) == ["subject", "predicate", "object", "start", "end"]
    assert columns["end"][1].tolist() == [-1]
    with pytest.raises(DataError, match="events and intervals in one import"):
        collector.add(batch_of("b", 1, [(0, {"subject": "a", "predicate": "p", "object": "b", "time": "1986"})]))


def test_a_source_that_loses_a_row_is_caught(tmp_path: Path, monkeypatch):
    (tmp_path / "a.csv").write_text("timestamp,head,tail,relation_type\n1,2,3,4\n")
    whole = ImportBatch.__init__

    def one_too_many(self, file, read, *rest):
        whole(self, file, read + 1, *rest)

    monkeypatch.setattr(ImportBatch, "__init__", one_too_many)
    with pytest.raises(AssertionError, match="2 rows were read and 1 are accounted for"):
        foretime.import_tgb(tmp_path / "a.csv", tmp_path / "graph")


def test_an_archive_whose_directory_or_content_is_damaged_is_an_error_of_ours(tmp_path: Path):
    """What Python's zipfile raises for it is of six kinds; each of these was found by fuzzing."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ä.tab", icews_file(*(icews(Event_Date=f"2014-01-{day:02d}") for day in range(1, 29))))
    content, name = stream.getvalue(), "ä".encode()
    data, entry = content.index(b".tab") + 4, content.index(b"PK\x01\x02")
    damaged = {
        "its content": content[:data] + b"\xff" * 40 + content[data + 40 :],
        "a name that is not UTF-8": content.replace(name, b"\xbb\xbb"),
        "a name that is a comment": content[: entry + 28] + struct.pack("<HHH", 0, 0, 6) + content[entry + 34 :],
    }
    for what, broken in damaged.items():
        path = tmp_path / "a.zip"
        path.write_bytes(broken)
        for source in (None, "icews"):
            with pytest.raises(DataError, match=r"a\.zip"):
                foretime.import_events(source, path, tmp_path / "graph")
            assert broken != content, what


def test_an_import_that_is_stopped_while_it_takes_the_place_of_another_is_repeated(tmp_path: Path, monkeypatch):
    for name in ("old", "new", "none"):
        rows = "" if name == "none" else f"1,a,b,{name}\n"
        (tmp_path / f"{name}.csv").write_text(f"timestamp,head,tail,relation_type\n{rows}")
    out = tmp_path / "graph"
    foretime.import_events("tgb", [tmp_path / "old.csv"], out)
    before = contents(out)
    for done in (0, 1):
        with monkeypatch.context() as patch:
            patch.setattr(writing, "rename", cut_after(done))
            patch.setattr(writing, "_clear", lambda *_: None)  # a process that is killed clears nothing up
            with pytest.raises(PowerCutError):
                foretime.import_events("tgb", [tmp_path / "new.csv"], out)
        assert contents(tmp_path / ".graph.old" if done else out) == before
        with pytest.raises(DataError):  # even an import that fails gives the earlier one its name again
            foretime.import_events("tgb", [tmp_path / "none.csv"], out)
        assert contents(out) == before
    foretime.import_events("tgb", [tmp_path / "new.csv"], out)
    assert contents(out) != before
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["graph"]


class PowerCutError(Exception):
    """The machine is off."""


def cut_after(done: int):
    """What takes the place of renaming: it works so many times."""
    left = iter(range(done))

    def rename(source: Path, target: Path) -> None:
        if next(left, None) is None:
            raise PowerCutError
        files.rename(source, target)

    return rename


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it needs a device that is full")
def test_a_disk_that_is_full_is_named_while_facts_entities_and_dropped_rows_are_written(tmp_path: Path):
    path = tmp_path / "events.parquet"
    table = FactTable({"subject": (["a"], np.zeros(9, np.int32))})

    def drop_rows() -> None:
        with writing.DroppedFile(path):
            pass

    for write in (lambda: writing.write_facts(table, path), drop_rows,
                  lambda: writing.write_entities(["a"], AttributeCounts(), path)):  # fmt: skip
        path.unlink(missing_ok=True)  # a file of facts that could not be written is removed
        path.symlink_to("/dev/full")
        with pytest.raises(OSError, match="free some space on that disk") as full:
            write()
        assert full.value.filename == str(path)
