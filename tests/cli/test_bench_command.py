"""`foretime bench` as a shell would call it; the lists themselves are run in `tests/experiments/bench`."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def bench_list(events: Path, tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(f'[data]\npath = "{events}"\n[model]\nname = "complex"\n', encoding="utf-8")
    path = tmp_path / "list.toml"
    head = f'[bench]\nresults = "{tmp_path}/results.jsonl"\nruns = "{tmp_path}/runs"\n'
    path.write_text(f'{head}[[run]]\nconfig = "small.toml"\nseeds = [0, 1]\n', encoding="utf-8")
    return path


def test_status_says_what_is_left(foretime, bench_list: Path):
    shown = foretime("bench", "status", bench_list)
    assert shown.code == 0, shown.err
    assert "small-1" in shown.out
    assert "0 of 2 runs are done; results in" in shown.out
    found = json.loads(foretime("bench", "status", bench_list, "--only", "*-1", "--json").out)
    assert found == [{"name": "small-1", "state": "to do", "result": None, "attempt": None}]


def test_run_within_no_time_begins_nothing(foretime, bench_list: Path):
    outcome = foretime("bench", "run", bench_list, "--seconds-in-all", 1e-9)
    assert outcome.code == 0, outcome.err
    assert "1 of 2: small-0: the 1e-09 seconds in all are over; call again to resume" in outcome.err
    assert not list((bench_list.parent / "runs").iterdir())


def test_a_configuration_that_is_not_there_is_an_error(foretime, bench_list: Path):
    (bench_list.parent / "small.toml").unlink()
    for verb in ("run", "status"):
        outcome = foretime("bench", verb, bench_list)
        assert (outcome.code, outcome.out) == (2, "")
        assert "list.toml: run 1: config = 'small.toml': there is no file" in outcome.err
        assert "write it, or take the run out of the list" in outcome.err


def test_add_puts_a_run_among_the_results(foretime, small_run: Path, tmp_path: Path):
    for _ in range(2):
        added = foretime("bench", "add", tmp_path / "results.jsonl", small_run)
        assert added.code == 0, added.err
        assert "small-0: finished, 6 of 6 epochs, valid MRR" in added.err
    assert len((tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()) == 1
