"""An interrupted training gives bit for bit the result of an undisturbed one."""

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import safetensors.torch

from foretime.config import Config, override
from foretime.data.graph import Graph
from foretime.errors import Interrupted, RunError
from foretime.runs.folder import RunFolder
from foretime.runs.life import resume, train
from foretime.training.checkpoint import read_progress
from foretime.training.settings import complete_config
from interruptions import StopAfter, bytes_of


@pytest.mark.parametrize(
    "changes",
    [{}, {"training.optimizer": "adam"}, {"training.softmax": "joint"}, {"training.precision": "bfloat16"}],
)
def test_stopping_anywhere_changes_nothing(small_graph: Graph, small_config: Config, tmp_path: Path, changes):
    config = override(small_config, changes)
    whole = train(small_graph, config, tmp_path / "whole").path
    broken, stops = RunFolder.create(tmp_path / "broken", complete_config(config), small_graph).path, 0
    while True:
        try:
            resume(broken, StopAfter(3 + stops))
            break
        except Interrupted:
            stops += 1
    assert stops >= 4
    assert bytes_of(broken) == bytes_of(whole)


def test_a_warm_start_comes_once_wherever_training_is_stopped(small_graph: Graph, small_config: Config, tmp_path: Path):
    changes = {"model.name": "telm", "model.rank": 4, "model.warm_epochs": 2, "training.epochs": 4}
    config = override(small_config, changes)
    whole = train(small_graph, config, tmp_path / "whole").path
    broken, odd = RunFolder.create(tmp_path / "broken", complete_config(config), small_graph), {}
    while True:
        try:
            resume(broken.path, StopAfter(2))
            break
        except Interrupted:
            entities = safetensors.torch.load_file(broken.last_file)["model.entities"]
            odd[read_progress(broken.last_file).epoch] = float(entities[:, 4:12].abs().sum())
    assert odd[1] == odd[2] == 0
    assert odd[4] > odd[3] > 0
    assert bytes_of(broken.path) == bytes_of(whole)


def kill_while_it_trains(run: Path, generator: random.Random) -> bool:
    """Start training in a process, kill it at a random moment after its first steps; return whether it was alive."""
    process = subprocess.Popen(
        [sys.executable, "-m", "foretime", "train", "--resume", str(run)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    last = run / "last.safetensors"
    before = last.stat().st_mtime_ns if last.exists() else 0
    while process.poll() is None and not (last.exists() and last.stat().st_mtime_ns != before):
        time.sleep(0.001)
    time.sleep(generator.random() * 0.15)
    alive = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return alive


def kill_and_compare(graph: Graph, config: Config, folder: Path, kills: int) -> None:
    whole = train(graph, config, folder / "whole").path
    broken = RunFolder.create(folder / "broken", complete_config(config), graph).path
    generator = random.Random(0)
    killed = sum(kill_while_it_trains(broken, generator) for _ in range(kills))
    assert killed == kills, "training ended before it could be killed; give it more epochs"
    assert RunFolder(broken).report_file.exists() is False
    resume(broken)
    assert bytes_of(broken) == bytes_of(whole)
    assert not list(broken.glob(".*.tmp")), "what a killed process left behind is still there"


def test_sigkill_at_random_moments_changes_nothing(small_graph: Graph, small_config: Config, tmp_path: Path):
    config = override(
        small_config, {"training.epochs": 60, "training.patience": 60, "training.checkpoint_seconds": 0.0}
    )
    kill_and_compare(small_graph, config, tmp_path, kills=3)


@pytest.mark.real
def test_ten_sigkills_while_training_on_icews14_change_nothing(real_data: Path, tmp_path: Path):
    from foretime.data.graph import read_graph

    settings = {
        "model.name": "lcge",
        "model.rank": 8,
        "training.epochs": 3,
        "training.valid_every": 2,
        "training.valid_limit": 500,
        "training.checkpoint_seconds": 0.2,
    }
    kill_and_compare(read_graph(real_data / "icews14"), override(Config(), settings), tmp_path, kills=10)


def test_a_finished_run_can_be_resumed_without_harm(small_run: Path, tmp_path: Path):
    copy = Path(shutil.copytree(small_run, tmp_path / "copy"))
    (copy / "report.json").unlink()
    resume(copy)
    assert bytes_of(copy) == bytes_of(small_run)
    assert RunFolder(copy).report()["test"] == RunFolder(small_run).report()["test"]


@pytest.fixture
def ranked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The splits that finishing a run ranks."""
    from foretime.runs import finish

    splits, evaluate_split = [], finish.evaluate_split

    def note(model: object, graph: object, split: str, *rest: object) -> object:
        splits.append(split)
        return evaluate_split(model, graph, split, *rest)

    monkeypatch.setattr(finish, "evaluate_split", note)
    return splits


@pytest.mark.parametrize("with_test", [True, False])
def test_a_run_with_its_report_is_left_alone(small_run: Path, ranked: list[str], with_test: bool):
    stamps = {path: path.stat().st_mtime_ns for path in small_run.iterdir()}
    resume(small_run, with_test=with_test)
    assert ranked == []
    assert {path: path.stat().st_mtime_ns for path in small_run.iterdir()} == stamps


def test_a_report_without_test_gets_it_when_it_is_wanted(small_run: Path, tmp_path: Path, ranked: list[str]):
    copy = Path(shutil.copytree(small_run, tmp_path / "copy"))
    (copy / "report.json").unlink()
    for with_test in (False, False, True, True):
        resume(copy, with_test=with_test)
    assert ranked == ["valid", "valid", "test"]
    assert RunFolder(copy).report()["test"] == RunFolder(small_run).report()["test"]


@pytest.mark.parametrize("content", ["{", "{}", "[]", '{"temperatures": {"time": 0}, "valid": {}, "test": {}}'])
def test_a_damaged_report_is_made_anew(small_run: Path, tmp_path: Path, content: str):
    copy = Path(shutil.copytree(small_run, tmp_path / "copy"))
    (copy / "report.json").write_text(content)
    resume(copy)
    assert RunFolder(copy).report()["test"] == RunFolder(small_run).report()["test"]


def test_a_folder_that_holds_a_run_is_not_overwritten(small_run: Path, small_graph: Graph, small_config: Config):
    with pytest.raises(RunError, match=r"already holds a run; resume it with --resume"):
        train(small_graph, small_config, small_run)


@pytest.mark.parametrize("damage", ["cut", "garbage"])
def test_a_damaged_checkpoint_is_named(small_run: Path, tmp_path: Path, damage: str):
    copy = Path(shutil.copytree(small_run, tmp_path / "copy"))
    (copy / "report.json").unlink()
    content = (copy / "last.safetensors").read_bytes()
    (copy / "last.safetensors").write_bytes(content[: len(content) // 2] if damage == "cut" else b"garbage" * 99)
    with pytest.raises(RunError, match=r"last\.safetensors: damaged checkpoint .* restore the file or train again"):
        resume(copy)


def test_weights_that_do_not_fit_the_configuration_are_named(small_run: Path, tmp_path: Path):
    copy = Path(shutil.copytree(small_run, tmp_path / "copy"))
    for name in ("report.json", "manifest.json"):
        (copy / name).unlink()
    config = (copy / "config.toml").read_text()
    (copy / "config.toml").write_text(config.replace("rank = 8\n", "rank = 9\n", 1))
    with pytest.raises(
        RunError,
        match=r"last\.safetensors: was trained with model\.rank 8, and its run has 9; restore it, or config\.toml",
    ):
        resume(copy)
