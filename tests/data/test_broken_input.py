from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foretime.config import DataConfig
from foretime.data.graph import read_graph
from foretime.data.times import ACCEPTED
from foretime.errors import ConfigError, DataError, ForetimeError

Write = Callable[[str, str | bytes], Path]
GOOD = "a\tp\tb\t2014-01-01\n"
COLUMNS = {"subject": "A", "predicate": "B", "object": "C", "time": "D"}

ROWS = {
    "too few fields": (
        "a.tsv",
        GOOD + "a\tp\tb\n",
        "a.tsv:2: expected 4 or 5 tab-separated fields, found 3; fix the row",
    ),
    "too many fields": (
        "a.tsv",
        GOOD + GOOD.strip() + "\t1\t2\n",
        "a.tsv:2: expected 4 or 5 tab-separated fields, found 6",
    ),
    "a fifth field": (
        "a.tsv",
        GOOD + GOOD.strip() + "\t1\n",
        "a.tsv:2: expected 4 tab-separated fields, as in the other rows, found 5",
    ),
    "a bad first row": ("a.tsv", "a\tp\n" + GOOD, "a.tsv:1: expected 4 or 5 tab-separated fields, found 2"),
    "commas": ("a.csv", "a,p,b,2014-01-01\na,p,b\n", "a.csv:2: expected 4 or 5 comma-separated fields, found 3"),
    "no subject": ("a.tsv", GOOD + "\tp\tb\t2014-01-01\n", "a.tsv:2: the subject is empty; give it a name"),
    "no predicate": ("a.tsv", GOOD + "a\t\tb\t2014-01-01\n", "a.tsv:2: the predicate is empty"),
    "no object": ("a.csv", "a,p,,2014-01-01\n", "a.csv:1: the object is empty"),
    "no time at all": ("a.tsv", "a\tp\tb\t####-##-##\n", "no fact has a known time; the timeline would be empty"),
    "no known end": ("a.tsv", "a\tp\tb\t####-##-##\t####-##-##\n", "no fact has a known time"),
    "no date": ("a.tsv", GOOD + "a\tp\tb\tsoon\n", "a.tsv:2: the time 'soon' is not a time; write 2014-05-13"),
    "an impossible date": ("a.tsv", GOOD + "a\tp\tb\t2014-02-30\n", "a.tsv:2: the time '2014-02-30' is not a time"),
    "a space after a date": ("a.tsv", GOOD + "a\tp\tb\t2014-02-03 \n", "a.tsv:2: the time '2014-02-03 ' is not a time"),
    "a wrong end": ("a.tsv", "a\tp\tb\t1990-##-##\tlater\n", "a.tsv:1: the end 'later' is not a time"),
    "a header not said to be one": ("a.tsv", "wer\twas\twen\twann\n" + GOOD, "a.tsv:1: the time 'wann' is not a time"),
    "bytes of Latin-1": (
        "a.tsv",
        GOOD.encode() + b"Z\xfcrich\tp\tb\t2014-01-01\n",
        "a.tsv:2: not valid UTF-8 (byte 0xFC); save",
    ),
    "an open quote": ("a.csv", 'a,p,b,2014-01-01\nc,p,"d,2014-01-01\n', "a.csv:2: a quote is opened and never closed"),
    "an open quote in the last field": (
        "a.csv",
        'a,p,b,2014-01-01\nc,p,d,"2014-01-01\n',
        "a.csv:2: a quote is opened and never",
    ),
    "an open quote in the first row": ("a.csv", 'c,"p,d,2014-01-01\n', "a.csv:1: a quote is opened and never closed"),
    "an open quote in a long file": (
        "a.csv",
        'a,p,b,2014-01-01\nc,"p,d,2014-01-01\n' + "a,p,b,2014-01-01\n" * 20_000,
        "a.csv:2: a quote is opened and never closed",
    ),
    "one long line": ("a.txt", "x" * 300_000, "a.txt: expected 4 columns"),
    "blank lines before": ("a.tsv", "\n\n" + GOOD + "\n\na\tp\tb\tsoon\n", "a.tsv:6: the time 'soon'"),
    "Windows line ends": ("a.tsv", (GOOD + "\na\tp\tb\tsoon\n").replace("\n", "\r\n"), "a.tsv:3: the time 'soon'"),
    "lines in quotes": ("a.csv", '"a\n\nb",p,b,2014-01-01\na,p,b,soon\n', "a.csv:4: the time 'soon'"),
    "after a header": ("a.csv", "head,relation,tail,date\na,p,b,soon\n", "a.csv:2: the time 'soon'"),
    "dates and integers": ("a.tsv", GOOD + "a\tp\tb\t17\n", "a.tsv:1: '2014-01-01' is a date\n  "),
    "integers and dates": (
        "a.tsv",
        GOOD + "a\tp\tb\t17\n",
        "a.tsv:2: '17' is an integer\nif the integers are years, use --granularity year",
    ),
}

