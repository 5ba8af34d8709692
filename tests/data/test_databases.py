"""DuckDB and SQLite as sources: real files, made by the libraries themselves."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from test_reading import ROWS, WHOLE, rows_of

import foretime
from foretime.config import Config
from foretime.data.graph import read_graph
from foretime.errors import ConfigError, DataError
from foretime.runs.fingerprint import config_hash

Make = Callable[..., str]
NAMED = {"subject": "who", "predicate": "did", "object": "whom", "time": "day"}


def make_duckdb(path: Path, *statements: str) -> str:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return f"duckdb:{path}"


def make_sqlite(path: Path, *statements: str) -> str:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return f"sqlite:{path}"


def filled(*types: str) -> list[str]:
    """The statements that make a table `events` of three facts, with columns of these types."""
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(("who", "did", "whom", "day"), types, strict=True))
    rows = ", ".join(str(row) for row in ROWS)
    return [f"create table events ({columns})", f"insert into events values {rows}"]


@pytest.fixture(params=[make_duckdb, make_sqlite], ids=["duckdb", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Make a database by SQL statements, and return its address."""
    return lambda *statements, name="events.db": request.param(tmp_path / name, *statements)


def read(source: str, **settings: Any) -> list[tuple[str, ...]]:
    return rows_of(read_graph(source, WHOLE.model_copy(update=settings)))


@pytest.mark.parametrize("day", ["text", "date"])
def test_a_table_and_a_query_give_the_same_facts(make: Make, day: str) -> None:
    source = make(*filled("text", "text", "text", day))
    assert read(source, table="events") == ROWS
    assert read(source, query="select who, did, whom, day from events") == ROWS
    assert (
        read(source, query="select who, did, whom, day from events where did = 'sues' -- only those\n;\n") == ROWS[2:]
    )
    assert read(source, query="with e as (select * from events) select * from e", columns=NAMED) == ROWS


def test_the_names_of_columns_are_those_of_frames(make: Make) -> None:
    source = make(*filled("text", "text", "text", "text"))
    query = "select day as date, 1.5 as weight, whom as target, who as actor1, did as relation from events"
    assert read(source, query=query) == ROWS
    with pytest.raises(DataError, match=r"events.db: expected 4 columns .* found 6; say which column is which"):
        read(source, query="select who, did, whom, day, 1 as a, 2 as b from events")


def test_a_graph_is_called_by_its_table_or_its_file(make: Make) -> None:
    source = make(*filled("text", "text", "text", "text"), name="affairs.db")
    assert foretime.load(source, table="events").name == "events"
    assert foretime.load(source, query="select * from events").name == "affairs"


