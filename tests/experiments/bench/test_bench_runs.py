"""Lists that are run: results, budgets, interruptions, and what is done is not done again."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from bench_files import write_list
from typer.testing import CliRunner

from foretime.cli import app
from foretime.config import override
from foretime.errors import ConfigError, DataError, ForetimeError
from foretime.experiments.bench import running, standing
from foretime.experiments.bench.lists import BenchList, read_list
from foretime.experiments.bench.locks import is_held, only_here
from foretime.experiments.bench.provenance import Provenance, provenance_of
from foretime.experiments.bench.results import benchmark_status, run_benchmark
from foretime.experiments.bench.rows import Ending, read_rows, write_row
from foretime.experiments.bench.running import run_list
from foretime.experiments.bench.standing import standings
from foretime.runs.executor import End, Executor, Processes, Task
from foretime.runs.executor.processes import environment
from foretime.runs.finish import progress_of
from foretime.runs.folder import RunFolder
from foretime.training.callbacks import Callback

MADE = Provenance("c" * 40, "a processor")
TWO = """
[[run]]
config = "small.toml"
data = "{folder}/no-such-graph.tsv"
name = "broken"
[[run]]
config = "small.toml"
seeds = [7]
"""


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trains in this process, where it does not matter that a training has one of its own."""

    monkeypatch.setattr(running, "Processes", InThisProcess)


class InThisProcess(Executor):
    """Does each task as soon as it is started."""

    def has_room(self, threads: int) -> bool:
        return not self.working

    def _begin(self, task: Task, lock: int | None) -> None:
        try:
            task.function(Telling(self, task), **task.arguments)
        except ForetimeError as error:
            self._hear(task, End(2, str(error)))
        else:
            self._hear(task, End(0))

    def _ask_to_stop(self, task: Task) -> None: ...

    def _kill(self, task: Task) -> None: ...


class Telling(Callback):
    """Hands on what is announced."""

    def __init__(self, executor: InThisProcess, task: Task) -> None:
        self.executor, self.task = executor, task

    def announce(self, text: str) -> None:
        self.executor._hear(self.task, {"text": text})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[BenchList, list[str]]:
    """A list that was run, a run that cannot work in it, and what was reported."""
    folder = tmp_path_factory.mktemp("bench")
    bench, reported = read_list(write_list(folder, TWO.format(folder=folder))), []
    run_list(bench, reported.append)
    return bench, reported


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


def test_a_run_that_fails_is_noted_and_the_others_are_trained(finished):
    bench, reported = finished
    broken = read_rows(bench.results)[0]
    missing = bench.path.parent / "no-such-graph.tsv"
    assert (broken["status"], broken["test"]) == ("failed", None)
    assert broken["note"].startswith(f"{missing}: ")  # what the training itself has said
    assert [standing.state for standing in standings(bench)] == ["failed", "done"]
    assert "1 of 2: broken-0: failed, " in reported[1]
    assert any(line.startswith("epoch   2  event_loss") or line.startswith("epoch   2  loss") for line in reported)
    assert "ranking test …" in reported


def test_what_is_done_is_skipped_and_another_configuration_is_not(finished, tmp_path: Path):
    bench, _ = finished
    before = {path: path.stat().st_mtime_ns for path in bench.runs.rglob("*")}
    reported: list[str] = []
    assert run_list(replace(bench, planned=bench.planned[1:]), reported.append) == []
    assert reported == ["1 of 1: small-7: done, skipped"]
    assert {path: path.stat().st_mtime_ns for path in bench.runs.rglob("*")} == before
    changed = replace(bench, planned=(replace(bench.planned[1], hash="0" * 16),))
    assert [standing.state for standing in standings(changed)] == ["changed"]


def bench_process(path: Path, *flags: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "foretime", "bench", "run", str(path), *flags]
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored by us under nohup, and then by the process too
    try:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGHUP, before)


