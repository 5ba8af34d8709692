"""What hangs is told and ended: a question, the loop of the connections, Python itself. In real processes."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from live_service import held, wait_for

from foretime.service import watchdog
from foretime.service.watchdog import HUNG

QUESTION = {"subject": "state 0", "predicate": "visits", "time": "2020-05-01"}
SCRIPT = Path(__file__).with_name("hanging_service.py")


class Hanging:
    """The script in a process of its own, and what it says."""

    def __init__(self, run: Path, how: str, deadline: float, grace: float, give_up: float) -> None:
        words = [sys.executable, str(SCRIPT), str(run), how, str(deadline), str(grace), str(give_up)]
        self.running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        assert self.running.stderr is not None
        self.url = self.running.stderr.readline().strip()
        assert self.url.startswith("http"), self.running.stderr.read()
        self.lines: list[str] = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.running.stderr), daemon=True)  # type: ignore[arg-type]
        self.reader.start()

    def ask(self) -> httpx.Response:
        wait_for(lambda: self.ready().status_code == 200)
        return httpx.get(f"{self.url}/api/v1/runs/small/complete", params=QUESTION, timeout=120)

    def ready(self) -> httpx.Response:
        return httpx.get(f"{self.url}/readyz", timeout=120)

    def ended(self) -> tuple[int, list[dict[str, Any]]]:
        """Return the exit code, and the log."""
        code = self.running.wait(300)
        self.reader.join(60)
        return code, [json.loads(line) for line in self.lines if line.startswith("{")]


@pytest.fixture
def hanging(runs_folder: Path) -> Iterator[Callable[..., Hanging]]:
    found: list[Hanging] = []

    def start(how: str, deadline: float = 0.5, grace: float = 0.5, give_up: float = 1_000.0) -> Hanging:
        found.append(Hanging(runs_folder / "small", how, deadline, grace, give_up))
        return found[-1]

    yield start
    for one in found:
        if one.running.poll() is None:
            one.running.kill()
            one.running.wait()


def named(log: list[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    return [line for line in log if line["event"] == event]


def test_a_question_that_hangs_makes_the_service_unready_and_then_ends_it(hanging):
    process = hanging("lane", give_up=6.0)
    answer = process.ask()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "too_slow")
    wait_for(lambda: process.ready().status_code == 503)
    message = process.ready().json()["error"]["message"]
    assert message.startswith("a job (complete) has held up the thread of the models for ")
    assert message.endswith("; the service ends itself if that goes on")
    assert httpx.get(f"{process.url}/healthz").status_code == 200  # the process is still there
    code, log = process.ended()
    assert code == HUNG == 70
    [told] = named(log, "overrun")
    assert (told["level"], told["lane"], told["kind"]) == ("error", "models", "complete")
    assert told["where"][-2].endswith(" hang"), "the log says in which function it hangs"
    [end] = named(log, "the process ends itself")
    assert end["exit_code"] == HUNG
    assert "complete" in end["why"]


def test_a_service_that_is_asked_to_stop_ends_though_a_question_hangs(hanging):
    process = hanging("lane")
    assert process.ask().status_code == 503
    process.running.send_signal(signal.SIGTERM)
    code, log = process.ended()
    assert code == HUNG
    assert named(log, "the process ends itself")[0]["why"] == "the thread of the models did not end"


def test_a_service_that_is_asked_to_stop_ends_though_its_connections_hang(hanging):
    process = hanging("loop")
    process.running.send_signal(signal.SIGTERM)
    code, log = process.ended()
    assert code == HUNG
    assert named(log, "the process ends itself")


def test_a_service_in_which_nothing_runs_any_more_ends_and_says_where_it_was(hanging):
    process = hanging("frozen")
    with pytest.raises(httpx.HTTPError):
        process.ask()
    code, _ = process.ended()
    assert code == 1
    assert any("Timeout (" in line for line in process.lines)
    assert any(" in hang" in line for line in process.lines)


def test_an_overrun_that_ends_makes_the_service_ready_again(live_with):
    live = live_with(deadline=0.1, grace=0.1)
    with held(live.service.models):
        wait_for(lambda: live.client.get("/readyz").status_code == 503)
        assert "held up the thread of the models" in live.client.get("/readyz").json()["error"]["message"]
    wait_for(lambda: live.client.get("/readyz").status_code == 200)


@pytest.mark.parametrize("lane", ["graphs", "loads"])
def test_every_lane_is_watched(live_with, lane: str):
    live = live_with(deadline=0.1, grace=0.1)
    patience = getattr(live.service.lanes, lane).patience
    assert patience == (0.2 if lane == "graphs" else float("inf")), "runs that are not tried may take any time"
    with held(getattr(live.service.lanes, lane)):
        if lane == "graphs":
            wait_for(lambda: live.service.lanes.overrun is not None)
        else:
            assert live.service.lanes.overrun is None


def test_the_document_has_the_exit_codes_and_the_times():
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
    assert f"| {HUNG} |" in page
    assert f"after {watchdog.SECONDS_TO_STOP:g} seconds at the latest" in page
    assert f"for {watchdog.SECONDS_FROZEN:g} seconds" in page
