"""Questions asked together, a full queue, a deadline, runs that come and go, and a graceful end."""

import json
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from live_service import Live, held, wait_for

from foretime.service import answers
from foretime.service.served import ServedRun
from foretime.service.settings import JOB_SECONDS

QUESTION = {"subject": "state 0", "predicate": "visits", "time": "2020-05-01"}
SMALL = "/runs/small/complete"


def gathered(live: Live) -> dict[str, float]:
    """How many batches there were, and of how many questions in all."""
    lines = live.client.get("/metrics").text.splitlines()
    found = dict(line.rsplit(" ", 1) for line in lines if line.startswith("foretime_batch_questions_"))
    return {name: float(found[f"foretime_batch_questions_{name}"]) for name in ("count", "sum")}


def test_questions_asked_together_have_the_answers_that_each_has_alone(live_with, runs_folder: Path):
    live = live_with([runs_folder], gather=0.05)
    run = live.service.catalog["small"]
    questions = [
        {"subject": f"state {k}", "predicate": ("visits", "praises", "sues")[k % 3], "time": f"2020-0{k % 9 + 1}-11"}
        for k in range(12)
    ]
    alone = [run.predict(**question, top=3 + k) for k, question in enumerate(questions)]
    with ThreadPoolExecutor(12) as pool:
        with live.busy():
            asked = [pool.submit(live.found, SMALL, **question, top=3 + k) for k, question in enumerate(questions)]
            wait_for(lambda: len(live.service.models._jobs) == 12)
        answers = [one.result()["answers"] for one in asked]
    assert gathered(live) == {"count": 1, "sum": 12}
    for own, together in zip(alone, answers, strict=True):
        for key in ("name", "already_known"):
            assert [getattr(answer, key) for answer in own] == [answer[key] for answer in together]
        assert [answer.score for answer in own] == pytest.approx([a["score"] for a in together], abs=1e-4)


def test_questions_for_other_slots_and_runs_are_not_mixed(live_with, runs_folder: Path):
    live = live_with([runs_folder], gather=0.05)
    slots = {**QUESTION, "object": "state 1"}
    questions = [{name: value for name, value in slots.items() if name != left_out} for left_out in slots]
    with ThreadPoolExecutor(8) as pool:
        with live.busy():
            asked = [pool.submit(live.found, SMALL, **question) for question in questions * 2]
            wait_for(lambda: len(live.service.models._jobs) == 8)
        assert [one.result()["slot"] for one in asked] == list(slots) * 2
    assert gathered(live) == {"count": 4, "sum": 8}


def test_without_gathering_each_question_is_asked_alone(live_with):
    live = live_with(gather=0.0)
    with ThreadPoolExecutor(6) as pool:
        found = pool.map(lambda _: live.found(SMALL, **QUESTION)["slot"], range(6))
        assert list(found) == ["object"] * 6
    assert gathered(live) == {"count": 6, "sum": 6}


def test_a_full_queue_is_a_503_with_the_time_to_come_back(live_with):
    live = live_with(queue=3)
    with ThreadPoolExecutor(20) as pool:
        with live.busy():
            asked = [pool.submit(live.get, SMALL, **QUESTION) for _ in range(20)]
            wait_for(lambda: sum(one.done() for one in asked) == 17)
            assert live.client.get("/healthz").status_code == 200  # it answers all the while
            assert live.get("/runs").status_code == 200
        responses = [one.result() for one in asked]
    refused = [response for response in responses if response.status_code == 503]
    assert sorted(response.status_code for response in responses) == [200] * 3 + [503] * 17
    for response in refused:
        assert int(response.headers["Retry-After"]) >= 1
        assert response.json()["error"]["code"] == "overloaded"
    assert 'foretime_refused_total{reason="overloaded"} 17.0' in live.client.get("/metrics").text
    assert live.get(SMALL, **QUESTION).status_code == 200