def wait_for_an_epoch(trace: Path, seconds: float = 300) -> None:
    limit = time.monotonic() + seconds
    while not trace.exists() or not trace.stat().st_size:
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_interrupted_then_over_budget_then_finished(tmp_path: Path):
    bench = read_list(write_list(tmp_path, '[[run]]\nconfig = "small.toml"', epochs=150))
    folder = bench.folder(bench.planned[0])
    process = bench_process(bench.path)
    wait_for_an_epoch(folder / "trace.jsonl")
    process.send_signal(signal.SIGHUP)  # its terminal was closed
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert f"stopped; resume with foretime bench run {bench.path}" in errors.decode()
    first = read_rows(bench.results)[0]
    assert (first["status"], first["test"], first["converged"]) == ("interrupted", None, None)
    assert 0 < first["epochs"] < 150
    assert standings(bench)[0].state == "to resume"
    short = replace(bench, seconds_per_run=first["seconds"] + 0.5)
    (second,) = run_list(short)
    assert second["status"] == "over budget"
    assert second["seconds"] >= short.seconds_per_run
    assert second["curve"][: len(first["curve"])] == first["curve"]
    assert standings(short)[0].state == "over budget"
    assert run_list(short) == []
    assert standings(bench)[0].state == "to resume"
    (third,) = run_list(bench)
    assert (third["status"], third["epochs"], len(third["curve"])) == ("finished", 150, 150)
    assert third["curve"][: len(first["curve"])] == first["curve"]
    assert third["seconds"] > second["seconds"]


def test_a_training_whose_parent_was_killed_saves_its_state_and_stops(tmp_path: Path):
    bench = read_list(write_list(tmp_path, '[[run]]\nconfig = "small.toml"', epochs=100_000))
    folder = bench.folder(bench.planned[0])
    process = bench_process(bench.path)
    wait_for_an_epoch(folder / "trace.jsonl")
    assert is_held(folder)
    process.kill()
    process.communicate(timeout=300)
    limit = time.monotonic() + 300
    while is_held(folder):
        assert time.monotonic() < limit
        time.sleep(0.02)
    assert [standing.state for standing in standings(bench)] == ["to resume"]
    progress = progress_of(folder / "last.safetensors")  # it has saved its state before it stopped
    assert len(RunFolder(folder).trace()) == progress.epochs_done > 0


@pytest.mark.usefixtures("in_process")
def test_a_run_that_fails_takes_no_finished_result_away(finished, tmp_path: Path):
    planned = finished[0].planned[1]
    config = override(planned.config, {"data.path": "evnts.tsv"})
    broken = replace(
        finished[0],
        runs=tmp_path / "runs",
        results=tmp_path / "results.jsonl",
        planned=(replace(planned, config=config, hash="0" * 16),),
    )
    shutil.copyfile(finished[0].results, broken.results)
    before = read_rows(broken.results)[1]
    (row,) = run_list(broken)
    assert row["status"] == "failed"
    assert row["note"].startswith("evnts.tsv: ")
    kept = read_rows(broken.results)[1]
    assert kept.pop("attempt") == {name: row[name] for name in ("config_hash", "status", "seconds", "note")}
    assert kept == before
    assert standings(broken)[0].state == "failed"


@pytest.mark.parametrize(
    ("status", "budget", "state"),
    [("over budget", 50.0, "over budget"), ("over budget", 70.0, "to resume"), ("interrupted", 50.0, "to resume"),
     ("failed", 50.0, "failed")],
)  # fmt: skip
def test_an_attempt_beside_a_finished_result_stands_as_it_was_left(
    finished, tmp_path: Path, status: str, budget: float, state: str
):
    planned = replace(finished[0].planned[1], hash="0" * 16)
    bench = replace(
        finished[0], planned=(planned,), results=tmp_path / "results.jsonl", seconds_per_run=budget, runs=tmp_path
    )
    shutil.copyfile(finished[0].results, bench.results)
    kept = read_rows(bench.results)[1]
    write_row(bench.results, {**kept, "config_hash": planned.hash, "status": status, "seconds": 60.0, "test": None})
    row = read_rows(bench.results)[1]
    assert {name: value for name, value in row.items() if name != "attempt"} == kept
    standing = standings(bench)[0]
    assert (standing.state, standing.row) == (state, None)
    assert (standing.seconds, standing.attempt["status"]) == (60.0, status)


