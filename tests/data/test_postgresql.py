"""PostgreSQL as a source: a real server, which the tests start and stop."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi
import pytest
from test_reading import ROWS, WHOLE, rows_of

import foretime
from foretime.config import read_config
from foretime.data.graph import read_graph
from foretime.errors import DataError

pytestmark = pytest.mark.database
PASSWORD = "hush hush"
ENCODED = "hush%20hush"


def binaries() -> Path:
    installed = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)
    found = shutil.which("initdb") or next(iter(installed), None)
    if found is None:
        pytest.skip("no PostgreSQL server; apt-get install postgresql")
    return Path(found).parent


def as_user(folder: Path, *words: object) -> None:
    """Run a command of PostgreSQL, which root may not: as the user `postgres` then, who owns the folder."""
    root = os.geteuid() == 0
    switch = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if root else []
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    command = [*switch, *map(str, words)]
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, words


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server on a free port of this machine; gives its address without user and database."""
    import tempfile

    commands = binaries()
    folder = Path(tempfile.mkdtemp(prefix="foretime-pg-"))  # short: a socket has a path of 107 bytes at most
    (folder / "password").write_text(PASSWORD)
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        shutil.chown(folder / "password", "postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = folder / "data"
    way = ["--auth", "scram-sha-256", "--username", "tester", "--pwfile", folder / "password", "--encoding", "UTF8"]
    as_user(folder, commands / "initdb", "--pgdata", data, *way)
    options = f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories={folder} -c fsync=off"
    as_user(folder, commands / "pg_ctl", "--pgdata", data, "--wait", "--log", folder / "log", "-o", options, "start")
    yield f"127.0.0.1:{port}"
    as_user(folder, commands / "pg_ctl", "--pgdata", data, "--wait", "--mode", "immediate", "stop")
    shutil.rmtree(folder)


def execute(source: str, *statements: str) -> None:
    with adbc_driver_postgresql.dbapi.connect(source, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture(scope="module")
def source(server: str) -> str:
    """A database with three facts in the table `events`."""
    address = f"postgresql://tester:{ENCODED}@{server}/postgres"
    rows = ", ".join(map(str, ROWS))
    execute(address, "create table events (who text, did text, whom text, day date)")
    execute(address, f"insert into events values {rows}")
    execute(
        address,
        "create sequence numbers",
        "create schema other",
        'create table other."My.Table" as select * from events limit 1',
    )
    return address


def read(source: str, **settings: Any) -> list[tuple[str, ...]]:
    return rows_of(read_graph(source, WHOLE.model_copy(update=settings)))


def test_a_table_and_a_query_give_the_same_facts(source: str) -> None:
    assert read(source, table="events") == read(source, table="public.events") == ROWS
    assert read(source, query="select * from events -- all\n;") == ROWS
    assert read(source.replace("postgresql:", "postgres:"), query="table events") == ROWS
    assert read(source, table='other."My.Table"') == ROWS[:1]
    assert read(source, query="with e as (select * from events order by day desc) select * from e limit 1") == ROWS[1:2]


def test_a_graph_is_called_by_its_table_or_its_database(source: str) -> None:
    assert foretime.load(source, table="events").name == "events"
    assert foretime.load(source, query="table events").name == "postgres"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("5::numeric", "5"),
        ("7::numeric(30, 0)", "7"),
        ("'12345678-1234-5678-1234-567812345678'::uuid", "12345678-1234-5678-1234-567812345678"),
        ("'ab'::char(5)", "ab"),
        ("'ab '::varchar", "ab "),
        ("'ab'::name", "ab"),
        ("9223372036854775807::bigint", "9223372036854775807"),
        ("3::smallint", "3"),
        ("date '2014-05-01'", "2014-05-01"),
    ],
)
def test_types_that_are_names(source: str, value: str, text: str) -> None:
    query = f"select {value} as subject, 'p' as relation, 'o' as object, 1 as time"
    assert read(source, query=query) == [(text, "p", "o", "1")]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("timestamptz '2014-05-01 01:00+02'", "2014-04-30"),
        ("timestamp '2014-05-01 23:59'", "2014-05-01"),
        ("'2014-05'", "2014-05"),
        ("17::numeric", "17"),
    ],
)
def test_types_that_are_times(source: str, value: str, text: str) -> None:
    query = f"select 's' as subject, 'p' as relation, 'o' as object, {value} as time"
    assert read(source, query=query) == [("s", "p", "o", text)]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("true", "bool"),
        ("1.5::float8", "double"),
        ("1.50::numeric(5, 2)", "numeric and has 1.50"),
        ("'NaN'::numeric", "numeric and has nan"),
        ("'1.50'::money", "money"),
        ("9::oid", "oid"),
        ("'x'::bytea", "binary"),
        ("time '10:00'", "time64"),
        ("interval '1 day'", "month_day_nano_interval"),
        ("array[1]", "list<"),
        ("'{}'::jsonb", "extension<arrow.json>"),
        ("'127.0.0.1'::inet", "inet"),
        ("daterange('2014-01-01', '2015-01-01')", "unnamed<oid:"),
    ],
)
def test_types_that_are_neither_are_refused_where_they_are_needed(source: str, value: str, kind: str) -> None:
    query = "select 's' as subject, 'p' as relation, {} as object, 1 as time, {} as more"
    with pytest.raises(DataError, match=f"/postgres: column 'object' is of type {kind}.*; expected .*; cast it first"):
        read(source, query=query.format(value, "1"))
    assert read(source, query=query.format("'o'", value)) == [("s", "p", "o", "1")], "a column beside may be of any"


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_an_infinite_time_is_a_bad_row_and_no_year(source: str, kind: str, sign: str) -> None:
    query = f"select 's' as subject, 'p' as relation, 'o' as object, '{sign}infinity'::{kind} as time"
    with pytest.raises(DataError, match=f"row 1: the time '{sign}infinity' is not a time; write"):
        read(source, query=query)


