"""Several trainings of one run side by side: the same weights as one after the other, whatever happens on the way."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from foretime.config import Config, override
from foretime.data.graph import Graph
from foretime.errors import ForetimeError, Interrupted, RunError
from foretime.runs.executor import Processes
from foretime.runs.executor.base import End, Heard, check_end
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import Job, jobs_left, jobs_of
from foretime.runs.life import create_run, resume, train
from foretime.runs.parallel import task_of, threads_of_each
from foretime.training.callbacks import Callback
from foretime.training.checkpoint import read_progress
from interruptions import StopAfter, bytes_of

TWO_STAGES = {
    "training.ensemble_size": 2, "training.epochs": 2, "training.threads": 1, "model.rank": 4,
    "reranker.use": True, "reranker.fit": "refit", "reranker.folds": 3, "reranker.top": 5, "reranker.trees": 8,
    "reranker.leaves": 5, "reranker.leaf_candidates": 4,
}  # fmt: skip
FOLDERS = ("", "member-1", "fold-0", "fold-0/member-1")


@pytest.fixture(scope="module")
def config(small_config: Config) -> Config:
    return override(small_config, TWO_STAGES)


@pytest.fixture(scope="module")
def one_by_one(small_graph: Graph, config: Config, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return train(small_graph, config, tmp_path_factory.mktemp("one") / "run")


def assert_same(run: RunFolder, other: RunFolder) -> None:
    for folder in FOLDERS:
        assert bytes_of(run.path / folder) == bytes_of(other.path / folder)
    assert run.reranker_file.read_bytes() == other.reranker_file.read_bytes()
    assert run.report()["test"] == other.report()["test"]


class Hearing(Callback):
    def __init__(self) -> None:
        self.records: list[dict[str, object]] = []
        self.steps = self.ended = 0

    def step(self, epoch: int, step: int, loss: float) -> None:
        self.steps += 1

    def epoch(self, record: dict[str, object]) -> None:
        self.records.append(record)

    def end(self) -> None:
        self.ended += 1


def test_every_training_of_a_run_has_a_name_and_a_folder(config: Config, tmp_path: Path):
    run = RunFolder(tmp_path)
    assert [job.name for job in jobs_of(config)] == ["", "member 2", "fold 1", "fold 1, member 2"]
    assert [job.folder(run).path for job in jobs_of(config)] == [tmp_path / folder for folder in FOLDERS]
    assert jobs_of(override(config, {"reranker.use": False, "training.ensemble_size": 1})) == [Job(None, 0)]
    several = {"reranker.fit": "out-of-fold", "reranker.fitted_folds": 2, "training.ensemble_size": 1}
    assert [job.fold for job in jobs_of(override(config, several))] == [None, 0, 1]


def test_parallel_jobs_end_as_in_sequence(small_graph: Graph, config: Config, one_by_one: RunFolder, tmp_path: Path):
    heard = Hearing()
    run = train(small_graph, config, tmp_path / "run", heard, jobs=3)
    assert_same(run, one_by_one)
    assert not list(run.path.glob(".*"))  # the locks of its jobs are gone
    assert {(record["job"], record["epoch"]) for record in heard.records} == {
        (job.name, epoch) for job in jobs_of(config) for epoch in (1, 2)
    }
    assert heard.ended == 1


def test_stopping_in_parallel_changes_nothing(
    small_graph: Graph, config: Config, one_by_one: RunFolder, tmp_path: Path
):
    run, said = create_run(small_graph, config, tmp_path / "run"), []
    while not run.report_file.exists():
        try:
            resume(run.path, StopAfter(2 + 20 * len(said)), jobs=2)
        except Interrupted as stop:
            said.append(str(stop))
    assert set(said) == {f"stopped; resume with foretime train --resume {run.path}"}
    assert_same(run, one_by_one)


def test_what_was_begun_one_by_one_continues_in_parallel(
    small_graph: Graph, config: Config, one_by_one: RunFolder, tmp_path: Path
):
    run = create_run(small_graph, config, tmp_path / "run")
    with pytest.raises(Interrupted):
        resume(run.path, StopAfter(6))
    assert len(jobs_left(run, config)) > 1
    assert_same(resume(run.path, jobs=2), one_by_one)


def test_a_training_that_fails_is_reported_by_its_name(small_graph: Graph, config: Config, tmp_path: Path):
    wild = override(config, {"training.learning_rate": 1e30, "reranker.use": False, "training.optimizer": "adam"})
    run = create_run(small_graph, wild, tmp_path / "run")
    with pytest.raises(ForetimeError, match=r"^(the base model|member 2): the loss is no longer a number"):
        resume(run.path, jobs=2)
    assert workers(run) == []


def test_threads_are_shared_and_do_not_depend_on_what_is_left(config: Config):
    four = override(config, {"training.threads": 4})
    assert [threads_of_each(four, jobs) for jobs in (1, 2, 3, 4, 9)] == [4, 2, 1, 1, 1]
    assert threads_of_each(override(four, {"reranker.use": False}), 9) == 2
    assert threads_of_each(config, 2) == 1


def test_one_training_that_is_left_needs_no_process(small_graph: Graph, config: Config, tmp_path: Path):
    one, heard = override(config, {"reranker.use": False, "training.ensemble_size": 1}), Hearing()
    train(small_graph, one, tmp_path / "run", heard, jobs=4)
    assert [(record["job"], record["epoch"]) for record in heard.records] == [("", 1), ("", 2)]
    assert heard.steps > 2


def test_a_re_ranker_that_is_fitted_needs_no_folds(one_by_one: RunFolder, tmp_path: Path):
    run = RunFolder(shutil.copytree(one_by_one.path, tmp_path / "run"))
    shutil.rmtree(run.fold(0).path)
    run.report_file.unlink()
    assert resume(run.path, jobs=2).report()["test"] == one_by_one.report()["test"]
    assert not run.fold(0).path.exists()


def test_the_configured_threads_rank_too(one_by_one: RunFolder, tmp_path: Path):
    run = RunFolder(shutil.copytree(one_by_one.path, tmp_path / "run"))
    run.report_file.unlink()
    torch.set_num_threads(2)
    assert resume(run.path).report()["machine"]["threads"] == 1


class Killing(Hearing):
    """Kills whatever trains the run as soon as the first epoch is done."""

    def __init__(self, run: RunFolder) -> None:
        super().__init__()
        self.run = run

    def epoch(self, record: dict[str, object]) -> None:
        super().epoch(record)
        for number in workers(self.run):
            os.kill(number, signal.SIGKILL)


in_proc = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks for processes in /proc")


@in_proc
def test_a_training_that_is_killed_is_reported(small_graph: Graph, config: Config, tmp_path: Path):
    run = create_run(small_graph, override(config, {"training.epochs": 200}), tmp_path / "run")
    with pytest.raises(RunError, match=rf"was killed by signal 9, .* --resume {run.path}, with fewer --jobs"):
        resume(run.path, Killing(run), jobs=2)
    assert within(300, lambda: workers(run) == [])
    assert run.last_file.exists() or run.member(1).last_file.exists()


@pytest.fixture
def endless(small_graph: Graph, config: Config, tmp_path: Path) -> RunFolder:
    """A run that would take hours, whose state is saved at the end of each epoch and when it is asked to stop."""
    changes = {"training.epochs": 100_000, "training.valid_every": 100_000, "training.batch_size": 10}
    changes |= {"training.checkpoint_seconds": 100_000, "training.patience": 100_000}
    return create_run(small_graph, override(config, changes), tmp_path / "run")


@in_proc
def test_who_is_asked_to_stop_saves_its_state_first(endless: RunFolder):
    task = task_of(endless, endless.config(), Job(None, 0), 1)
    with Processes(1) as executor:
        assert executor.has_room(1)
        executor.start(task)
        assert not executor.has_room(1)
        assert within(300, endless.last_file.exists)
        before = endless.last_file.stat().st_mtime_ns
        executor.stop(task)
        heard = events_until_the_end(executor)
    assert endless.last_file.stat().st_mtime_ns > before
    *reports, end = heard  # epochs that it finished before it was asked, then the end
    assert end == Heard(task, end=End(130))
    assert [event.report["epoch"]["epoch"] for event in reports] == list(range(1, len(heard)))
    assert read_progress(endless.last_file).epochs_done == len(reports)
    check_end(task, End(130), stopping=True)
    with pytest.raises(RunError, match=r"the training of the base model ended with exit code 130; resume with"):
        check_end(task, End(130))


@in_proc
def test_trainings_save_their_state_when_who_started_them_is_gone(endless: RunFolder):
    words = [sys.executable, "-m", "foretime", "train", "--resume", str(endless.path), "--jobs", "2"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    files = [endless.last_file, endless.member(1).last_file]
    assert within(300, lambda: all(file.exists() for file in files))
    assert len(workers(endless)) == 2
    before = [file.stat().st_mtime_ns for file in files]
    process.kill()
    process.wait()
    assert within(300, lambda: workers(endless) == [])
    assert all(file.stat().st_mtime_ns > then for file, then in zip(files, before, strict=True))


def test_what_others_print_is_handed_on(endless: RunFolder, monkeypatch, capsys):
    program = "import sys; sys.stdout.buffer.write(b'hello\\n5\\n\\xff\\n{\"epoch\": 1}\\n')"
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda words, **more: start([words[0], "-c", program], **more))
    task = task_of(endless, endless.config(), Job(0, 1), 1)
    with Processes(1) as executor:
        executor.start(task)
        assert events_until_the_end(executor) == [Heard(task, {"epoch": 1}), Heard(task, end=End(0))]
    assert capsys.readouterr().err == "hello\n5\n\ufffd\n"


def events_until_the_end(executor: Processes) -> list[Heard]:
    """What is heard of the one task of an executor, its end last."""
    found: list[Heard] = []
    while not found or found[-1].end is None:
        event = executor.next(300)
        assert event is not None
        found.append(event)
    return found


def workers(run: RunFolder) -> list[int]:
    """The processes that do jobs of a run."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_text().split("\0")
        except OSError:  # it has just ended
            continue
        if "foretime.runs.executor.worker" in words and any(f'"{run.path}"' in word for word in words):
            found.append(int(file.parent.name))
    return found


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether something holds after so many seconds at the most."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.1)
    return False
