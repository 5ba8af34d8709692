"""A served run takes new events in: through the API with a token, and by noticing that its folder has more."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from live_service import Live, wait_for

from foretime.inference.run import Run

TOKEN = "a-token-of-enough-letters"


@pytest.fixture
def folder(evidence_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(evidence_run, tmp_path / "world"))


@pytest.fixture
def event(folder: Path) -> dict[str, str]:
    subject, predicate, _, _ = next(iter(Run(folder).graph.rows("test")))
    return {"subject": subject, "predicate": predicate, "object": "Atlantis", "time": "2030-01-05"}


def test_events_enter_the_answers_at_once_and_are_kept(live_with: Callable[..., Live], folder: Path, event):
    live = live_with([folder], token=TOKEN, look_again=0.1)
    before = live.found("/runs/world")
    done = live.post("/runs/world/events", {"events": [{**event, "known": "2030-01-07"}]})
    assert done.status_code == 200, done.text
    assert done.json() == {
        "run": "world", "number": 1, "new": 1, "already_there": 0, "new_entities": 1, "new_predicates": 0, "alike": {},
        "last": "2030-01-05", "bad_rows": 0, "kinds_of_bad_rows": [],
    }  # fmt: skip
    asked = {key: event[key] for key in ("subject", "predicate", "time")}
    found = live.found("/runs/world/complete", **asked, top=100)
    known = {answer["name"]: answer["already_known"] for answer in found["answers"]}
    assert known["Atlantis"] == "update"
    assert "1 event was added by 1 update, until 2030-01-05" in found["note"]
    after = live.found("/runs/world")
    assert (after["added_events"], after["added_until"], after["last"]) == (1, "2030-01-05", "2030-01-05")
    assert after["entities"] == before["entities"] + 1
    assert after["facts"]["update"] == 1
    assert live.found("/runs/world/entities", prefix="Atl")["total"] == 1
    assert live.found("/runs/world/facts", entity="Atlantis")["total"] == 1
    earlier = live.found("/runs/world/complete", **asked, top=100, as_of="2030-01-06", by="known")
    assert "Atlantis" not in {one["name"] for one in earlier["answers"] if one["already_known"]}
    assert earlier["evidence"][0].startswith("as of 2030-01-06: ")
    why = live.found("/runs/world/explain", **asked, object="Atlantis", as_of="2030-01-06")
    assert "no embedding for Atlantis" in why["note"]
    again = live.post("/runs/world/events", {"events": [event]}).json()
    assert (again["number"], again["already_there"]) == (None, 1)
    assert len(Run(folder).updates) == 1


def test_bad_events_are_skipped_and_counted_if_that_is_asked_for(live_with: Callable[..., Live], folder: Path, event):
    live = live_with([folder], token=TOKEN)
    given = {"events": [event, {**event, "time": "soon"}], "bad_rows": "skip"}
    done = live.post("/runs/world/events", given).json()
    assert (done["new"], done["bad_rows"]) == (1, 1)
    assert "'soon' is not a time" in done["kinds_of_bad_rows"][0]


def test_without_a_token_nothing_is_taken_in_and_bad_events_change_nothing(
    live_with: Callable[..., Live], folder: Path, event
):
    refused = live_with([folder]).post("/runs/world/events", {"events": [event]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "no_token")
    live = live_with([folder], token=TOKEN)
    bad = live.post("/runs/world/events", {"events": [event, {**event, "time": "someday"}]})
    assert bad.status_code == 422
    assert "row 2: the time 'someday' is not a time" in bad.json()["error"]["message"]
    assert (
        live.client.post(
            "/api/v1/runs/world/events", json={"events": [event]}, headers={"Authorization": ""}
        ).status_code
        == 401
    )
    both = live.get("/runs/world/complete", subject=event["subject"], predicate=event["predicate"], time="2024-01-05",
                    as_of="2024-01-01", past_only=True)  # fmt: skip
    assert both.status_code == 422
    assert Run(folder).updates == []


def test_updates_that_another_process_writes_are_noticed(live_with: Callable[..., Live], folder: Path, event):
    live = live_with([folder], look_again=0.1)
    loaded = live.service.catalog["world"]
    Run(folder).update([event])
    wait_for(lambda: live.found("/runs/world")["added_events"] == 1)
    assert live.service.catalog["world"] is loaded, "it was not loaded again"
    Run(folder).undo_update()
    wait_for(lambda: live.found("/runs/world")["added_events"] == 0)
    assert "update" not in live.found("/runs/world")["facts"]


def test_the_last_update_is_taken_back_with_the_token_and_only_with_it(
    live_with: Callable[..., Live], folder: Path, event
):
    refused = live_with([folder]).client.delete("/api/v1/runs/world/events/last")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "no_token")
    live = live_with([folder], token=TOKEN)
    nothing = live.client.delete("/api/v1/runs/world/events/last")
    assert (nothing.status_code, nothing.json()["error"]["code"]) == (404, "not_found")
    before = live.found("/runs/world")
    live.post("/runs/world/events", {"events": [event]})
    live.post("/runs/world/events", {"events": [{**event, "time": "2030-01-09"}]})
    undone = live.client.delete("/api/v1/runs/world/events/last").json()
    assert (undone["number"], undone["events"], undone["first"]) == (2, 1, "2030-01-09")
    assert undone["last_now"] == live.found("/runs/world")["last"] == "2030-01-05"
    assert live.client.delete("/api/v1/runs/world/events/last").json()["number"] == 1
    after = live.found("/runs/world")
    assert {name: after[name] for name in ("entities", "facts", "last")} == {
        name: before[name] for name in ("entities", "facts", "last")
    }
    assert Run(folder).updates == []
