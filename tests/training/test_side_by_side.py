"""Several trainings of one run side by side: the same weights as one after the other, whatever happens on the way."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from foretime.config import Config, config_text, override
from foretime.data.dataset import Dataset
from foretime.errors import ForetimeError, Interrupted, RunError
from foretime.training import Listener, RunFolder, create_run, resume, train
from foretime.training.stages import Stage, is_trained, stages_of
from interruptions import StopAfter, bytes_of

TWO_STAGES = {
    "training.members": 2, "training.epochs": 2, "training.threads": 1, "model.rank": 4,
    "combiner.use": True, "combiner.fit": "refit", "combiner.folds": 3, "combiner.top": 5, "combiner.trees": 8,
    "combiner.leaves": 5, "combiner.leaf_candidates": 4,
}  # fmt: skip
FOLDERS = ("", "member-1", "fold-0", "fold-0/member-1")


@pytest.fixture(scope="module")
def config(small_config: Config) -> Config:
    return override(small_config, TWO_STAGES)


@pytest.fixture(scope="module")
def one_by_one(small_graph: Dataset, config: Config, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return train(small_graph, config, tmp_path_factory.mktemp("one") / "run")


def assert_same(run: RunFolder, other: RunFolder) -> None:
    for folder in FOLDERS:
        assert bytes_of(run.path / folder) == bytes_of(other.path / folder)
    assert run.combiner_file.read_text() == other.combiner_file.read_text()
    assert run.report()["test"] == other.report()["test"]


class Hearing(Listener):
    def __init__(self) -> None:
        self.records: list[dict[str, object]] = []
        self.ended = 0

    def epoch(self, record: dict[str, object]) -> None:
        self.records.append(record)

    def end(self) -> None:
        self.ended += 1


def test_every_training_of_a_run_has_a_name_and_a_folder(config: Config, tmp_path: Path):
    run = RunFolder(tmp_path)
    assert [stage.name for stage in stages_of(config)] == ["", "member 2", "part 1", "part 1, member 2"]
    assert [stage.folder(run).path for stage in stages_of(config)] == [tmp_path / folder for folder in FOLDERS]
    assert stages_of(override(config, {"combiner.use": False, "training.members": 1})) == [Stage(None, 0)]
    several = {"combiner.fit": "out-of-fold", "combiner.parts": 2, "training.members": 1}
    assert [stage.part for stage in stages_of(override(config, several))] == [None, 0, 1]


def test_side_by_side_is_one_by_one(small_graph: Dataset, config: Config, one_by_one: RunFolder, tmp_path: Path):
    heard = Hearing()
    run = train(small_graph, config, tmp_path / "run", heard, jobs=3)
    assert_same(run, one_by_one)
    assert {(record["stage"], record["epoch"]) for record in heard.records} == {
        (stage.name, epoch) for stage in stages_of(config) for epoch in (1, 2)
    }
    assert heard.ended == 1


def test_stopping_side_by_side_changes_nothing(
    small_graph: Dataset, config: Config, one_by_one: RunFolder, tmp_path: Path
):
    run, said = create_run(small_graph, config, tmp_path / "run"), []
    while not run.report_file.exists():
        try:
            resume(run.path, StopAfter(2 + 20 * len(said)), jobs=2)
        except Interrupted as stop:
            said.append(str(stop))
    assert set(said) == {f"stopped; go on with foretime train --resume {run.path}"}
    assert_same(run, one_by_one)


def test_what_was_begun_one_by_one_goes_on_side_by_side(
    small_graph: Dataset, config: Config, one_by_one: RunFolder, tmp_path: Path
):
    run = create_run(small_graph, config, tmp_path / "run")
    with pytest.raises(Interrupted):
        resume(run.path, StopAfter(6))
    assert not is_trained(run, config)
    assert_same(resume(run.path, jobs=2), one_by_one)


def test_a_training_that_fails_is_told_by_its_name(small_graph: Dataset, config: Config, tmp_path: Path):
    wild = override(config, {"training.learning_rate": 1e30, "combiner.use": False, "training.optimizer": "adam"})
    run = create_run(small_graph, wild, tmp_path / "run")
    with pytest.raises(ForetimeError, match=r"^(the first stage|member 2): the loss is no longer a number"):
        resume(run.path, jobs=2)
    assert children() == []


def children() -> list[int]:
    """The processes that this one has started and that have not ended."""
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(number) for task in tasks for number in task.read_text().split()]


class Killing(Hearing):
    """Kills whatever trains as soon as the first epoch is done."""

    def epoch(self, record: dict[str, object]) -> None:
        super().epoch(record)
        for number in children():
            os.kill(number, signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_a_training_that_is_killed_is_told_and_goes_on(
    small_graph: Dataset, config: Config, one_by_one: RunFolder, tmp_path: Path
):
    run = create_run(small_graph, override(config, {"training.epochs": 200}), tmp_path / "run")
    with pytest.raises(RunError, match=r"was killed by signal 9, .* --resume, with fewer --jobs"):
        resume(run.path, Killing(), jobs=2)
    assert children() == []
    run.config_file.write_text(config_text(one_by_one.config()), encoding="utf-8")
    resume(run.path, jobs=2)
    assert run.report()["test"]["all"]["questions"] == one_by_one.report()["test"]["all"]["questions"]


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_trainings_do_not_outlive_who_started_them(small_graph: Dataset, config: Config, tmp_path: Path):
    run = create_run(small_graph, override(config, {"training.epochs": 100_000}), tmp_path / "run")
    words = [sys.executable, "-m", "foretime", "train", "--resume", str(run.path), "--jobs", "2"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    files = [run.last_file, run.member(1).last_file]
    assert within(60, lambda: all(file.exists() for file in files))
    found = workers(run)
    process.kill()
    process.wait()
    assert len(found) == 2
    assert within(60, lambda: workers(run) == [])


def workers(run: RunFolder) -> list[str]:
    """The processes that train stages of a run."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_text().split("\0")
        except OSError:  # it has just ended
            continue
        if "foretime.training.worker" in words and str(run.path) in words:
            found.append(file.parent.name)
    return found


def within(seconds: float, holds) -> bool:
    """Whether something holds after so many seconds at the most."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.1)
    return False
