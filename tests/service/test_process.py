"""`foretime serve` as a process: stopped at once, and with a log that nobody reads."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from foretime.service.settings import SECONDS_TO_FINISH

REQUESTS = 700
"""Their lines in the log are more than the 64 KiB that a pipe holds."""


@pytest.fixture
def unread(runs_folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of whose log only the first line has been read."""
    words = [sys.executable, "-m", "foretime", "serve", str(runs_folder / "small"), "--port", "0"]
    running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, bufsize=1)
    yield running
    if running.poll() is None:
        running.kill()
        running.wait()


def address(running: subprocess.Popen[str]) -> str:
    assert running.stderr is not None
    line = running.stderr.readline()
    assert "listens on" in line
    return line.split()[-1]


def test_a_process_can_be_stopped_as_soon_as_it_has_printed_its_address(unread: subprocess.Popen[str]):
    address(unread)
    unread.send_signal(signal.SIGTERM)
    assert unread.wait(120) == 0


def test_a_log_that_nobody_reads_stops_nothing(unread: subprocess.Popen[str]):
    with httpx.Client(base_url=address(unread), timeout=120) as client:
        for _ in range(REQUESTS):
            assert client.get("/").status_code == 200
    begun = time.monotonic()
    unread.send_signal(signal.SIGTERM)
    assert unread.wait(120) == 0
    assert time.monotonic() - begun < SECONDS_TO_FINISH


def test_two_runs_of_one_name_are_told_on_the_command_line_and_in_the_log(process, runs_folder: Path, tmp_path: Path):
    other = tmp_path / "world"
    shutil.copytree(runs_folder / "world", other)
    started = process(other, "--load-seconds", 0)
    assert httpx.get(f"{started.url}/api/v1/runs").json()["problems"][0]["run"] == "world"
    assert started.stop() == 0
    both = [str(runs_folder / "world"), str(other)]
    assert f"{' and '.join(both)} have the same name; only {both[0]} is served" in started.lines[0]
    [told] = [json.loads(line) for line in started.lines if '"several runs of one name"' in line]
    assert (told["level"], told["run"], told["folders"]) == ("warning", "world", both)