def test_null_is_an_empty_name_an_unknown_time_and_an_open_end(make: Make) -> None:
    source = make(
        *filled("text", "text", "text", "text"),
        "insert into events values ('a', null, 'b', '2014-01-01'), ('a', 'b', 'c', null)",
    )
    with pytest.raises(DataError) as caught:
        read(source, table="events")
    message = f"{source}: row 4: the predicate is empty; give it a name, or remove the row\n"
    assert str(caught.value).startswith(message)
    graph = foretime.load(source, query="select * from events where did is not null")
    assert [row[:3] for row in graph.rows("background")] == [("a", "b", "c")], "a fact without a time is background"
    query = "select 'a' as subject, 'p' as relation, 'b' as object, 1990 as start, null as \"end\""
    assert read(source, query=query) == [("a", "p", "b", "1990", "?")]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"events.db: nothing says what to read; give a query, or a table: there is 'events'"),
        ({"table": "evnts"}, r"events.db: no table 'evnts'; did you mean 'events'\?"),
        ({"table": "zzz"}, r"events.db: no table 'zzz'; name another: there is 'events'"),
        ({"table": "events; drop table events"}, r"events.db: no table 'events; drop table events'"),
        (
            {"query": "select * from nothing"},
            r"events.db: the query failed: .*nothing.*; the query has to be one SELECT",
        ),
        ({"query": "select nothing from events"}, r"events.db: the query failed: .*nothing.*; the query has to be one"),
        ({"query": "selec * from events"}, r"events.db: the query failed: .*syntax error.*; the query has to be one"),
        ({"query": "select 1; select 2"}, r"events.db: .*; the query has to be one SELECT"),
        ({"query": "drop table events"}, r"events.db: .*; the query has to be one SELECT"),
        ({"query": "insert into events select * from events"}, r"events.db: .*; the query has to be one SELECT"),
        ({"query": "-- nothing"}, r"events.db: .*; the query has to be one SELECT"),
        ({"query": "select 1) union select (2"}, r"events.db: "),
        ({"query": "select * from events where false"}, r"events.db: the table has no rows"),
    ],
)
def test_a_wrong_table_or_query_is_refused_and_changes_nothing(
    make: Make, settings: dict[str, str], message: str
) -> None:
    source = make(*filled("text", "text", "text", "text"))
    with pytest.raises(DataError, match=message) as caught:
        read(source, **settings)
    assert "\n" not in str(caught.value), "what the database says comes in one line"
    assert read(source, table="events") == ROWS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"table": "events", "query": "select 1"}, "events.db: give a query or a table, not both"),
        ({"query": " ; "}, "events.db: the query is empty; write a SELECT, or name a table"),
    ],
)
def test_settings_that_contradict_are_refused(make: Make, settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        foretime.load(make(*filled("text", "text", "text", "text")), **settings)


def test_a_query_of_a_file_or_a_frame_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tb\tc\t1\n")
    with pytest.raises(ConfigError, match=r"a.tsv is no database, so query cannot be used; leave it out, or name a"):
        foretime.load(tmp_path / "a.tsv", query="select 1")
    with pytest.raises(ConfigError, match="a dict is no database, so table cannot be used"):
        foretime.load({"train": tmp_path / "a.tsv"}, table="events")


def test_a_file_that_is_not_there_or_no_database_is_refused(tmp_path: Path) -> None:
    for kind in ("duckdb", "sqlite"):
        with pytest.raises(DataError, match=rf"{kind}:none.db: no such file; write {kind}:FILE"):
            foretime.load(f"{kind}:none.db", table="events")
        with pytest.raises(DataError, match=rf"{kind}:.*: is a folder; write {kind}:FILE"):
            foretime.load(f"{kind}:{tmp_path}", table="events")
        with pytest.raises(
            DataError, match=rf"{kind}:///events.db: the slashes are no part of the name; write {kind}:"
        ):
            foretime.load(f"{kind}:///events.db", table="events")
        (tmp_path / "junk.db").write_bytes(b"no database " * 1000)
        for settings in ({"query": "select 1"}, {"table": "events"}):
            with pytest.raises(DataError, match=r"junk.db: .*not a (valid )?(DuckDB )?database"):
                foretime.load(f"{kind}:{tmp_path}/junk.db", **settings)
    with pytest.raises(DataError, match="sqlite: names no file"):
        foretime.load("sqlite:", table="events")


def test_a_database_without_its_kind_or_with_another_is_told_so(make: Make, tmp_path: Path) -> None:
    source = make(*filled("text", "text", "text", "text"))
    kind, other = ("duckdb", "sqlite") if source.startswith("duckdb") else ("sqlite", "duckdb")
    with pytest.raises(DataError, match=rf"is a database; write {kind}:/.*events.db, and give a table or a query"):
        foretime.load(tmp_path / "events.db")
    with pytest.raises(DataError, match=rf"is a database of another kind; write {kind}:/.*events.db"):
        foretime.load(f"{other}:{tmp_path}/events.db", table="events")


def test_odd_names_of_files_tables_and_columns_are_taken(make: Make) -> None:
    name = "a b?c#d%41é.db"
    source = make('create table "My.Table" ("a""b" text, "b" text, "B c" text, "select" text)', name=name)
    table = '"My.Table"'
    with pytest.raises(DataError, match="the table has no rows"):
        read(source, table=table)
    source = make(f"insert into {table} values ('x', 'y', 'z', '2014')", name=name)
    assert read(source, table=table) == [("x", "y", "z", "2014")]
    assert read(source, table=f"main.{table}") == [("x", "y", "z", "2014")]
    columns = {"subject": 'a"b', "predicate": 2, "object": "B c", "time": "select"}
    assert read(source, table=table, columns=columns) == [("x", "y", "z", "2014")]


def test_a_missing_library_is_named_with_its_extra(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    source = make(*filled("text", "text", "text", "text"))
    module = "duckdb" if source.startswith("duckdb") else "adbc_driver_manager"
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        DataError, match=rf"events.db: {module} is not installed, which reads .*'foretime\[databases\]'"
    ):
        foretime.load(source, table="events")


# --- DuckDB alone


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("5::hugeint", "5"),
        ("170141183460469231731687303715884105727::hugeint", "170141183460469231731687303715884105727"),
        ("18446744073709551615::ubigint", "18446744073709551615"),
        ("7::decimal(10, 0)", "7"),
        ("'12345678-1234-5678-1234-567812345678'::uuid", "12345678-1234-5678-1234-567812345678"),
        ("'b'::enum('a', 'b')", "b"),
        ("date '2014-05-01'", "2014-05-01"),
        ("'  kept '", "  kept "),
    ],
)
def test_types_of_duckdb_that_are_names(subject: str, text: str) -> None:
    query = f"select {subject} as subject, 'p' as relation, 'o' as object, 1 as time"
    assert read("duckdb:", query=query) == [(text, "p", "o", "1")]


