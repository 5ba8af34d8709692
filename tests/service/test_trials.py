"""Runs are tried in a process of their own: what crashes, hangs or grows there harms nobody, and is told."""

import logging
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from live_service import Live, wait_for

from foretime.service import trial
from foretime.service.settings import Settings
from foretime.service.trial import Failure, Trial
from foretime.service.trial_process import wants_memory

QUESTION = {"subject": "state 0", "predicate": "visits", "time": "2020-05-01"}
FAKE = """
import ctypes, os, sys, time, types
from foretime.errors import RunError

class ServedRun:
    def __init__(self, name, path, device):
        {body}
    def warm_ups(self):
        return []

served = types.ModuleType("foretime.service.served")
served.ServedRun = ServedRun
sys.modules["foretime.service.served"] = served
from foretime.service.trial_process import main
main()
"""


def sabotage(monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Let opening a run do something else in the process that tries it, which then loads nothing heavy."""
    script = FAKE.replace("{body}", textwrap.indent(textwrap.dedent(body), " " * 8).strip())
    monkeypatch.setattr(trial, "PROGRAM", ("-c", script))


def failure(**settings: float) -> Failure | None:
    return Trial(Settings(**settings)).failure_of("odd", Path("odd"))  # type: ignore[arg-type]


def test_a_run_that_opens_is_no_failure(monkeypatch: pytest.MonkeyPatch):
    sabotage(monkeypatch, "pass")
    assert failure() is None


@pytest.mark.parametrize(
    ("body", "message", "detail"),
    [
        ("raise RunError('odd/graph.json: damaged')", "cannot be loaded; the log", "odd/graph.json: damaged"),
        ("raise KeyError('rank')", "cannot be loaded; the log", "KeyError('rank')"),
        ("sys.exit(0)", "cannot be loaded; the log", "SystemExit(0)"),
        ("os._exit(7)", "it ended the process that tried it", "exit code 7"),
        ("ctypes.string_at(0)", "it ended the process that tried it", "SIGSEGV: Fatal Python error"),
        ("os.kill(os.getpid(), 9)", "it ended the process that tried it", "SIGKILL"),
    ],
)  # fmt: skip
def test_a_run_that_fails_is_told_briefly_to_clients_and_fully_to_the_log(
    monkeypatch: pytest.MonkeyPatch, body: str, message: str, detail: str
):
    sabotage(monkeypatch, body)
    found = failure()
    assert found is not None
    assert message in found.message
    assert "odd" not in found.message
    assert detail in found.detail


@pytest.mark.parametrize(
    "hang",
    [
        "while True: pass",
        "ctypes.PyDLL(None).sleep(1000)",  # without letting any other thread run Python
        "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); time.sleep(1000)",
    ],
)
def test_a_run_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, hang: str):
    sabotage(monkeypatch, hang)
    found = failure(load_seconds=1.0)
    assert found is not None
    assert found.message == "cannot be loaded within 1 s; the log of the service says why"
    assert "Timeout" in found.detail
    assert "__init__" in found.detail, "the log says where it hung"


def test_a_process_that_cannot_end_itself_is_killed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trial, "PROGRAM", ("-c", "import time; time.sleep(1000)"))
    monkeypatch.setattr(trial, "SECONDS_TO_SPARE", 0.1)
    found = failure(load_seconds=0.1)
    assert found is not None
    assert "within 0.1 s" in found.message
    assert found.detail.startswith("killed")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit of memory is that of Linux")
@pytest.mark.parametrize(
    "body", ["bytearray(2**30)", "bytearray(10**15)", "b = []\nwhile True: b.append(bytearray(2**22))"]
)
def test_a_run_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch, body: str):
    sabotage(monkeypatch, body)
    found = failure(load_memory=0.25)
    assert found is not None
    assert found.message == "cannot be loaded with 0.25 GiB of memory; the log of the service says why"
    assert found.detail.endswith("; if it needs more memory, raise --load-memory")


def test_an_error_for_want_of_memory_is_known_by_what_led_to_it():
    assert wants_memory(MemoryError())
    assert wants_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"))
    hidden = ValueError("too large")
    hidden.__context__ = MemoryError()  # as raising one from None leaves it
    assert wants_memory(hidden)
    assert not wants_memory(ValueError("too large"))


def test_the_process_knows_no_token_and_takes_no_module_from_where_it_runs(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("FORETIME_TOKEN", "a-token-for-the-tests-0123456789")
    for name in ("torch", "numpy", "foretime"):
        (tmp_path / f"{name}.py").write_text("import os; os._exit(9)")
    monkeypatch.chdir(tmp_path)
    sabotage(monkeypatch, "raise RunError(os.environ.get('FORETIME_TOKEN', 'unknown'))")
    monkeypatch.setattr(trial, "PROGRAM", ("-P", *trial.PROGRAM))
    found = failure()
    assert found is not None
    assert found.detail == "unknown"
    monkeypatch.undo()
    assert trial.PROGRAM[0] == "-P"


def test_what_a_process_says_is_kept_in_part(monkeypatch: pytest.MonkeyPatch):
    sabotage(monkeypatch, "sys.stderr.write('x' * 10**6); raise RunError('the end')")
    found = failure()
    assert found is not None
    assert len(found.detail) <= trial.DETAIL_AT_MOST
    assert found.detail.endswith("the end")


@pytest.fixture
def served(runs_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(runs_folder / "small", tmp_path / "runs" / "small")
    return tmp_path / "runs"


def by_name(**bodies: str) -> str:
    """A body that does something else for each name of a run, and opens any other."""
    cases = "".join(f"\nif name == {name!r}:\n    {body}" for name, body in bodies.items())
    return f"open(path + '/../tried', 'a').write(name + ' '){cases}".replace("path +", "str(path) +")


def test_a_run_that_hangs_keeps_no_other_from_being_served_nor_the_service_from_ending(
    live_with, served: Path, monkeypatch: pytest.MonkeyPatch
):
    shutil.copytree(served / "small", served / "a-hung-one")
    sabotage(monkeypatch, by_name(**{"a-hung-one": "time.sleep(1000)"}))
    live = Live([served], Settings(port=0, load_seconds=500, look_again=0.1))
    live.service.catalog._looked = True  # it would be waited for
    with live:
        wait_for(lambda: "small" in live.service.catalog.runs)
        assert live.get("/runs/small/complete", **QUESTION).status_code == 200
        assert live.client.get("/readyz").status_code == 200
        [process] = live.service.catalog._trial._under_way
        assert process.poll() is None
    assert process.poll() is not None, "it was ended with the service"
    assert not live._thread.is_alive()


def test_a_failure_is_listed_and_logged_and_the_run_tried_again_when_its_files_change(
    live_with, served: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    shutil.copytree(served / "small", served / "odd")
    sabotage(monkeypatch, by_name(odd="ctypes.string_at(0)"))
    live = live_with([served], load_seconds=100.0, look_again=0.1)
    [problem] = live.found("/runs")["problems"]
    assert problem["run"] == "odd"
    assert problem["message"] == "cannot be loaded: it ended the process that tried it; the log of the service says why"
    assert problem["message"] in live.get("/runs/odd").json()["error"]["message"]
    [record] = [one for one in caplog.records if one.getMessage() == "run not loaded"]
    assert record.error.startswith("SIGSEGV")
    sabotage(monkeypatch, "pass")
    report = served / "odd" / "report.json"
    os.utime(report, ns=(0, 0))
    wait_for(lambda: "odd" in live.service.catalog.runs)
    assert live.found("/runs")["problems"] == []
    # a run that is served stays as it was while its new files cannot be loaded
    sabotage(monkeypatch, "os._exit(5)")
    os.utime(report, ns=(1, 1))
    wait_for(lambda: live.service.catalog._tried["odd"].seconds > 0)
    assert live.get("/runs/odd/complete", **QUESTION).status_code == 200


def test_files_that_change_while_a_run_is_tried_have_it_tried_again(
    live_with, served: Path, monkeypatch: pytest.MonkeyPatch
):
    change = "os.utime(path / 'report.json', ns=(0, 0))  # the first time only\n"
    sabotage(monkeypatch, f"if not os.path.exists(path / '../tried'):\n    {change}{by_name()}")
    live = live_with([served], load_seconds=100.0, look_again=0.1)
    wait_for(lambda: "small" in live.service.catalog.runs)
    assert (served / "tried").read_text() == "small small "


def test_a_damaged_run_is_refused_by_a_real_process_and_a_whole_one_passes(served: Path):
    """The only test here with the program that users have: it takes seconds to load all that a model needs."""
    found = Trial(Settings()).failure_of("small", served / "small")
    assert found is None, found
    (served / "small" / "graph.json").write_text("{")
    found = Trial(Settings()).failure_of("small", served / "small")
    assert found is not None
    assert "graph.json" in found.detail


def test_two_runs_of_one_name_are_told_and_the_first_stays(
    live_with, served: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    other = tmp_path / "before"  # it would be found first
    other.mkdir()
    live = live_with([other, served], look_again=0.1)
    loaded = live.found("/runs/small")["loaded"]
    shutil.copytree(served / "small", other / "small")
    wait_for(lambda: live.service.catalog.doubles != {})
    assert live.found("/runs")["problems"] == [
        {
            "run": "small",
            "message": "is the name of several runs, of which one is served; rename the folders of the others",
        }
    ]
    [record] = [one for one in caplog.records if one.getMessage() == "several runs of one name"]
    assert record.folders == [str(other / "small"), str(served / "small")]
    assert live.found("/runs/small")["loaded"] == loaded
    shutil.rmtree(served / "small")  # then the other takes its place
    wait_for(lambda: live.found("/runs/small")["loaded"] != loaded)
    assert live.found("/runs")["problems"] == []


def test_the_process_is_a_program_that_can_be_run():
    done = subprocess.run(
        [sys.executable, *trial.PROGRAM, "none", "/nowhere/at/all", "100", "0"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "no such run folder" in done.stderr
