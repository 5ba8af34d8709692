"""A run folder in which something is no file, or empty: refused at once, by opening it and by resuming it."""

import json
import os
import shutil
from pathlib import Path

import pytest

import foretime
from altered_runs import sealed
from foretime.errors import ForetimeError, RunError
from foretime.runs.life import resume

FILES = (
    "trace.jsonl",
    "backtests.jsonl",
    "config.toml",
    "graph.json",
    "facts.safetensors",
    "best.safetensors",
    "report.json",
    "trace.jsonl",
    "backtests.jsonl",
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    rows = (f"e{n % 7}\tp{n % 2}\te{(n * 3 + 1) % 7}\t2020-01-{n % 28 + 1:02}\n" for n in range(200))
    (folder / "events.tsv").write_text("".join(rows), encoding="utf-8")
    settings = {"model.rank": 2, "training.epochs": 1, "training.threads": 1}
    foretime.train(folder / "events.tsv", model="complex", folder=folder / "run", settings=settings)
    return folder / "run"


@pytest.mark.parametrize("name", FILES)
def test_a_pipe_in_a_run_is_refused_and_never_waited_for(finished: Path, tmp_path: Path, name: str):
    run = shutil.copytree(finished, tmp_path / "run")
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name)
    with pytest.raises(ForetimeError):
        _ = [foretime.open_run(run).predictor, foretime.open_run(run).report, foretime.open_run(run).history]


def test_an_empty_configuration_is_not_resumed(finished: Path, tmp_path: Path):
    run = shutil.copytree(finished, tmp_path / "run")
    (run / "config.toml").write_text("")
    (run / "report.json").unlink()
    with pytest.raises(RunError, match=r"config\.toml: .*"):
        resume(run)


@pytest.mark.parametrize("name", ["graph.json", "report.json"])
def test_json_that_is_nested_too_deeply_is_a_damaged_run(finished: Path, tmp_path: Path, name: str):
    run = shutil.copytree(finished, tmp_path / "run")
    (run / name).write_text("[" * 200_000)
    sealed(run)
    with pytest.raises(RunError, match=rf"{name}: .*it is nested too deeply"):
        _ = foretime.open_run(run).predictor


def test_a_trace_that_is_nested_too_deeply_is_no_trace(finished: Path, tmp_path: Path):
    run = shutil.copytree(finished, tmp_path / "run")
    (run / "trace.jsonl").write_text("[" * 200_000 + "\n" + json.dumps({"epoch": 1, "seconds": 1.0}) + "\n")
    with pytest.raises(RunError, match=r"trace\.jsonl:1: not a line of a trace"):
        _ = foretime.open_run(run).history
