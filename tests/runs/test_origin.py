"""Checkpoints say what they were trained as: others that would fit are never taken for them."""

import shutil
from pathlib import Path

import pytest

from foretime.config import Config, override
from foretime.data.graph import Graph
from foretime.errors import Interrupted, RunError
from foretime.inference.predictor import Predictor
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, resume
from foretime.runs.verify import verify_run
from interruptions import StopAfter

MEMBERS = {"training.ensemble_size": 3, "training.epochs": 1, "training.valid_every": 1}


@pytest.fixture(scope="module")
def stopped(small_graph: Graph, small_config: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which two members are trained, and the third has begun."""
    run = create_run(small_graph, override(small_config, MEMBERS), tmp_path_factory.mktemp("stopped") / "run")
    with pytest.raises(Interrupted):
        resume(run.path, StopAfter(25))
    assert run.member(1).best_file.exists()
    assert not run.member(2).best_file.exists()
    return run.path


@pytest.fixture
def run(stopped: Path, tmp_path: Path) -> RunFolder:
    return RunFolder(shutil.copytree(stopped, tmp_path / "run"))


def check_refused(run: RunFolder, message: str) -> None:
    for use in (lambda: resume(run.path), lambda: Predictor.open(run)):
        with pytest.raises(RunError, match=message):
            use()
    assert message.split(":")[0].replace("\\", "") in " ".join(verify_run(run.path).problems)


@pytest.mark.parametrize("name", ["best.safetensors", "last.safetensors"])
def test_weights_of_another_member_are_refused(run: RunFolder, name: str):
    shutil.copy(run.member(1).path / name, run.path / name)
    check_refused(run, rf"{name}: was trained with the member 1, and its run has 0; restore it")


def test_weights_of_another_run_are_refused(run: RunFolder, small_run: Path):
    shutil.copy(small_run / "last.safetensors", run.last_file)
    check_refused(run, r"last\.safetensors: was trained with training\.")


def test_settings_that_change_on_the_way_are_refused_but_for_those_that_may(run: RunFolder):
    text = run.config_file.read_text()
    run.config_file.write_text(text.replace("\nseed = 0\n", "\nseed = 1\n", 1))
    check_refused(
        run, r"last\.safetensors: was trained with training\.seed 0, and its run has 1; restore it, or config"
    )
    run.config_file.write_text(text.replace("checkpoint_seconds = 60.0", "checkpoint_seconds = 5.0"))
    assert resume(run.path).report()["ensemble_size"] == 3


def test_best_weights_of_another_epoch_are_refused(run: RunFolder, small_graph: Graph, small_config: Config):
    resume(run.path)
    for file in (run.manifest_file, run.report_file):
        file.unlink()
    best = run.best_file.read_bytes()
    other = create_run(small_graph, override(small_config, MEMBERS | {"training.epochs": 2}), run.path.parent / "other")
    with pytest.raises(Interrupted):
        resume(other.path, StopAfter(17))  # in the second epoch: `last` is not the best of anything
    shutil.copy(other.last_file, run.best_file)
    check_refused(run, r"best\.safetensors: has the weights of another epoch than the best")
    run.best_file.write_bytes(best)
    resume(run.path)
