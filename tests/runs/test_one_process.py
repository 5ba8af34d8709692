"""One process at a time trains in a run folder; whoever reads it is not kept from that."""

import errno
import fcntl
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from foretime.config import Config, override
from foretime.data.graph import Graph
from foretime.errors import RunError
from foretime.inference.predictor import Predictor
from foretime.runs.executor import Processes
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import Job
from foretime.runs.life import create_run, plan_epochs, resume
from foretime.runs.parallel import task_of
from interruptions import StopAfter

ENDLESS = {"training.epochs": 100_000, "training.patience": 100_000, "training.valid_every": 1}
HELD = r": another process is training in it; wait until it has finished, or stop it first$"


def test_a_second_process_is_refused_while_one_trains(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = create_run(small_graph, override(small_config, ENDLESS), tmp_path / "run")
    words = [sys.executable, "-m", "foretime", "train", "--resume", str(run.path)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(run.best_file)
        with pytest.raises(RunError, match=f"^{run.path}{HELD}"):
            resume(run.path, StopAfter(5))
        with pytest.raises(RunError, match=HELD):
            plan_epochs(run.path, 5)
        assert Predictor.open(run).calibrations["time"].kinds[0].temperature == 1.0
    finally:
        process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=300) == 130
    epochs = [line["epoch"] for line in run.trace()]
    assert epochs == list(range(1, len(epochs) + 1))
    plan_epochs(run.path, len(epochs) + 1)  # nobody holds it any more
    assert resume(run.path).report()["epochs"] == len(epochs) + 1


def test_a_training_that_has_lost_its_caller_still_holds_the_folder(
    small_graph: Graph, small_config: Config, tmp_path: Path
):
    run = create_run(small_graph, override(small_config, {**ENDLESS, "training.ensemble_size": 2}), tmp_path / "run")
    with Processes(1) as executor:
        with run.held() as lock:
            executor.start(task_of(run, run.config(), Job(None, 1), 1), lock)
            wait_for(run.member(1).trace_file)  # who holds the folder does not lock its own processes out
        with pytest.raises(RunError, match=HELD):
            resume(run.path, StopAfter(5))
    with run.held() as again:
        assert again is not None


@pytest.mark.parametrize("locks", ["no such module", "not on this disk"])
def test_where_there_are_no_locks_training_goes_on_without(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locks: str
):
    def fail(*_: object) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")

    if locks == "no such module":
        monkeypatch.setitem(sys.modules, "fcntl", None)
    else:
        monkeypatch.setattr(fcntl, "flock", fail)
    run = RunFolder(shutil.copytree(small_run, tmp_path / "copy"))
    run.report_file.unlink()
    assert resume(run.path).report()["test"] == RunFolder(small_run).report()["test"]


def wait_for(file: Path, seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not file.exists():
        assert time.monotonic() < end, f"{file} did not come"
        time.sleep(0.02)