def test_null_is_an_empty_name_an_unknown_time_and_an_open_end(source: str) -> None:
    query = "select 'a', 'p', null::text, date '2014-01-01' union all select 'a', 'p', 'b', null"
    with pytest.raises(DataError) as caught:
        read(source, query=query)
    problem, advice = str(caught.value).splitlines()
    assert problem.endswith("/postgres: row 1: the object is empty; give it a name, or remove the row")
    assert "bad-rows" in advice or "bad_rows" in advice
    query = "select 'a' as subject, 'p' as relation, 'b' as object, 1990 as start, null::int as \"end\""
    assert read(source, query=query) == [("a", "p", "b", "1990", "?")]


def test_a_database_in_latin_1_arrives_as_utf8(source: str) -> None:
    execute(source, "create database latin encoding 'LATIN1' locale 'C' template template0")
    latin = source.replace("/postgres", "/latin")
    execute(latin, "create table events as select U&'Jos\\00E9' as subject, 'p' as relation, 'o' as object, 1 as time")
    assert read(latin, table="events") == [("José", "p", "o", "1")]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "nothing says what to read; give a query, or a table: there are "),
        ({"table": "evnts"}, "no table 'evnts'; did you mean 'events'"),
        (
            {"query": "select * from nothing"},
            'the query failed: relation "nothing" does not exist; the query has to',
        ),
        (
            {"query": "select nothing from events"},
            'the query failed: column "nothing" does not exist; the query has to',
        ),
        ({"query": "selec 1"}, 'the query failed: syntax error at or near "selec"; the query has to be one SELECT'),
        ({"query": "select 1; select 2"}, "the query failed: .*; the query has to be one SELECT"),
        ({"query": "select 1) as a; drop table events; select * from (select 2"}, "the query failed: "),
        ({"query": "drop table events"}, "the query failed: .*; the query has to be one SELECT"),
        ({"query": "delete from events returning *"}, "the query failed: .*; the query has to be one SELECT"),
        ({"query": "with d as (delete from events returning *) select * from d"}, "the query failed: "),
        ({"query": "commit"}, "the query failed: "),
        ({"query": "copy events to stdout"}, "the query failed: "),
        ({"query": "-- nothing"}, "the query failed: "),
        (
            {"query": "select nextval('numbers')"},
            "the query failed: cannot execute nextval.* in a read-only",
        ),
        ({"query": "select set_config('transaction_read_only', 'off', true)"}, "the query failed: .*before any query"),
        ({"query": "select 1 / (length(who) - 3), 'p', 'o', 1 from events"}, "the query failed: division by zero"),
        ({"query": "select * from events where false"}, "the table has no rows"),
    ],
)
def test_a_wrong_table_or_query_is_refused_and_changes_nothing(source: str, settings: Any, message: str) -> None:
    with pytest.raises(DataError, match=f"postgresql://tester@127.0.0.1:.*/postgres: {message}") as caught:
        read(source, **settings)
    assert "\n" not in str(caught.value)
    assert "hush" not in str(caught.value)
    assert read(source, table="events") == ROWS