FILES = {
    "an empty file": ("a.tsv", "", "a.tsv: the file is empty"),
    "blank lines only": ("a.tsv", "\n\n  \n", "a.tsv: the file is empty"),
    "a header only": ("a.tsv", "head\trelation\ttail\tdate\n", "a.tsv: a header and no facts"),
    "a binary file": ("a.tsv", b"\x00\x01\x02\n\x00", "a.tsv: a binary file; expected text in UTF-8"),
    "UTF-16": ("a.tsv", GOOD.encode("utf-16"), "a.tsv: is in UTF-16; save it as UTF-8"),
    "gzip without its ending": ("a.tsv", gzip.compress(GOOD.encode()), "a.tsv: is compressed by gzip; name it .gz"),
    "a workbook": ("a.csv", b"PK\x03\x04xxxx", "a.csv: is a zip archive or a workbook; unpack it"),
    "a cut gzip": ("a.tsv.gz", gzip.compress(GOOD.encode() * 9999)[:60], "a.tsv.gz: cannot be read"),
    "a false gzip": ("a.tsv.gz", b"hello hello hello", "a.tsv.gz: cannot be read"),
    "a false xz": ("a.tsv.xz", b"hello hello hello", "a.tsv.xz: cannot be read"),
    "a false Parquet file": ("a.parquet", b"hello hello hello", "a.parquet: cannot be read as Parquet"),
    "a compressed Parquet file": (
        "a.parquet.gz",
        b"x",
        "a.parquet.gz: Parquet is compressed inside; unpack the file first",
    ),
    "three columns": ("a.tsv", "a\tp\tb\n" * 3, "a.tsv: expected 4 columns (subject predicate object time) or 5"),
    "seven columns": ("a.tsv", "a\tb\tc\td\te\tf\tg\n", "found 7; say which column is which with --columns subject=1"),
    "a header without a time": (
        "a.csv",
        "head,relation,tail,weight\na,p,b,1\n",
        "no column for the time among 'head', 'relation'",
    ),
}


def assert_refused(source: Any, message: str, error: type[ForetimeError] = DataError, **settings: Any) -> None:
    with pytest.raises(error) as caught:
        read_graph(source, DataConfig(**settings))
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", ROWS)
def test_a_bad_row_is_reported_with_its_place_and_a_remedy(write: Write, kind: str) -> None:
    name, content, message = ROWS[kind]
    assert_refused(write(name, content), message)


@pytest.mark.parametrize("kind", FILES)
def test_a_broken_file_is_reported_with_a_remedy(write: Write, kind: str) -> None:
    name, content, message = FILES[kind]
    assert_refused(write(name, content), message)


ACTORS = "Source Name,Event,Target Name,Day,Note\n" + "ann,meets,bob,2020-01-01,nice\nbob,meets,cy,2020-01-02,\n" * 15


def refusal(path: Path, **settings: Any) -> list[str]:
    with pytest.raises(DataError) as caught:
        read_graph(path, DataConfig(**settings))
    return str(caught.value).splitlines()


def test_a_header_of_other_words_and_a_column_of_notes_are_recognised_for_what_they_are(write: Write) -> None:
    path = write("actors.csv", ACTORS)
    layout, header, total = refusal(path)
    assert total == "no row is left that can be read"
    assert layout.startswith(
        f"{path}:1: the end 'Note' is not a time, nor is anything else in column 5; the table seems"
    )
    assert "say which column is which with --columns subject=1,predicate=2,object=3,time=4" in layout
    assert header.startswith(f"{path}:1: the start 'Day' is not a time; write 2014-05-13")
    assert header.endswith(
        "; if this row names the columns, say --header, and which is which with "
        "--columns subject=…,predicate=…,object=…,time=…"
    )
    columns = {"subject": "Source Name", "predicate": "Event", "object": "Target Name", "time": "Day"}
    assert len(read_graph(path, DataConfig(columns=columns)).facts()) == 30


def test_only_a_first_row_of_which_nothing_was_said_may_be_a_header(write: Write) -> None:
    four = "wer\twas\twen\twann\n"
    assert "--header" in refusal(write("a.tsv", four + GOOD))[0]
    assert "--header" in refusal(write("a.tsv", "\n" + four + GOOD))[0]
    assert "--header" not in refusal(write("a.tsv", four + GOOD), header=False)[0]
    assert "--header" not in refusal(write("a.tsv", GOOD + four))[0]
    assert "--header" not in "".join(refusal(write("a.tsv", "x\n" + four + GOOD)))
    numbers = {"subject": 1, "predicate": 2, "object": 3, "time": 4}
    assert "--header" in refusal(write("a.tsv", four + GOOD), columns=numbers)[0]


