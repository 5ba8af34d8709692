"""Lists that are run: results, budgets, interruptions, and what is done is not done again."""

import fcntl
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from bench_files import write_list

from foretime.bench.declared import BenchList, read_list
from foretime.bench.process import train_in_process
from foretime.bench.rows import read_rows
from foretime.bench.running import run_list, standings
from foretime.errors import RunError
from foretime.training import RunFolder

TWO = """
[[run]]
config = "small.toml"
data = "{folder}/no-such-graph.tsv"
name = "broken"
[[run]]
config = "small.toml"
seeds = [7]
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[BenchList, list[str]]:
    """A list that was run, a run that cannot work in it, and what was told."""
    folder = tmp_path_factory.mktemp("bench")
    bench, told = read_list(write_list(folder, TWO.format(folder=folder))), []
    run_list(bench, told.append)
    return bench, told


def test_a_result_has_everything_that_a_table_needs(finished):
    bench, _ = finished
    row = read_rows(bench.results)[1]
    run = RunFolder(bench.folder(bench.planned[1]))
    report = run.report()
    assert (row["name"], row["model"], row["data"], row["seed"], row["status"]) == (
        "small-7", "tntcomplex", "events", 7, "finished",
    )  # fmt: skip
    assert (row["config_hash"], row["data_fingerprint"]) == (bench.planned[1].hash, report["data_fingerprint"])
    for name in ("parameters", "epochs", "best_epoch", "training_seconds", "peak_memory_mb"):
        assert row[name] == report[name]
    for split in ("valid", "test"):
        assert row[split]["mrr"] == report[split]["all"]["mrr"]
        assert row[split]["objects"] == report[split]["objects"]
        assert row[split]["subjects"] == report[split]["subjects"]
    assert [point[2] for point in row["curve"]] == [line["valid_mrr"] for line in run.trace()]
    assert row["seconds"] > row["training_seconds"]
    assert row["machine"]["torch"]
    assert row["version"]


def test_a_run_that_fails_is_noted_and_the_others_go_on(finished):
    bench, told = finished
    broken = read_rows(bench.results)[0]
    assert (broken["status"], broken["note"], broken["test"]) == ("failed", "exit code 2", None)
    assert [standing.state for standing in standings(bench)] == ["failed", "done"]
    assert "1 of 2: broken-0: failed, " in told[1]


def test_what_is_done_is_skipped_and_another_configuration_is_not(finished, tmp_path: Path):
    bench, _ = finished
    before = {path: path.stat().st_mtime_ns for path in bench.runs.rglob("*")}
    told: list[str] = []
    assert run_list(replace(bench, planned=bench.planned[1:]), told.append) == []
    assert told == ["1 of 1: small-7: done, skipped"]
    assert {path: path.stat().st_mtime_ns for path in bench.runs.rglob("*")} == before
    changed = replace(bench, planned=(replace(bench.planned[1], hash="0" * 16),))
    assert [standing.state for standing in standings(changed)] == ["changed"]


def bench_process(path: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "foretime", "bench", "run", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def wait_for_an_epoch(trace: Path, seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not trace.exists() or not trace.stat().st_size:
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_interrupted_then_over_budget_then_finished(tmp_path: Path):
    bench = read_list(write_list(tmp_path, '[[run]]\nconfig = "small.toml"', epochs=300))
    folder = bench.folder(bench.planned[0])
    process = bench_process(bench.path)
    wait_for_an_epoch(folder / "trace.jsonl")
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert f"stopped; go on with foretime bench run {bench.path}" in errors.decode()
    first = read_rows(bench.results)[0]
    assert (first["status"], first["test"], first["converged"]) == ("interrupted", None, None)
    assert 0 < first["epochs"] < 300
    assert standings(bench)[0].state == "to go on"
    short = replace(bench, seconds_per_run=first["seconds"] + 0.5)
    (second,) = run_list(short)
    assert second["status"] == "over budget"
    assert second["seconds"] >= short.seconds_per_run
    assert second["curve"][: len(first["curve"])] == first["curve"]
    assert standings(short)[0].state == "over budget"
    assert run_list(short) == []
    assert standings(bench)[0].state == "to go on"
    (third,) = run_list(bench)
    assert (third["status"], third["epochs"], len(third["curve"])) == ("finished", 300, 300)
    assert third["curve"][: len(first["curve"])] == first["curve"]
    assert third["seconds"] > second["seconds"]


def test_a_call_that_is_out_of_time_begins_nothing(tmp_path: Path):
    bench = read_list(write_list(tmp_path, '[[run]]\nconfig = "small.toml"', budget="seconds_in_all = 0.0001"))
    told: list[str] = []
    time.sleep(0.001)
    assert run_list(replace(bench, seconds_in_all=1e-9), told.append) == []
    assert told == ["1 of 1: small-0: the 1e-09 seconds in all are over; call again to go on"]


def test_two_processes_do_not_train_in_one_folder(tmp_path: Path):
    bench = read_list(write_list(tmp_path, '[[run]]\nconfig = "small.toml"'))
    folder = bench.folder(bench.planned[0])
    folder.parent.mkdir()
    with (folder.parent / f"{folder.name}.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="another process trains there; wait for it, or end it"):
            train_in_process(bench.planned[0].config, folder)


def test_a_result_survives_as_json(finished):
    bench, _ = finished
    for line in bench.results.read_text(encoding="utf-8").splitlines():
        assert json.dumps(json.loads(line), ensure_ascii=False) == line