@pytest.mark.parametrize(
    ("time", "text"),
    [
        ("timestamptz '2014-05-01 01:00+02'", "2014-04-30"),
        ("timestamp '2014-05-01 23:59'", "2014-05-01"),
        ("timestamp_ns '2014-05-01 23:59:00.123456789'", "2014-05-01"),
        ("timestamp_s '2014-05-01 23:59:00'", "2014-05-01"),
        ("17::tinyint", "17"),
    ],
)
def test_types_of_duckdb_that_are_times(time: str, text: str) -> None:
    query = f"select 's' as subject, 'p' as relation, 'o' as object, {time} as time"
    assert read("duckdb:", query=query) == [("s", "p", "o", text)]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("true", "bool"),
        ("1.5::double", "double"),
        ("1.50::decimal(5, 2)", r"decimal128\(5, 2\)"),
        ("'x'::blob", "binary"),
        ("time '10:00'", "time64"),
        ("interval 1 day", "month_day_nano_interval"),
        ("[1]", "list<"),
        ("{'a': 1}", "struct<"),
    ],
)
def test_types_of_duckdb_that_are_neither_are_refused_where_they_are_needed(value: str, kind: str) -> None:
    query = "select 's' as subject, 'p' as relation, {} as object, 1 as time, {} as more"
    message = (
        rf"duckdb::memory:: column 'object' is of type {kind}.*; expected text, integers, dates or timestamps; cast"
    )
    with pytest.raises(DataError, match=message):
        read("duckdb:", query=query.format(value, "1"))
    assert read("duckdb:", query=query.format("'o'", value)) == [("s", "p", "o", "1")], "a column beside may be of any"


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz", "timestamp_s", "timestamp_ns"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_an_infinite_time_is_a_bad_row_and_no_year(kind: str, sign: str) -> None:
    query = f"select 's' as subject, 'p' as relation, 'o' as object, date '2014-01-01' as time union all select 's', 'p', 'o', '{sign}infinity'::{kind}"  # noqa: E501
    with pytest.raises(DataError, match=rf"duckdb::memory:: row 2: the time '{sign}infinity' is not a time; write"):
        read("duckdb:", query=query)


