"""A source is seen from its files where that is unmistakable, and `load` says what to do with raw files."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from samples import acled, acled_file, gdelt, icews, icews_file, polecat, polecat_file, tabbed

import foretime
from foretime.errors import DataError

Write = Callable[[str, str | bytes], Path]
TGB = "timestamp,head,tail,relation_type\n1,2,3,4\n2,2,3,4\n3,2,4,4\n"
FILES = {
    "icews": ("a.tab", icews_file(icews())),
    "polecat": ("a.txt", polecat_file(polecat())),
    "gdelt": ("a.CSV", tabbed(gdelt())),
    "acled": ("a.csv", acled_file(acled())),
    "tgb": ("a.csv", TGB),
}


@pytest.mark.parametrize("source", FILES)
def test_a_source_is_seen_from_its_header_or_shape(imported, source: str):
    found = imported(None, *FILES[source])
    assert (found.report.source, found.report.recognised) == (source, True)
    assert not imported(source, *FILES[source]).report.recognised


@pytest.mark.parametrize(
    "content", ["a\tp\tb\t2014-01-01\n", "", "x" * 100_000, tabbed(["1"] * 61), '"never closed\n', b"\xff\xfe\x00"]
)
def test_what_could_be_anything_has_to_be_named(write: Write, tmp_path: Path, content: str | bytes):
    with pytest.raises(DataError, match=r"a\.txt: of no source that can be told; name it, one of icews, polecat"):
        foretime.import_events(None, write("a.txt", content), tmp_path / "graph")


def test_files_of_two_sources_are_not_imported_together(write: Write, tmp_path: Path):
    files = [write(f"{source}-{name}", text) for source, (name, text) in FILES.items() if source in ("icews", "gdelt")]
    with pytest.raises(DataError, match=r"files of several sources: .*a\.tab is icews; .*a\.CSV is gdelt; import each"):
        foretime.import_events(None, files, tmp_path / "graph")


def test_a_file_of_another_source_than_the_one_named_is_refused_with_its_own(imported):
    for source, other in (("icews", "acled"), ("acled", "gdelt"), ("gdelt", "icews"), ("polecat", "icews")):
        with pytest.raises(DataError, match=f"looks like .*, not like .*; import it with .* import {other}`"):
            imported(source, *FILES[other])


@pytest.mark.parametrize("source", ["icews", "polecat", "gdelt", "acled"])
def test_load_names_the_import_that_raw_files_want(write: Write, source: str):
    name, text = FILES[source]
    path = write(f"raw/{name}", text)
    for given in (path, path.parent):
        with pytest.raises(DataError, match=f"import them with `foretime data import {source} "):
            foretime.load(given)


def test_load_names_the_import_for_an_archive_too(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "a.CSV.zip", "w") as archive:
        archive.writestr("a.CSV", tabbed(gdelt()))
    with pytest.raises(DataError, match="foretime data import gdelt"):
        foretime.load(tmp_path / "a.CSV.zip")


def test_who_says_which_column_is_which_reads_a_raw_file_as_it_is(write: Write):
    columns = {"subject": "Source Name", "predicate": "Event Text", "object": "Target Name", "time": "Event Date"}
    path = write("a.tab", icews_file(*(icews(Event_Date=f"2014-01-0{day}") for day in range(1, 5))))
    assert len(foretime.load(path, columns=columns).facts()) == 4


def test_load_reads_the_layouts_that_it_knows_without_an_import(write: Write):
    assert len(foretime.load(write("a.csv", TGB)).facts()) == 3
