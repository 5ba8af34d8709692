"""`foretime runs verify` says what is wrong with the folders of runs."""

import json
import shutil
from pathlib import Path

import pytest

from conftest import Command


@pytest.fixture
def runs(small_run: Path, tmp_path: Path) -> Path:
    for name in ("good", "bad"):
        shutil.copytree(small_run, tmp_path / "runs" / name)
    (tmp_path / "runs" / "bad" / "best.safetensors").write_bytes(b"x")
    (tmp_path / "runs" / "none").mkdir()
    return tmp_path / "runs"


def test_a_whole_run_is_fine(foretime: Command, runs: Path):
    found = foretime("runs", "verify", runs / "good")
    assert (found.code, found.out) == (0, "")
    assert "1 run checked, 0 with problems" in found.err


def test_every_problem_of_a_folder_of_runs_is_a_line(foretime: Command, runs: Path):
    found = foretime("runs", "verify", runs)
    assert found.code == 1
    assert f"{runs}/bad/best.safetensors: damaged, it has 1 bytes and not the" in found.out
    assert "good" not in found.out
    assert "2 runs checked, 1 with problems" in found.err
    shown = foretime("runs", "verify", runs / "good", runs / "bad", "--json")
    good, bad = json.loads(shown.out)
    assert shown.code == 1
    assert good == {"run": str(runs / "good"), "finished": True, "problems": []}
    assert bad["problems"]


def test_what_is_no_run_is_an_error(foretime: Command, runs: Path):
    for path in (runs / "none", runs / "nothing"):
        found = foretime("runs", "verify", path)
        assert found.code == 2
        assert "name the folder of a run, or one with runs in it" in found.err
