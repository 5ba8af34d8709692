"""More epochs for a run: the same weights as if it had been planned so, and no figure of test in silence."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from foretime.cli import app
from foretime.config import Config, override
from foretime.data.graph import Graph
from foretime.errors import ConfigError, Interrupted, RunError
from foretime.inference.predictor import Predictor
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, plan_epochs, resume, train
from foretime.training.checkpoint import read_progress
from interruptions import StopAfter, bytes_of


def planned(config: Config, epochs: int, **changes: object) -> Config:
    return override(config, {"training.epochs": epochs, "training.patience": 100, **changes})


@pytest.mark.parametrize("changes", [{}, {"training.optimizer": "adam"}, {"training.ensemble_size": 2}])
def test_a_finished_run_continues_to_the_weights_of_one_that_was_planned_longer(
    small_graph: Graph, small_config: Config, tmp_path: Path, changes: dict[str, object]
):
    whole = train(small_graph, planned(small_config, 6, **changes), tmp_path / "whole")
    short = train(small_graph, planned(small_config, 4, **changes), tmp_path / "short")
    resume(plan_epochs(short.path, 6).path)
    assert bytes_of(short.path) == bytes_of(whole.path)
    assert [line["epoch"] for line in short.trace()] == [1, 2, 3, 4, 5, 6]
    assert short.config() == whole.config()
    assert short.report()["valid"] == whole.report()["valid"]


def test_the_report_says_that_test_was_ranked_before(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = train(small_graph, planned(small_config, 2), tmp_path / "run")
    earlier = run.report()
    assert (earlier["test_note"], earlier["tested_before"]) == ("test was ranked once, by this final configuration", [])
    found = CliRunner().invoke(app, ["train", "--resume", str(run.path), "--epochs", "4"])
    assert found.exit_code == 0, found.output
    note = "test was ranked by this final configuration, and after 2 epochs, before this run was given more"
    assert (run.report()["test_note"], run.report()["tested_before"]) == (note, [2])
    assert note in " ".join(found.output.split())
    assert run.earlier_report_file(2).exists()
    resume(plan_epochs(run.path, 6).path, with_test=False)
    assert run.report()["test_note"] == (
        "test was ranked after 2 and 4 epochs, before this run was given more, and not since"
    )


def test_a_run_that_never_ranked_test_has_nothing_to_report(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = train(small_graph, planned(small_config, 2), tmp_path / "run", with_test=False)
    resume(plan_epochs(run.path, 4).path)
    assert run.report()["test_note"] == "test was ranked once, by this final configuration"


def test_an_unfinished_run_may_be_planned_shorter_too(small_graph: Graph, small_config: Config, tmp_path: Path):
    whole = train(small_graph, planned(small_config, 4), tmp_path / "whole")
    run = create_run(small_graph, planned(small_config, 6), tmp_path / "run")
    with pytest.raises(Interrupted):
        resume(run.path, StopAfter(30))
    assert 1 < read_progress(run.last_file).epoch <= 4
    resume(plan_epochs(run.path, 4).path)
    assert bytes_of(run.path) == bytes_of(whole.path)


@pytest.mark.parametrize("place", ["reopen_checkpoint", "write_text"])
def test_what_is_interrupted_halfway_harms_nothing_and_is_done_by_the_same_call(
    small_graph: Graph, small_config: Config, tmp_path: Path, monkeypatch, place: str
):
    whole = train(small_graph, planned(small_config, 4), tmp_path / "whole")
    run = train(small_graph, planned(small_config, 2), tmp_path / "run")
    report = run.report()
    original = plan_epochs.__globals__[place]

    def then_fail(*arguments: object) -> None:
        original(*arguments)
        raise OSError("no power")

    with monkeypatch.context() as patch:
        patch.setitem(plan_epochs.__globals__, place, then_fail)
        with pytest.raises(OSError, match="no power"):
            plan_epochs(run.path, 4)
    for refused in (lambda: resume(run.path), lambda: Predictor.open(run.path)):  # nothing is trained without an end
        with pytest.raises(RunError, match=r"by a command that was stopped; do the rest with .*run --epochs 4$"):
            refused()
    assert run.report() == report
    resume(plan_epochs(run.path, 4).path)
    assert bytes_of(run.path) == bytes_of(whole.path)


def test_what_cannot_be_given_more_epochs_says_why(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = train(small_graph, planned(small_config, 2), tmp_path / "run")
    for epochs in (1, 2):
        with pytest.raises(ConfigError, match=r"run: 2 epochs are trained already; name more than that"):
            plan_epochs(run.path, epochs)
    tired = train(small_graph, planned(small_config, 50, **{"training.patience": 1}), tmp_path / "tired")
    assert tired.report()["epochs"] < 50
    with pytest.raises(RunError, match=r"tired: it stopped after epoch \d+ because .* larger training\.patience"):
        plan_epochs(tired.path, 60)
    with pytest.raises(RunError, match="no such run folder"):
        plan_epochs(tmp_path / "nothing", 5)


def test_a_run_with_a_re_ranker_is_refused_and_left_alone(small_graph: Graph, small_config: Config, tmp_path: Path):
    settings = {"reranker.use": True, "evidence.use": True}
    run = create_run(small_graph, planned(small_config, 2, **settings), tmp_path / "run")
    before = run.config()
    with pytest.raises(ConfigError, match=r"its re-ranker is fitted .* train a new run for more epochs"):
        plan_epochs(run.path, 4)
    assert run.config() == before


def test_other_settings_are_still_refused(small_run: Path, tmp_path: Path):
    copy = shutil.copytree(small_run, tmp_path / "run")
    before = bytes_of(copy)
    found = CliRunner().invoke(app, ["train", "--resume", str(copy), "--epochs", "9", "--rank", "4"])
    assert isinstance(found.exception, ConfigError)
    assert "leave out the other settings, all but --epochs" in str(found.exception)
    assert bytes_of(copy) == before
    assert RunFolder(copy).report_file.exists()
