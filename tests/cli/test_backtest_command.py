"""`foretime backtest`, and `foretime train --warm-start`."""

import json
from pathlib import Path

import pytest

RULES = ("--model", "rules", "--past-only", "--epochs", 1, "--set", "training.threads=1", "--set", "data.split=time")


@pytest.fixture
def run(foretime, events: Path, tmp_path: Path) -> Path:
    assert foretime("train", events, "--out", tmp_path / "run", *RULES, "--no-test").code == 0
    return tmp_path / "run"


def test_windows_are_printed_written_and_retrained(foretime, run: Path, tmp_path: Path):
    words = ("backtest", run, "--from", "2021-02-25", "--to", "2021-03-05", "--every", 4)
    done = foretime(*words, "--csv", tmp_path / "table.csv")
    assert done.code == 0, done.err
    assert "from" in done.out
    assert "what retraining gained" not in done.out
    assert "the data ends 2021-03-01" in done.err
    assert (tmp_path / "table.csv").read_text().startswith("first,last,events")
    found = json.loads(foretime(*words, "--retrain", 1, "--out", tmp_path / "copies", "--json").out)
    assert [window["retrained_before"] for window in found["windows"]] == ["2021-02-25", "2021-03-01"]
    assert "what retraining gained" in foretime(*words, "--retrain", 1, "--out", tmp_path / "copies").out


def test_flags_of_retraining_need_it_and_plots_need_an_ending(foretime, run: Path, tmp_path: Path):
    words = ("backtest", run, "--from", "2021-02-25", "--to", "2021-03-01")
    assert "give --retrain K too" in foretime(*words, "--out", tmp_path / "copies").err
    assert ".svg or .png" in foretime(*words, "--plot", tmp_path / "plot.txt").err


def test_a_warm_start_says_where_it_began_and_needs_nothing_else(foretime, run: Path, tmp_path: Path):
    done = foretime("train", "--warm-start", run, "--out", tmp_path / "next", "--no-test")
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "next" / "report.json").read_text())
    assert report["warm_start"]["path"] == str(run)
    assert "leave out the other settings" in foretime("train", "--resume", run, "--warm-start", run).err
    assert "no such run folder" in foretime("train", "--warm-start", tmp_path / "none").err
