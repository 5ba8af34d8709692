"""Databases on the command line: described, trained on, resumed without, and added from."""

import sqlite3
from pathlib import Path

import duckdb
import pytest

import foretime as ft
from foretime.config import config_text, read_config


@pytest.fixture(params=["duckdb", "sqlite"])
def database(request: pytest.FixtureRequest, events: Path, tmp_path: Path) -> str:
    path = tmp_path / "affairs.db"
    connection = duckdb.connect(str(path)) if request.param == "duckdb" else sqlite3.connect(path)
    connection.execute("create table events (a text, b text, c text, d text)")
    connection.execute("create table later (a text, b text, c text, d text)")
    rows = ", ".join(str(tuple(line.split("\t"))) for line in events.read_text().splitlines())
    connection.execute(f"insert into events values {rows}")
    connection.execute("insert into later values ('land 1', 'sues', 'land 99', '2021-03-04')")
    connection.commit()
    connection.close()
    return f"{request.param}:{path}"


def test_a_run_keeps_its_query_and_is_repeated_and_resumed(foretime, quick, database, events, tmp_path):
    query = "select a, b, c, d from events -- all of them"
    first, second = tmp_path / "first", tmp_path / "second"
    done = foretime("train", database, "--query", query, "--model", "complex", "--out", first, *quick)
    assert done.code == 0, done.err
    config = read_config(first / "config.toml")
    assert (config.data.path, config.data.query, config.data.table) == (database, query, None)
    assert ft.open_run(first).graph.fingerprint() == ft.load(events).fingerprint(), "the same rows in the same order"
    (tmp_path / "again.toml").write_text(config_text(config), encoding="utf-8")
    assert foretime("train", "--config", tmp_path / "again.toml", "--out", second).code == 0
    assert ft.open_run(second).graph.fingerprint() == ft.open_run(first).graph.fingerprint()
    added = foretime("update", first, database, "--table", "later")
    assert added.code == 0, added.err
    assert "1 new events, 0 already there, 1 new entities" in added.out
    Path(database.partition(":")[2]).unlink()
    assert foretime("train", "--resume", second, "--epochs", 3).code == 0, "a run has its graph"


def test_databases_are_described_and_checked_and_faults_exit_with_2(foretime, database, tmp_path):
    assert "facts can be read" in foretime("data", "check", database, "--table", "events").out
    described = foretime("data", "describe", database, "--query", "select * from events where a = 'land 1'")
    assert described.code == 0, described.err
    assert "affairs" in described.out, "called by its file"
    for words, message in (
        (("data", "describe", database), "nothing says what to read; give a query, or a table: there are 'events', "),
        (("data", "check", database, "--table", "evnts"), "no table 'evnts'; did you mean 'events'?"),
        (("data", "check", database, "--query", "drop table later"), "the query has to be one SELECT"),
        (("train", database, "--table", "nothing"), "no table 'nothing'"),
        (("data", "split", database, tmp_path / "out", "--table", "events"), "a database has no rows as they were"),
        (("data", "describe", "mysql://ann:hush@host/db"), "mysql: is no source that can be read"),
    ):
        failed = foretime(*words)
        assert failed.code == 2
        assert message in failed.err
        assert "hush" not in failed.err
        assert "Traceback" not in failed.err