def test_what_a_read_only_transaction_lets_through_is_rolled_back(source: str) -> None:
    query = "select lo_create(777)::bigint::text, 'p', 'o', 1"  # refused from version 16 on
    with contextlib.suppress(DataError):
        assert read(source, query=query) == [("777", "p", "o", "1")]
    with pytest.raises(DataError, match="the table has no rows"):
        read(source, query="select oid::bigint, 'p', 'o', 1 from pg_largeobject_metadata")


def test_a_server_that_is_down_or_refuses_is_told_without_the_password(source: str, server: str) -> None:
    port = server.partition(":")[2]
    for address, message in (
        (source.replace(f":{port}", ":1"), 'connection to server at "127.0.0.1", port 1 failed: Connection refused'),
        (source.replace("/postgres", "/nothing"), 'database "nothing" does not exist'),
        (source.replace(ENCODED, "hush-wrong"), "password authentication failed"),
        (source.replace(f":{ENCODED}@", "@"), "no password supplied"),
        (source.replace("127.0.0.1", "nowhere.invalid"), "could not translate host name"),
        (f"{source}?sslmode=hush", "invalid sslmode value"),
    ):
        with pytest.raises(DataError, match=f"{message}.*; check the address and that the server runs; a password may"):
            foretime.load(address, table="events")
        with pytest.raises(DataError) as caught:
            foretime.load(address, table="events")
        assert "hush-wrong" not in str(caught.value)
        assert ENCODED not in str(caught.value)


def test_a_run_has_no_password_anywhere_and_the_environment_gives_it(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_graph: foretime.Graph
) -> None:
    values = ", ".join(str(row) for row in small_graph.rows())
    execute(source, "create table small (s text, p text, o text, t text)", f"insert into small values {values}")
    heard: list[str] = []

    class Ear(foretime.Callback):
        def announce(self, text: str) -> None:
            heard.append(text)

    settings = {"data.table": "small", "model.rank": 4, "training.epochs": 1, "training.threads": 1}
    run = foretime.train(source, model="complex", settings=settings, folder=tmp_path / "run", callback=Ear())
    assert "the run will not keep the password; to read the database again, set PGPASSWORD or ~/.pgpass" in heard
    assert not [text for text in heard if "hush" in text]
    for file in (path for path in (tmp_path / "run").rglob("*") if path.is_file()):
        assert b"hush" not in file.read_bytes(), file
    config = read_config(tmp_path / "run" / "config.toml")
    assert config.data.path == source.replace(f":{ENCODED}@", "@")
    with pytest.raises(DataError, match="no password supplied"):
        foretime.train(config=config, folder=tmp_path / "again")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    again = foretime.train(config=config, folder=tmp_path / "again")
    assert again.graph.fingerprint() == run.graph.fingerprint()
    execute(source, "create table later as select 'state 1' s, 'sues' p, 'state 77' o, date '2020-12-01' t")
    assert run.update(config.data.path, table="later").new == 1