def test_no_more_batches_are_held_than_memory_allows(live_with):
    live = live_with()
    batch = {"questions": [QUESTION] * 50, "top": 2}
    with ThreadPoolExecutor(12) as pool:
        with live.busy():
            asked = [pool.submit(live.post, "/runs/small/batch", batch) for _ in range(12)]
            wait_for(lambda: sum(one.done() for one in asked) == 4)
        responses = [one.result() for one in asked]
    assert sorted(response.status_code for response in responses) == [200] * 8 + [503] * 4
    assert all(len(one.json()["results"]) == 50 for one in responses if one.status_code == 200)


def test_a_question_that_waits_too_long_is_given_up(live_with):
    live = live_with(deadline=0.2)
    with live.busy():
        response = live.get(SMALL, **QUESTION)
        assert response.status_code == 503
        assert response.json()["error"]["code"] == "too_slow"
        assert int(response.headers["Retry-After"]) >= 1
    wait_for(lambda: live.get(SMALL, **QUESTION).status_code == 200)


def test_a_question_that_is_given_up_leaves_the_queue(live_with):
    live = live_with(deadline=0.2, queue=1)
    with live.busy():
        for _ in range(3):  # the first would keep its place, and the others be refused
            assert live.get(SMALL, **QUESTION).json()["error"]["code"] == "too_slow"
        assert len(live.service.models._jobs) == 0
    wait_for(lambda: live.get(SMALL, **QUESTION).status_code == 200)


def batches_of_times(live: Live, count: int) -> dict[str, float]:
    """Ask for the time so many times at once."""
    asked = {"subject": "state 0", "predicate": "visits", "object": "state 1"}
    with ThreadPoolExecutor(count) as pool:
        with live.busy():
            waiting = [pool.submit(live.found, SMALL, **asked, top=1) for _ in range(count)]
            wait_for(lambda: len(live.service.models._jobs) == count)
        assert all(one.result()["answers"] for one in waiting)
    return gathered(live)


def test_questions_that_cost_a_lookup_for_each_step_are_gathered_less(live_with, monkeypatch: pytest.MonkeyPatch):
    live = live_with(gather=0.05)
    monkeypatch.setattr(answers, "LOOKUPS_AT_ONCE", 2 * live.found("/runs/small")["steps"])
    assert batches_of_times(live, 8) == {"count": 4, "sum": 8}


def test_questions_that_were_slow_recently_are_gathered_less(live_with):
    live = live_with(gather=0.05)
    key = ("complete", id(live.service.catalog["small"]), "time", "mark")
    live.service.models._means[key] = JOB_SECONDS / 3
    found = batches_of_times(live, 4)
    assert found["sum"] == 4
    assert found["count"] >= 2


def test_a_batch_that_misses_its_deadline_keeps_what_is_done(live_with, monkeypatch: pytest.MonkeyPatch):
    deadline = 3.0  # the first part has all of it, however busy the machine is
    live = live_with(deadline=deadline)
    ask, calls = ServedRun.predict_many, []

    def slowly(run: ServedRun, questions: list, **rest: object) -> list:
        calls.append(len(questions))
        if len(calls) > 1:
            time.sleep(deadline)
        return ask(run, questions, **rest)

    monkeypatch.setattr(ServedRun, "predict_many", slowly)
    wrong = {**QUESTION, "subject": "nobody"}
    response = live.post("/runs/small/batch", {"questions": [*[QUESTION] * 50, wrong], "top": 2})
    assert response.status_code == 200
    results = response.json()["results"]
    codes = [None if one["error"] is None else one["error"]["code"] for one in results]
    assert codes == [None] * 20 + ["too_slow"] * 30 + ["unanswerable"]
    assert [len(one["answers"]) for one in results] == [2] * 20 + [0] * 31
    assert [one["slot"] for one in results] == ["object"] * 50 + [None]
    with live.busy():  # nothing is done at all
        assert live.post("/runs/small/batch", {"questions": [QUESTION]}).json()["error"]["code"] == "too_slow"