def test_a_file_that_is_open_for_writing_is_told_so(tmp_path: Path) -> None:
    source = make_duckdb(tmp_path / "a.db", *filled("text", "text", "text", "text"))
    with duckdb.connect(str(tmp_path / "a.db")) as connection:
        with pytest.raises(DataError, match=r"a.db: this program has the file open for writing; close that connection"):
            read(source, table="events")
        assert rows_of(read_graph(connection.sql("from events"), WHOLE)) == ROWS
    script = f"import duckdb; c = duckdb.connect({str(tmp_path / 'a.db')!r}); print('open', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(DataError, match=r"a.db: another program has the file open for writing; close it there, or"):
            read(source, table="events")
        other.communicate(b"\n")
    assert read(source, table="events") == ROWS


def test_a_variable_of_the_program_is_no_table(tmp_path: Path) -> None:
    frame = [1]  # noqa: F841, DuckDB would find it
    with pytest.raises(DataError, match=r"the query failed: .*frame does not exist"):
        read("duckdb:", query="select * from frame")


def test_duckdb_reads_other_files_by_a_query(tmp_path: Path) -> None:
    for number, row in enumerate(ROWS):
        (tmp_path / f"{number}.csv").write_text("w,x,y,z\n" + ",".join(row) + "\n")
    assert (
        read("duckdb:", query=f"select * from read_csv('{tmp_path}/*.csv', types={{'z': 'text'}}) order by filename")
        == ROWS
    )


# --- SQLite alone


def test_sqlite_takes_each_value_for_what_it_is(tmp_path: Path) -> None:
    nulls = "insert into events select null, 'p', 'o', '2014' from (with recursive r(n) as (select 1 union all select n + 1 from r where n < 70000) select n from r)"  # noqa: E501
    source = make_sqlite(
        tmp_path / "a.db",
        "create table events (s, p, o, t)",
        nulls,
        "insert into events values ('a', 7, 9223372036854775807, 2014)",
    )
    found = read(source, query="select * from events order by s desc limit 1")
    assert found == [("a", "7", "9223372036854775807", "2014")]
    assert read(source, query="select coalesce(s, 'none'), p, o, t from events")[-1] == found[0], "whatever came before"


@pytest.mark.parametrize(("value", "kind"), [("1.5", "real"), ("x'00ff'", "blob")])
def test_sqlite_refuses_what_is_neither_text_nor_integer(tmp_path: Path, value: str, kind: str) -> None:
    source = make_sqlite(
        tmp_path / "a.db", *filled("", "", "", ""), f"insert into events values ('a', {value}, 'c', '2014-01-04')"
    )
    with pytest.raises(
        DataError, match=rf"a.db: column 'predicate' is of type {kind}; expected text, integers, dates or"
    ):
        read(source, table="events")
    columns = {"subject": 1, "predicate": 2, "object": 3, "time": 4}
    query = "select who, 'p', whom, day, did from events"
    assert len(read(source, query=query, columns=columns)) == 4, "a column beside may be of any type"


def test_sqlite_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    source = make_sqlite(
        tmp_path / "a.db", *filled("", "", "", ""), "insert into events values (cast(x'e9' as text), 'b', 'c', '2014')"
    )
    with pytest.raises(DataError, match=r"a.db: column 'subject' has text that is not valid UTF-8"):
        read(source, table="events")


def test_a_locked_sqlite_file_is_told_so(tmp_path: Path) -> None:
    source = make_sqlite(tmp_path / "a.db", *filled("", "", "", ""))
    script = f"""
import sqlite3
connection = sqlite3.connect({str(tmp_path / "a.db")!r}, isolation_level=None)
connection.execute("begin exclusive")
print("locked", flush=True)
input()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        for settings in ({"table": "events"}, {"query": "select * from events"}):
            with pytest.raises(DataError, match=r"a.db: .*database is locked.*; wait until it is written"):
                read(source, **settings)
        other.communicate(b"\n")
    assert read(source, table="events") == ROWS


def test_where_a_database_lies_is_no_part_of_what_is_trained() -> None:
    def digest(path: str, query: str | None = None) -> str:
        return config_hash(Config.model_validate({"data": {"path": path, "query": query}}))

    assert digest("duckdb:events.db") == digest("duckdb:/elsewhere/events.db")
    assert digest("duckdb:events.db", "select 1") != digest("duckdb:events.db", "select 2")
