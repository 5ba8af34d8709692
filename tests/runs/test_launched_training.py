"""`foretime train` started by a launcher: one run, one report, one voice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import foretime as ft
from foretime.data.synthetic import generate_world
from foretime.runs.folder import RunFolder
from foretime.runs.helping import join_launcher
from foretime.training.checkpoint import read_progress
from foretime.training.distributed.team import Team
from several_processes import address, free_port

TRAIN = ["-m", "foretime", "train", "world", "--out", "run", "--model", "tntcomplex", "--rank", "4"]
SETTINGS = {"training.batch_size": 400, "training.threads": 2, "training.device": "cpu"}
LOCAL = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    generate_world(1000).write(tmp_path / "world")
    return tmp_path


def flags(**more: object) -> list[str]:
    return [f"--set={key}={value}" for key, value in (SETTINGS | more).items()]


def test_torchrun_trains_one_run_and_speaks_once(folder: Path):
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node=2", "--master-addr=127.0.0.1"]
    command = [sys.executable, *launcher, f"--master-port={free_port()}", *TRAIN, "--epochs", "2", *flags()]
    done = subprocess.run(command, cwd=folder, env=os.environ | LOCAL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert [said.count(text) for text in ("epoch   1 ", "epoch   2 ", "ranking test", "│ test  │")] == [1] * 4
    settings = SETTINGS | {"training.epochs": 2, "model.rank": 4}
    alone = ft.train(folder / "world", model="tntcomplex", folder=folder / "alone", settings=settings)
    losses = [[line["loss"] for line in RunFolder(path).trace()] for path in (folder / "run", alone.path)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)
    figures = [ft.open_run(path).evaluations["test"].all.mrr for path in (folder / "run", alone.path)]
    assert figures[0] == pytest.approx(figures[1], abs=0.01)


@pytest.mark.parametrize(("jobs", "cluster", "given"), [(2, None, "--jobs 2"), (1, "local", "--cluster local")])
def test_processes_that_train_one_thing_together_train_nothing_beside_it(jobs, cluster, given, monkeypatch):
    three = Team()
    three.size = 3
    monkeypatch.setattr("foretime.runs.helping.team_of_launcher", lambda: three)
    with pytest.raises(ft.ConfigError, match=f"{given}: a launcher has started 3 processes, .* leave it out"):
        join_launcher(jobs, cluster)


def test_a_signal_to_any_process_stops_all_of_them_and_the_state_is_kept(folder: Path):
    port = free_port()
    processes = [
        subprocess.Popen(
            [sys.executable, *TRAIN, "--epochs", "100000", *flags(**{"training.valid_every": 100_000})],
            cwd=folder, env=os.environ | LOCAL | address(rank, 2, port),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(2)
    ]  # fmt: skip
    run = RunFolder(folder / "run")
    while not run.trace() and all(process.poll() is None for process in processes):
        time.sleep(0.1)
    processes[1].send_signal(signal.SIGTERM)
    said = [process.communicate(timeout=100) for process in processes]
    assert [process.returncode for process in processes] == [130, 130], said
    assert said[0][1].endswith("stopped; resume with foretime train --resume run\n")
    assert said[1] == ("", "")
    progress = read_progress(run.last_file)
    assert progress.epochs_done >= len(run.trace()) > 0
