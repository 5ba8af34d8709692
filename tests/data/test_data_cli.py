from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from test_reading import CSV, TSV
from typer.testing import CliRunner, Result

from foretime.cli.data import data_app
from foretime.cli.options import parse_columns
from foretime.data.graph import read_graph
from foretime.errors import ConfigError, DataError

Write = Callable[[str, str | bytes], Path]
MANY = "".join(f"a{i % 7}\tp\tb{i}\t2014-01-{i % 28 + 1:02d}\n" for i in range(100))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(data_app, [str(argument) for argument in arguments])


def test_describe_prints_tables_and_json(write: Write) -> None:
    path = write("a.tsv", TSV)
    assert "2014-01-01 to 2014-01-03: 3 steps of day" in run("describe", path).output
    report = json.loads(run("describe", path, "--json").output)
    assert report["facts"] == {"train": 1, "valid": 1, "test": 1}


@pytest.mark.parametrize(("first", "last", "hinted"), [(1990, 2010, True), (1000, 2101, False), (0, 2010, False)])
def test_integers_are_steps_and_perhaps_years(write: Write, first: int, last: int, hinted: bool) -> None:
    path = write("a.tsv", f"a\tp\tb\t{first}\nb\tp\tc\t{last}\n")
    output = run("describe", path).output
    assert f"{first} to {last}: {last - first + 1:,} steps " in output
    assert "steps of" not in output
    assert ("hint: if the times are years, --granularity year names them so" in output) == hinted
    as_years = run("describe", path, "--granularity", "year").output
    assert "steps of year" in as_years
    assert "hint" not in as_years


def test_names_that_look_like_markup_are_printed_as_they_are(write: Write) -> None:
    assert "[bold]p[/bold]" in run("describe", write("a.tsv", "a\t[bold]p[/bold]\tb\t3\n")).output


def test_check_exits_with_0_and_in_strict_mode_with_1_on_warnings(write: Write) -> None:
    path = write("a.tsv", TSV + TSV)
    assert run("check", path).exit_code == 0
    assert "warning: " in run("check", path).output
    assert run("check", path, "--strict").exit_code == 1
    assert json.loads(run("check", path, "--json").output)["warnings"]


def test_check_raises_on_bad_rows(write: Write) -> None:
    result = run("check", write("a.tsv", TSV + "x\n"))
    assert isinstance(result.exception, DataError)
    assert "a.tsv:4: expected 4 or 5 tab-separated fields, found 1" in str(result.exception)


def test_reading_flags_reach_the_reader(write: Write) -> None:
    path = write("a.txt", "n~A~B~C~D\n1~a~p~b~2014-01-01\n2~a~p~c~2014-03-05\n")
    flags = ["--columns", "subject=A,predicate=3,object=C,time=D", "--delimiter", "~", "--granularity", "month"]
    report = json.loads(run("describe", path, *flags, "--irregular", "--header", "--json").output)
    assert (report["entities"], report["steps"], report["granularity"]) == (3, 2, "month")


def test_a_delimiter_may_be_given_by_its_word(write: Write) -> None:
    report = json.loads(run("describe", write("a.txt", "a,a\tp\tb\t3\n"), "--delimiter", "tab", "--json").output)
    assert report["entities"] == 2


@pytest.mark.parametrize("text", ["subject", "subject=", "=1", ""])
def test_a_broken_mapping_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not NAME=COLUMN"):
        parse_columns(text)


def test_a_wrong_choice_of_names_is_refused(write: Write) -> None:
    result = run("describe", write("a.tsv", TSV), "--names", "all")
    assert "names = 'all': should be 'auto' or 'as-is'" in str(result.exception)


@pytest.mark.parametrize("by", ["random", "time"])
def test_split_writes_every_row_as_it_was(write: Write, tmp_path: Path, by: str) -> None:
    out = tmp_path / "out"
    result = run("split", write("a.tsv.gz", gzip.compress(MANY.encode())), out, "--by", by, "--valid", "0.2")
    assert result.exit_code == 0, result.exception
    parts = {name: (out / f"{name}.tsv").read_text().splitlines() for name in ("train", "valid", "test")}
    assert sorted(line for part in parts.values() for line in part) == sorted(MANY.splitlines())
    times = [[line.split("\t")[3] for line in part] for part in parts.values()]
    if by == "time":
        assert max(times[0]) < min(times[1]) <= max(times[1]) < min(times[2])
    else:
        assert [len(part) for part in parts.values()] == [70, 20, 10]
    assert len(read_graph(out).facts()) == 100


def test_split_keeps_header_further_columns_quotes_and_line_ends(write: Write, tmp_path: Path) -> None:
    rows = [f'{i},"a,{i}",p,"b\r\n""x""",2014-01-0{i + 1}' for i in range(6)]
    path = write("a.csv", "\r\n".join(["n,head,relation,tail,date", *rows]))
    assert run("split", path, tmp_path / "out").exit_code == 0
    parts = [(tmp_path / "out" / f"{name}.csv").read_bytes().decode() for name in ("train", "valid", "test")]
    assert all(part.startswith("n,head,relation,tail,date\r\n") for part in parts)
    assert all(sum(row in part for part in parts) == 1 for row in rows)
    assert len(read_graph(tmp_path / "out").facts()) == 6


def test_split_of_parquet_is_parquet(tmp_path: Path) -> None:
    table = pa.table(
        {"subject": ["a"] * 9, "relation": ["p"] * 9, "object": list("abcdefghi"), "time": range(9), "note": [None] * 9}
    )
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    assert run("split", tmp_path / "a.parquet", tmp_path / "out").exit_code == 0
    parts = [pyarrow.parquet.read_table(tmp_path / "out" / f"{name}.parquet") for name in ("train", "valid", "test")]
    assert pa.concat_tables(parts).sort_by("time").equals(table)


def test_split_brings_files_of_names_along_and_overwrites_nothing(write: Write, tmp_path: Path) -> None:
    write("entity2id.txt", "".join(f"N{i}\ta{i}\nM{i}\tb{i}\n" for i in range(100)))
    path = write("a.tsv", MANY)
    assert run("split", path, tmp_path / "out").exit_code == 0
    assert "N1" in read_graph(tmp_path / "out").entities
    again = run("split", path, tmp_path / "out")
    assert "has test.tsv, train.tsv, valid.tsv already; name a new folder" in str(again.exception)


def test_split_checks_rows_and_shares_first(write: Write, tmp_path: Path) -> None:
    assert "a.tsv:4" in str(run("split", write("a.tsv", TSV + "x\n"), tmp_path / "out").exception)
    assert not (tmp_path / "out").exists()
    assert "leave nothing" in str(run("split", write("b.csv", CSV), tmp_path / "out", "--valid", "0.9").exception)
    assert "a folder" in str(run("split", tmp_path, tmp_path / "out").exception)