@pytest.mark.parametrize(
    ("budget", "reported"),
    [
        ('results = "{folder}/small.toml/x.jsonl"', "results: cannot write in .*small.toml: .*; name another place in"),
        (
            'runs = "{folder}/small.toml"',
            "runs: cannot write in .*small.toml: File exists; name another place in",
        ),
        ('results = "{folder}"', "results = .*: is a folder; name a file in it"),
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_anything_is_trained(tmp_path: Path, budget: str, reported: str):
    path = write_list(tmp_path, '[[run]]\nconfig = "small.toml"')
    key, value = budget.format(folder=tmp_path).split(" = ")
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith(key)]
    path.write_text("\n".join([lines[0], f"{key} = {value}", *lines[1:]]), encoding="utf-8")
    with pytest.raises(ConfigError, match=reported):
        run_list(read_list(path))
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


@pytest.mark.usefixtures("in_process")
def test_a_run_whose_epochs_were_raised_continues_where_the_shorter_one_ended(tmp_path: Path):
    entry, rows, folders = '[[run]]\nconfig = "small.toml"', {}, {}
    for epochs in (2, 3, 5):
        bench = read_list(write_list(tmp_path, entry, epochs=epochs))
        folders[epochs] = RunFolder(bench.folder(bench.planned[0]))
        (rows[epochs],) = run_list(bench)
    assert (rows[5]["status"], rows[5]["epochs"], rows[5]["tested_before"]) == ("finished", 5, [2, 3])
    assert rows[5]["earlier"] == [rows[2]["config_hash"], rows[3]["config_hash"]]
    assert rows[5]["curve"][:3] == rows[3]["curve"]  # the same seconds, so it was not trained anew
    assert len(rows[5]["curve"]) == 5
    assert rows[5]["seconds"] > rows[3]["training_seconds"]
    assert folders[3].report()["epochs"] == 3  # the shorter one stays as it was
    assert [row["epochs"] for row in read_rows(tmp_path / "results" / "bench.jsonl")] == [5]
    # another seed, or other settings, begin anew
    other = read_list(write_list(tmp_path, entry + "\nseeds = [1]", epochs=6))
    (row,) = run_list(other)
    assert (row["tested_before"], row["curve"][0] == rows[5]["curve"][0]) == ([], False)


@pytest.mark.usefixtures("in_process")
def test_a_shorter_run_on_another_graph_is_not_continued(tmp_path: Path):
    entry, folder = '[[run]]\nconfig = "small.toml"', tmp_path / "other"
    run_list(read_list(write_list(tmp_path, entry, epochs=2)))
    folder.mkdir()
    lines = (tmp_path / "events.tsv").read_text(encoding="utf-8").splitlines()
    (folder / "events.tsv").write_text("\n".join(lines[:150]) + "\n", encoding="utf-8")
    bench = read_list(write_list(tmp_path, f'{entry}\ndata = "{folder}/events.tsv"', epochs=3))
    bench.results.unlink()  # or the run would be skipped for it
    (row,) = run_list(bench)
    assert (row["status"], row["tested_before"]) == ("finished", [])
    assert row["data_fingerprint"] == RunFolder(bench.folder(bench.planned[0])).graph().fingerprint()


def test_a_result_of_another_graph_is_neither_done_nor_overwritten(finished, tmp_path: Path):
    bench, _ = finished
    planned = bench.planned[1]
    shutil.copyfile(bench.results, tmp_path / "results.jsonl")
    (tmp_path / "events.tsv").write_text("a\tsees\tb\t2021-01-01\nb\tsees\ta\t2021-01-02\n", encoding="utf-8")
    moved = override(planned.config, {"data.path": str(tmp_path / "events.tsv")})
    other = replace(bench, results=tmp_path / "results.jsonl", planned=(replace(planned, config=moved),))
    reported: list[str] = []
    before = other.results.read_bytes()
    assert run_list(other, reported.append) == []
    assert reported[0].startswith(
        "1 of 1: small-7: another graph, skipped: what is there was trained on another graph of this name; "
    )
    assert other.results.read_bytes() == before
    changed = replace(other, planned=(replace(other.planned[0], hash="0" * 16),))  # and its configuration too
    assert [standing.state for standing in standings(changed)] == ["another graph"]
    weekly = override(moved, {"data.granularity": "week"})  # which makes another graph of the same files
    read = replace(other, planned=(replace(other.planned[0], hash="0" * 16, config=weekly),))
    assert [standing.state for standing in standings(read)] == ["changed"]
    rows = read_rows(other.results)
    rows[1].pop("data_fingerprint")  # as of a run that has failed: then its folder tells
    other.results.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert standings(other)[0].state == "another graph"
    other.results.unlink()  # the folder is there still
    assert standings(other)[0].state == "another graph"


def test_several_runs_at_a_time_end_as_one_after_the_other(finished, tmp_path: Path):
    entry = '[[run]]\nconfig = "small.toml"\nseeds = [5, 6, 7]'
    bench, reported = read_list(write_list(tmp_path, entry)), []
    with Processes(2) as executor:
        rows = run_list(bench, reported.append, executor)
    assert sorted((row["name"], row["status"]) for row in rows) == [(f"small-{n}", "finished") for n in (5, 6, 7)]
    assert reported[:2] == ["1 of 3: small-5: to do", "2 of 3: small-6: to do"]
    seventh = next(row for row in rows if row["name"] == "small-7")
    assert seventh["test"] == read_rows(finished[0].results)[1]["test"]
    assert [own.state for own in standings(bench)] == ["done"] * 3
    assert not list(bench.runs.glob("*.lock"))
    assert not list(bench.runs.glob(".*"))


def test_several_runs_are_stopped_together(tmp_path: Path):
    bench = read_list(write_list(tmp_path, '[[run]]\nconfig = "small.toml"\nseeds = [0, 1]', epochs=100_000))
    process = bench_process(bench.path, "--jobs", "2")
    for planned in bench.planned:
        wait_for_an_epoch(bench.folder(planned) / "trace.jsonl")
    process.terminate()
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    rows = read_rows(bench.results)
    assert [row["status"] for row in rows] == ["interrupted"] * 2
    for planned in bench.planned:  # each has saved its state
        folder = RunFolder(bench.folder(planned))
        assert len(folder.trace()) == progress_of(folder.last_file).epochs_done > 0


def test_the_time_of_a_call_does_not_end_a_run_for_good(tmp_path: Path):
    bench = read_list(write_list(tmp_path, '[[run]]\nconfig = "small.toml"', epochs=100_000))
    (row,) = run_list(replace(bench, seconds_in_all=0.5))
    assert row["status"] == "interrupted"
    assert standings(bench)[0].state == "to resume"


def test_a_result_has_the_commit_that_began_it_and_the_one_that_finished_it(tmp_path: Path, monkeypatch):
    for commit, expected in (("a" * 40, ("a" * 40, None)), ("b" * 40, ("a" * 40, "b" * 40))):
        monkeypatch.setattr("foretime.experiments.bench.provenance.code_commit", lambda commit=commit: commit)
        made = provenance_of(tmp_path / "run")
        assert (made.commit, made.finished_by) == expected
    (tmp_path / "run" / "made.json").write_text('{"commit": null}', encoding="utf-8")  # begun by code without one
    assert provenance_of(tmp_path / "run")[::2] == (None, "b" * 40)
    (tmp_path / "run" / "made.json").write_text("[]", encoding="utf-8")
    assert provenance_of(tmp_path / "run")[::2] == ("b" * 40, None)


@pytest.mark.usefixtures("in_process")
def test_the_command_prints_a_table_and_a_failed_run_is_an_exit_code(finished, tmp_path: Path):
    bench, table = finished[0], tmp_path / "new" / "table.md"
    found = CliRunner().invoke(app, ["bench", "run", str(bench.path), "--markdown", str(table)])
    assert found.exit_code == 1
    results = benchmark_status(bench.path)
    assert str(results) in found.output
    assert results.table().to_markdown() == table.read_text(encoding="utf-8")
    assert results.failed == ["broken-0"]
    frame = run_benchmark(bench.path, only=["small-*"]).to_frame()
    row = read_rows(bench.results)[1]
    assert frame.loc[0, ["run", "state", "test_mrr", "test_hits@1"]].tolist() == [
        "small-7", "done", row["test"]["mrr"], row["test"]["hits@1"],
    ]  # fmt: skip
    assert [own["result"] for own in results.to_dicts()] == read_rows(bench.results)
    assert ">small-7</td>" in results._repr_html_()


def test_a_call_that_is_out_of_time_begins_nothing(tmp_path: Path):
    bench = read_list(write_list(tmp_path, '[[run]]\nconfig = "small.toml"', budget="seconds_in_all = 0.0001"))
    reported: list[str] = []
    time.sleep(0.001)
    assert run_list(replace(bench, seconds_in_all=1e-9), reported.append) == []
    assert reported == ["1 of 1: small-0: the 1e-09 seconds in all are over; call again to resume"]


@pytest.mark.parametrize(("threads", "set_before", "numba"), [(1, None, "1"), (0, None, None), (2, "1", "1")])
def test_rules_and_evidence_have_the_threads_of_the_run(
    threads: int, set_before: str | None, numba: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    if set_before:
        monkeypatch.setenv("NUMBA_NUM_THREADS", set_before)
    found = environment(threads)
    assert found.get("NUMBA_NUM_THREADS") == numba
    assert found["PATH"] == os.environ["PATH"]


def test_what_another_process_trains_is_skipped(tmp_path: Path):
    bench, reported = read_list(write_list(tmp_path, '[[run]]\nconfig = "small.toml"')), []
    with only_here(bench.folder(bench.planned[0])) as lock:
        assert lock is not None
        assert [standing.state for standing in standings(bench)] == ["training"]
        assert run_list(bench, reported.append) == []
    assert reported == ["1 of 1: small-0: another process trains it, skipped"]
    assert [standing.state for standing in standings(bench)] == ["to do"]
    assert not list(bench.runs.iterdir())  # the lock is removed


def test_a_run_that_another_call_has_finished_meanwhile_is_not_begun(finished, monkeypatch: pytest.MonkeyPatch):
    bench, reported = replace(finished[0], planned=finished[0].planned[1:]), []
    rows = iter([[], read_rows(bench.results)])
    monkeypatch.setattr(standing, "read_rows", lambda path: next(rows))
    assert run_list(bench, reported.append) == []
    assert reported == ["1 of 1: small-7: done, skipped"]


def test_the_budget_counts_what_a_killed_call_has_spent(finished, tmp_path: Path):
    bench = replace(finished[0], planned=finished[0].planned[1:])
    folder = bench.folder(bench.planned[0])
    trained = RunFolder(folder).report()["training_seconds"]
    assert running._spent(0.0, folder) == pytest.approx(trained, abs=0.06)
    assert running._spent(1000.0, folder) == 1000.0
    assert running._spent(0.0, tmp_path / "nothing") == 0.0


@pytest.mark.parametrize(
    ("per_run", "in_all", "before", "left", "limit"),
    [(0, 0, 5, 0, 0), (60, 0, 20, 0, 40), (60, 0, 60, 0, 1e-3), (60, 9, 20, 9, 9), (60, 90, 20, 90, 40)],
)
def test_a_budget_that_is_spent_is_not_one_without_end(
    tmp_path: Path, per_run: float, in_all: float, before: float, left: float, limit: float
):
    bench = read_list(write_list(tmp_path, '[[run]]\nconfig = "small.toml"'))
    own = replace(bench, seconds_per_run=per_run, seconds_in_all=in_all)
    assert running._limit(own, before, left) == limit


def test_a_finished_run_whose_files_cannot_be_read_has_failed(finished, tmp_path: Path):
    planned = finished[0].planned[1]
    for name, content in (("report-after-old.json", "{}"), ("trace.jsonl", "nonsense\n"), ("config.toml", "a = 1")):
        copy = Path(shutil.copytree(finished[0].folder(planned), tmp_path / name))
        (copy / name).write_text(content, encoding="utf-8")
        row = running._result(planned, copy, Ending("finished", 3.0), MADE)
        assert (row["status"], row["test"]) == ("failed", None)
        assert name in row["note"]
        write_row(tmp_path / "results.jsonl", row)
    assert len(read_rows(tmp_path / "results.jsonl")) == 1  # it can be read again


@pytest.mark.parametrize(("path", "name"), [("..", None), (".events.tsv", "graph"), ("a|b.tsv", "a-b")])
def test_a_graph_of_any_name_gives_a_line_that_can_be_read(finished, tmp_path: Path, path: str, name: str | None):
    planned = finished[0].planned[1]
    config = override(planned.config, {"data.path": path})
    row = running._result(replace(planned, config=config), tmp_path / "none", Ending("failed", 1.0), MADE)
    write_row(tmp_path / "results.jsonl", row)
    assert read_rows(tmp_path / "results.jsonl")[0]["data"] == (name or Path("..").resolve().name)
    with pytest.raises(DataError, match=r"small-7 would be no result of foretime bench .*; not written"):
        write_row(tmp_path / "results.jsonl", {**row, "status": "finished"})


def test_a_run_that_somebody_trains_by_hand_is_training(finished, tmp_path: Path):
    bench = replace(finished[0], planned=finished[0].planned[1:], results=tmp_path / "none.jsonl")
    folder = RunFolder(bench.folder(bench.planned[0]))
    with folder.held():
        assert [standing.state for standing in standings(bench)] == ["training"]
        reported: list[str] = []
        assert run_list(bench, reported.append) == []
    assert reported == ["1 of 1: small-7: another process trains it, skipped"]
    assert [standing.state for standing in standings(bench)] == ["to resume"]


@pytest.mark.parametrize("file", ["graph.json", "last.safetensors"])
def test_a_run_with_a_damaged_file_has_failed_and_stops_nothing(finished, tmp_path: Path, file: str):
    bench = finished[0]
    planned = bench.planned[1]
    copy = Path(shutil.copytree(bench.folder(planned), tmp_path / "copy"))
    (copy / "report.json").unlink()
    (copy / file).write_bytes(b"half")
    row = running._result(planned, copy, Ending("failed", 3.0, "exit code 2"), MADE)
    assert (row["name"], row["status"], row["note"], row["test"]) == ("small-7", "failed", "exit code 2", None)
    assert running.summary(row).endswith(", 3 s (exit code 2)")


def test_a_result_survives_as_json(finished):
    bench, _ = finished
    for line in bench.results.read_text(encoding="utf-8").splitlines():
        assert json.dumps(json.loads(line), ensure_ascii=False) == line
