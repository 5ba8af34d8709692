"""The agenda over HTTP: the same events as in Python, with reasons, and only of a run that forecasts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from live_service import Live

from foretime.config import Config, DataConfig, override
from foretime.data.graph import read_graph
from foretime.data.synthetic import generate_world
from foretime.inference.run import Run
from foretime.runs.life import train
from foretime.service.settings import MOST_EXPLAINED_EVENTS

TOKEN = "a-token-of-enough-letters"
SETTINGS = {
    "model.name": "rules", "evidence.use": True, "evidence.past_only": True, "rules.support": 2,
    "evidence.splits": ["train", "valid", "test"], "training.epochs": 1, "training.batch_size": 200,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(small_config: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that forecasts, its agenda fitted as `foretime forecast` leaves it."""
    place = tmp_path_factory.mktemp("forecasting")
    graph = read_graph(generate_world(1500).write(place / "world"), DataConfig(split="time"))
    path = train(graph, override(small_config, SETTINGS), place / "future").path
    Run(path).forecast(top=1)
    return path


def test_the_route_says_what_python_says(live_with: Callable[..., Live], folder: Path):
    live, run = live_with([folder], deadline=60.0), Run(folder)
    found = live.found("/runs/future/forecast", steps=3, top=30)
    said = run.forecast(steps=3, top=30)
    assert found["events"] == [event.to_dict() for event in said]
    assert (found["start"], found["end"], found["known_until"]) == (said.start, said.end, said.known_until)
    best = said[0]
    asked = {"subject": best.subject, "start": run.graph.timeline.label(200), "top": 5}
    limited = live.post("/runs/future/forecast", asked).json()
    assert limited["start"] == asked["start"] > limited["known_until"]
    assert {event["subject"] for event in limited["events"]} == {best.subject}


def test_the_first_events_come_with_as_many_reasons_as_were_asked_for(live_with: Callable[..., Live], folder: Path):
    live, run = live_with([folder], deadline=60.0), Run(folder)
    events = live.found("/runs/future/forecast", top=MOST_EXPLAINED_EVENTS + 1, reasons=1)["events"]
    assert events[0]["sentence"] == run.forecast(top=1)[0].explain(top=1).sentences[0]
    assert all(len(event["reasons"]) == 1 for event in events[:MOST_EXPLAINED_EVENTS])
    assert "reasons" not in events[MOST_EXPLAINED_EVENTS]


def test_what_cannot_be_forecast_says_why(live_with: Callable[..., Live], live: Live, folder: Path):
    refused = live.get("/runs/small/forecast")
    assert refused.status_code == 422
    assert "train one that forecasts" in refused.json()["error"]["message"]
    future = live_with([folder], deadline=60.0)
    for asked, words in (
        ({"subject": "nobody"}, "unknown entity 'nobody'"),
        ({"start": "1999-01-01"}, "1999-01-01"),
        ({"steps": 0}, "steps"),
        ({"top": 101}, "top"),
    ):
        wrong = future.get("/runs/future/forecast", **asked)
        assert wrong.status_code == 422
        assert words in wrong.text


def test_an_event_moves_the_window_and_its_undoing_moves_it_back(live_with: Callable[..., Live], folder: Path):
    live = live_with([folder], deadline=60.0, token=TOKEN)
    before = live.found("/runs/future/forecast", steps=1, top=10)
    first = before["events"][0]
    event = {name: first[name] for name in ("subject", "predicate", "object")} | {"time": before["start"]}
    assert live.post("/runs/future/events", {"events": [event]}).json()["new"] == 1
    after = live.found("/runs/future/forecast", steps=1, top=10)
    assert after["known_until"] == before["start"] < after["start"]
    assert after["note"].startswith("1 event was added")
    undone = live.client.delete("/api/v1/runs/future/events/last")
    assert undone.status_code == 200, undone.text
    assert live.found("/runs/future/forecast", steps=1, top=10) == before