def test_times_in_another_column_are_one_problem_of_the_file(write: Write) -> None:
    line, _ = refusal(write("a.tsv", "2014-01-01\ta\tp\tb\n" * 30))
    assert "a.tsv:1: the time 'b' is not a time, nor is anything else in column 4; " in line
    assert line.endswith("if it has not, write times as " + ACCEPTED)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    assert_refused(
        tmp_path / "nothing.tsv", "nothing.tsv: no such file or folder; give a path, or fetch a public graph"
    )
    assert_refused({"train": tmp_path / "nothing.tsv"}, "nothing.tsv: no such file")
    assert_refused({"train": tmp_path / "nothing.parquet"}, "nothing.parquet: no such file")


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            {"columns": COLUMNS | {"time": "Date"}},
            DataError,
            "no column 'Date' for the time; there are 'A', 'B', 'C', 'D'",
        ),
        ({"columns": COLUMNS, "header": False}, DataError, "no header, so no column 'A' for the subject"),
        ({"columns": COLUMNS | {"time": 9}}, DataError, "no column 9 for the time; columns are numbered 1 to 4"),
        ({"columns": COLUMNS | {"time": 0}}, DataError, "no column 0 for the time"),
        ({"columns": {"subject": 1}}, ConfigError, "columns: expected also predicate, object"),
        (
            {"columns": {"subject": 1, "predicate": 2, "object": 3, "start": 4}},
            ConfigError,
            "time, or both start and end",
        ),
        ({"columns": COLUMNS | {"tmie": 1}}, ConfigError, "columns: unknown column 'tmie'; did you mean 'time'"),
        (
            {"columns": COLUMNS | {"object": "A"}},
            ConfigError,
            "columns: subject and object are both column 'A'; give each a column of its own",
        ),
        (
            {"columns": COLUMNS | {"time": 2}},
            DataError,
            "a.csv: predicate and time are both column 2; give each a column of its own",
        ),
        ({"delimiter": "ab"}, ConfigError, "delimiter 'ab': expected one character"),
        ({"granularity": "dya", "header": True}, ConfigError, "unknown granularity 'dya'; did you mean 'day'"),
    ],
)
def test_a_wrong_setting_is_reported(
    write: Write, settings: dict[str, Any], error: type[ForetimeError], message: str
) -> None:
    assert_refused(write("a.csv", "A,B,C,D\na,p,b,2014-01-01\n"), message, error, **settings)


def test_all_bad_rows_of_all_files_are_reported_together_in_order(write: Write) -> None:
    write("g/train.tsv", GOOD + "a\tp\tb\tsoon\nx\n\tp\tb\t2014-01-01\n")
    write("g/valid.tsv", b"\xff\tp\tb\t2014-01-01\n" + GOOD.encode())
    folder = write("g/test.tsv", "a\tp\tb\tlater\n").parent
    with pytest.raises(DataError) as caught:
        read_graph(folder)
    *lines, total = str(caught.value).splitlines()
    places = [line.removeprefix(f"{folder}/").partition(": ")[0] for line in lines]
    assert places == ["train.tsv:2", "train.tsv:3", "train.tsv:4", "valid.tsv:1"]
    assert lines[0].endswith(f" (1 more row like it: {folder}/test.tsv:1)"), "another row of the same kind"
    assert total == "5 bad rows; fix them, or leave them out with --bad-rows skip"


def test_rows_of_one_kind_are_one_line_with_the_first_twenty_places_and_a_count(write: Write) -> None:
    path = write("a.tsv", GOOD + "a\tp\tb\tsoon\n" * 1234)
    line, total = refusal(path)
    assert line.startswith(f"{path}:2: the time 'soon' is not a time; write 2014-05-13")
    places = ", ".join(["3", *map(str, range(4, 22))])
    assert line.endswith(f" (1,233 more rows like it: {path}:{places} …)")
    assert total == "1,234 bad rows; fix them, or leave them out with --bad-rows skip"


def test_every_kind_has_its_first_place_however_many_rows_come_before(write: Write) -> None:
    path = write("a.tsv", GOOD + "a\tp\tb\tsoon\n" * 50 + "a\tp\n" * 3)
    _, fields, _ = refusal(path)
    assert fields.startswith(f"{path}:52: expected 4 or 5 tab-separated fields, found 2")
    assert fields.endswith(" (2 more rows like it)")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "no train and no valid and no test file; add it, name the files train, valid and test"),
        (["train.tsv", "test.tsv"], "no valid file; found only train and test; add it, or leave train alone"),
        (["train.tsv", "valid.tsv"], "no test file"),
        (["valid.tsv", "test.tsv"], "no train file"),
        (["train.tsv", "train.txt", "valid.tsv", "test.tsv"], "train.tsv and train.txt are the same split; leave one"),
    ],
)
def test_a_folder_without_its_splits_is_reported(write: Write, files: list[str], message: str) -> None:
    folder = write("g/notes.md", "").parent
    for name in files:
        write(f"g/{name}", GOOD)
    assert_refused(folder, message)


@pytest.mark.parametrize(
    ("entities", "message"),
    [
        ("Q1\t0\nQ2\n", "entity2id.txt:2: expected a name, a tab and an id, found 1 fields"),
        ("Q1\t0\nQ2\t0\nQ3\t1", "entity2id.txt:2: the id '0' has two names; leave one"),
        ("Q1\t0\n", "train.tsv:1: the object '1' is not in entity2id.txt; add it, or use --names as-is"),
    ],
)
def test_broken_files_of_names_are_reported(write: Write, entities: str, message: str) -> None:
    write("g/entity2id.txt", entities)
    assert_refused(write("g/train.tsv", "0\t0\t1\t2014\n").parent, message)
