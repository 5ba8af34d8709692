"""What a process that starts trainings hears of them, and they of it."""

import os
import subprocess
import sys

import pytest

from foretime.runs.caller import MOST, VARIABLE, FaultPipe, caller_is_gone, report_fault

CHILD = "from foretime.runs.caller import report_fault; report_fault({text!r})"


def fault_of(text: str) -> str:
    with FaultPipe() as faults:
        command = [sys.executable, "-c", CHILD.format(text=text)]
        environment = os.environ | faults.environment()
        subprocess.run(command, pass_fds=[faults.descriptor], env=environment, check=True)
        return faults.fault()


@pytest.mark.parametrize(
    ("text", "heard"),
    [("events.tsv:3: too few fields\nmore", "events.tsv:3: too few fields"), ("x" * 9000, "x" * MOST), ("", "")],
)
def test_the_first_line_of_a_fault_is_heard(text: str, heard: str):
    assert fault_of(text) == heard


def test_who_tells_nothing_is_not_waited_for():
    with FaultPipe() as faults:
        assert faults.fault() == ""


def test_a_caller_that_is_not_the_parent_is_gone(monkeypatch: pytest.MonkeyPatch):
    read, write = os.pipe()
    told = {}
    for caller in (f"{os.getppid()}:{write}", f"{os.getpid()}:{write}", "", "somebody", "12:"):
        monkeypatch.setenv(VARIABLE, caller)
        told[caller] = caller_is_gone()
        report_fault("a fault")
    assert list(told.values()) == [False, True, False, False, False]
    assert os.read(read, 100) == b"a faulta fault"
    os.close(read)
    monkeypatch.setenv(VARIABLE, f"{os.getppid()}:{write}")
    report_fault("nobody listens")  # and that is no fault
    os.close(write)