def test_unknown_names_are_looked_up_beside_the_questions_of_others(live_with):
    live = live_with(deadline=30.0)
    with ThreadPoolExecutor(1) as pool, held(live.service.graphs):
        wrong = pool.submit(live.get, SMALL, **{**QUESTION, "subject": "stat 0"})
        wait_for(lambda: len(live.service.graphs._jobs) == 1)
        assert live.get(SMALL, **QUESTION).status_code == 200
        assert not wrong.done()
    assert "did you mean" in wrong.result().json()["error"]["message"]


def test_few_names_of_a_batch_are_suggested_for(live_with):
    questions = [{**QUESTION, "subject": f"stat {k}"} for k in range(30)]
    results = live_with().post("/runs/small/batch", {"questions": questions}).json()["results"]
    assert ["did you mean" in one["error"]["message"] for one in results] == [True] * 10 + [False] * 20


def test_readiness_sees_a_lane_that_does_not_work(live_with, monkeypatch: pytest.MonkeyPatch):
    live = live_with()
    assert live.client.get("/readyz").status_code == 200
    monkeypatch.setattr(live.service.graphs, "_thread", threading.Thread())
    response = live.client.get("/readyz")
    assert (response.status_code, response.json()["error"]["code"]) == (503, "not_ready")


def test_a_new_run_is_picked_up_and_a_removed_one_dropped(live_with, runs_folder: Path, tmp_path: Path):
    live = live_with([tmp_path], look_again=0.1)
    assert live.client.get("/readyz").status_code == 503
    assert live.found("/runs") == {"runs": [], "problems": []}
    unfinished = tmp_path / "unfinished"
    shutil.copytree(runs_folder / "small", unfinished, ignore=lambda *_: ["report.json"])
    shutil.copytree(runs_folder / "small", tmp_path / "new")
    wait_for(lambda: "new" in live.service.catalog.runs)
    assert live.get("/runs/new/complete", **QUESTION).status_code == 200
    assert live.get("/runs/unfinished").status_code == 404
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.toml").write_text("[model]\nname = 3\n")
    (tmp_path / "broken" / "report.json").write_text("{}")
    wait_for(lambda: "broken" in live.service.catalog.problems)
    problems = live.found("/runs")["problems"]
    assert [problem["run"] for problem in problems] == ["broken"]
    assert str(tmp_path) not in json.dumps(problems)
    before = live.service.catalog["new"]
    shutil.copy(runs_folder / "small" / "report.json", tmp_path / "new" / "report.json")
    wait_for(lambda: live.service.catalog["new"] is not before)  # it was trained again
    assert live.found("/runs/new")["loaded"] > before.details.loaded
    shutil.rmtree(tmp_path / "new")
    wait_for(lambda: "new" not in live.service.catalog.runs)
    assert live.get("/runs/new").status_code == 404


def test_a_process_that_is_asked_to_stop_finishes_what_is_under_way(process):
    # questions are gathered for so long that there is time to stop the process
    started = process("--gather-ms", 1000)
    run = httpx.get(f"{started.url}/api/v1/runs/world").json()
    asked = {name: value for name, value in run["example"].items() if value and name != "object"}
    answers: list[httpx.Response] = []
    client = threading.Thread(
        target=lambda: answers.append(httpx.get(f"{started.url}/api/v1/runs/world/complete", params=asked, timeout=120))
    )
    client.start()
    wait_for(lambda: answers or "foretime_requests_under_way 2.0" in httpx.get(f"{started.url}/metrics").text)
    assert started.stop() == 0
    client.join(60)
    assert [answer.status_code for answer in answers] == [200]
    assert answers[0].json()["answers"]
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{started.url}/healthz")
    lines = [json.loads(line) for line in started.lines]
    noted = next(line for line in lines if line.get("route", "").endswith("/complete"))
    assert (noted["event"], noted["status"], noted["run"]) == ("request", 200, "world")
    assert noted["id"] == answers[0].headers["X-Request-ID"]
    assert "Server" not in answers[0].headers
