"""Every path of the API says what the library says."""

import json
from typing import Any

import pytest
from live_service import Live
from typer.testing import CliRunner

from foretime.cli import app
from foretime.inference.answers import Question
from foretime.service import rules as rule_routes

WORLD = "/runs/world"


@pytest.fixture(scope="module")
def fact(live: Live) -> dict[str, str]:
    """A whole fact of the world."""
    example = live.found(WORLD)["example"]
    return {name: value for name, value in example.items() if value is not None}


def without(fact: dict[str, str], slot: str) -> dict[str, str]:
    return {name: value for name, value in fact.items() if name != slot}


def test_the_runs_are_listed_by_name(live: Live):
    found = live.found("/runs")
    assert [run["name"] for run in found["runs"]] == ["small", "world"]
    assert [run["evidence"] for run in found["runs"]] == [False, True]
    assert found["problems"] == []


def test_a_run_has_its_report_its_curve_and_no_path_of_this_machine(live: Live, runs_folder):
    found = live.found(WORLD)
    assert found["report"] == json.loads((runs_folder / "world" / "report.json").read_text())
    assert [line["epoch"] for line in found["trace"]] == list(range(1, found["report"]["epochs"] + 1))
    assert found["config"]["model"]["name"] == "lcge"
    assert "path" not in found["config"]["data"]
    assert str(runs_folder) not in json.dumps(found)
    assert live.found(f"{WORLD}/report") == found


@pytest.mark.parametrize("slot", ["subject", "predicate", "object", "time"])
def test_answers_are_those_of_the_library(live: Live, fact: dict[str, str], slot: str):
    asked = without(fact, slot)
    found = live.found(f"{WORLD}/complete", **asked, top=5)
    expected = live.service.catalog["world"].predict(**asked, top=5)
    assert found["slot"] == slot
    assert found["question"] == asked
    assert [answer["name"] for answer in found["answers"]] == [answer.name for answer in expected]
    for answer, own in zip(found["answers"], expected, strict=True):
        assert answer["score"] == pytest.approx(own.score, abs=1e-4)
        assert answer["probability"] == pytest.approx(own.probability, abs=1e-5)
        assert answer["already_known"] == own.already_known
    assert live.post(f"{WORLD}/complete", {**asked, "top": 5}).json() == found
    assert live.found(f"{WORLD}/complete", **asked, **{slot: "?"}, top=5) == found


def test_an_explanation_is_that_of_the_command_line(live: Live, fact: dict[str, str], runs_folder):
    answers = live.found(f"{WORLD}/complete", **without(fact, "object"))["answers"]
    competitor = next(answer["name"] for answer in answers if answer["name"] != fact["object"])
    found = live.found(f"{WORLD}/explain", **fact, competitor=competitor, top=3)
    words = [word for name, value in fact.items() for word in (f"--{name}", value)]
    printed = CliRunner().invoke(
        app, ["explain", str(runs_folder / "world"), *words, "--against", competitor, "-n", "3", "--json"]
    )
    assert_close(found, json.loads(printed.stdout))
    assert live.post(f"{WORLD}/explain", {**fact, "competitor": competitor, "top": 3}).json() == found


def test_an_answer_to_two_open_slots_is_explained_step_by_step(live, fact):
    asked = {"subject": fact["subject"], "time": fact["time"]}
    best = live.found(f"{WORLD}/complete", **asked, top=1)["answers"][0]
    found = live.found(f"{WORLD}/explain", **asked)
    assert (found["slot"], found["answer"]) == ("predicate and object", best["name"])
    assert [step["answer"] for step in found["steps"]] == list(best["names"].values())
    assert live.found(f"{WORLD}/explain", **asked, **best["names"], slot="predicate and object") == found
    compared = live.get(f"{WORLD}/explain", **asked, competitor=fact["subject"])
    assert "a competitor needs a question with one open slot" in compared.json()["error"]["message"]


def test_what_if_is_that_of_the_library(live: Live, fact: dict[str, str]):
    run, asked = live.service.catalog["world"], without(fact, "object")
    before = live.found(f"{WORLD}/complete", **asked, top=3)
    assert "changes" not in before
    event = first_event(live.found(f"{WORLD}/explain", **fact))
    text = " | ".join(event[name] for name in ("subject", "predicate", "object", "time"))
    other = f"{fact['object']} | {fact['predicate']} | {fact['subject']} | {fact['time']}"
    changed = {"without": [text, fact["predicate"]], "with": [other], "past_only": True}
    found = live.post(f"{WORLD}/complete", {**asked, **changed, "top": 3}).json()
    what_if = run.what_if(without=changed["without"], with_=[other], past_only=True)
    expected = what_if.changes(Question(**asked), top=3)
    assert found["evidence"] == list(expected.evidence)
    assert_close(found["changes"], [change._asdict() for change in expected.changes])
    assert [answer["name"] for answer in found["answers"]] == [answer.name for answer in expected.answers]
    explained = live.found(f"{WORLD}/explain", **fact, without=text)
    assert explained["change"]["rank_before"] == live.found(f"{WORLD}/explain", **fact)["rank"]
    assert explained["change"]["rank"] == explained["rank"]
    wrong = live.post(f"{WORLD}/complete", {**asked, "without": ["nothing"]})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "unanswerable")
    assert live.found(f"{WORLD}/complete", **asked, top=3) == before


def first_event(explanation: dict[str, Any]) -> dict[str, str]:
    """The first dated event that an explanation names."""
    reasons = (reason for topic in explanation["topics"] for reason in topic["reasons"])
    return next(event for reason in reasons for event in reason["events"])


def assert_close(found: Any, expected: Any) -> None:
    """Equal but for the last digits of numbers."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            assert_close(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other)
    else:
        assert found == (pytest.approx(expected, abs=1e-4) if isinstance(expected, float) else expected)


def test_an_explanation_without_evidence_says_so(live: Live):
    found = live.found("/runs/small/explain", subject="state 0", predicate="visits", time="2020-05-01")
    assert {topic["topic"] for topic in found["topics"]} == {"timely", "lasting"}
    assert "without evidence" in found["note"]


def test_a_batch_has_an_outcome_for_each_question(live: Live, fact: dict[str, str]):
    asked = without(fact, "object")
    wrong = {**asked, "subject": fact["subject"] + "x"}
    found = live.post(f"{WORLD}/batch", {"questions": [asked, wrong, without(fact, "time")], "top": 3}).json()
    first, second, third = found["results"]
    assert first["answers"] == live.found(f"{WORLD}/complete", **asked, top=3)["answers"]
    assert second["answers"] == []
    assert "did you mean" in second["error"]["message"]
    assert (first["slot"], second["slot"], third["slot"]) == ("object", None, "time")
    assert third["error"] is None


def test_a_run_compared_with_itself_is_the_same_on_both_sides(live: Live, fact: dict[str, str]):
    asked = without(fact, "object")
    found = live.found("/compare", left="world", right="world", **asked, top=4)
    assert found["left"] == found["right"] == live.found(f"{WORLD}/complete", **asked, top=4)
    assert [row["left"] for row in found["answers"]] == [1, 2, 3, 4]
    assert found["shared"] == 4
    other = live.get("/compare", left="world", right="small", **asked)
    assert other.json()["error"]["code"] == "unanswerable"  # another graph, other names


def test_rules_are_chosen_and_sorted(live: Live):
    every = live.found(f"{WORLD}/rules", limit=200)
    confidences = [rule["confidence"] for rule in every["rules"]]
    assert confidences == sorted(confidences, reverse=True)
    head = every["rules"][0]["head"]["predicate"]
    chosen = live.found(f"{WORLD}/rules", head=head, min_confidence=0.2, sort="support", limit=200)
    expected = [r["id"] for r in every["rules"] if r["head"]["predicate"] == head and r["confidence"] >= 0.2]
    assert sorted(rule["id"] for rule in chosen["rules"]) == sorted(expected)
    body = every["rules"][0]["body"][0]["predicate"]
    named = live.found(f"{WORLD}/rules", body=body, limit=200)["rules"]
    assert named
    assert all(any(atom["predicate"] == body for atom in rule["body"]) for rule in named)
    assert live.found(f"{WORLD}/rules", limit=1, offset=1)["rules"] == every["rules"][1:2]
    pattern = every["rules"][0]["pattern"]
    assert {rule["pattern"] for rule in live.found(f"{WORLD}/rules", pattern=pattern)["rules"]} == {pattern}


def test_a_rule_has_as_many_groundings_as_its_support(live: Live, monkeypatch: pytest.MonkeyPatch):
    rules = [rule for rule in live.found(f"{WORLD}/rules", limit=200)["rules"] if rule["pattern"] != "static"]
    rule = min(rules, key=lambda rule: rule["support"])
    found = live.found(f"{WORLD}/rules/{rule['id']}/groundings", limit=100)
    assert found["rule"] == rule
    assert len(found["groundings"]) == min(100, rule["support"])
    assert all(grounding["holds"] for grounding in found["groundings"])
    misses = live.found(f"{WORLD}/rules/{rule['id']}/groundings", limit=100, misses=True)
    assert len(misses["groundings"]) == min(100, rule["body_count"] - rule["support"])
    assert live.get(f"{WORLD}/rules/1000000/groundings").status_code == 404
    monkeypatch.setattr(rule_routes, "GROUNDING_SECONDS", -1.0)
    late = live.found(f"{WORLD}/rules/{rule['id']}/groundings")
    assert late["groundings"] == []
    assert late["note"].startswith("only the first 0")


def test_names_are_found_by_any_word_whatever_the_case(live: Live):
    every = live.found(f"{WORLD}/entities", limit=200)
    counts = [name["facts"] for name in every["names"]]
    assert counts == sorted(counts, reverse=True)
    name = next(one["name"] for one in every["names"] if " " in one["name"])
    for prefix in (name[:4].upper(), name.split()[-1].lower(), f"  {name}"):
        assert name in [one["name"] for one in live.found(f"{WORLD}/entities", prefix=prefix, limit=200)["names"]]
    assert live.found(f"{WORLD}/entities", prefix="no such name") == {"total": 0, "names": []}
    assert live.found(f"{WORLD}/predicates", limit=1)["total"] == live.found(WORLD)["predicates"]


def test_names_are_found_by_parts_of_words_in_any_order(live: Live):
    assert "Make statement about" in [
        one["name"] for one in live.found(f"{WORLD}/predicates", prefix="bout mak")["names"]
    ]
    assert all("alias" not in one for one in live.found(f"{WORLD}/entities", limit=200)["names"])


def test_answers_are_restricted_by_type(live: Live, fact: dict[str, str]):
    asked, run = without(fact, "object"), live.service.catalog["world"]
    (kind,) = run.graph.attributes[fact["object"]]["type"]
    found = live.found(f"{WORLD}/complete", **asked, type=kind, top=100)
    expected = run.predict(**asked, type=kind, top=100)
    assert [answer["name"] for answer in found["answers"]] == [answer.name for answer in expected]
    assert sum(answer["probability"] or 0.0 for answer in found["answers"]) == pytest.approx(1.0, abs=1e-4)
    assert found["allowed_probability"] == pytest.approx(expected.allowed_probability, abs=1e-5)
    assert found["question"] == {**asked, "where": f"type={kind}"}
    assert live.post(f"{WORLD}/complete", {**asked, "where": [f"type={kind}"], "top": 100}).json() == found
    assert live.found(f"{WORLD}/explain", **fact, type=kind)["question"]["where"] == f"type={kind}"
    assert live.found(f"{WORLD}/explain", **found["question"])["answer"] == found["answers"][0]["name"], (
        "as it is echoed"
    )
    batch = live.post(f"{WORLD}/batch", {"questions": [{**asked, "type": [kind]}, {**asked, "type": ["x"]}]}).json()
    assert batch["results"][0]["allowed_probability"] == found["allowed_probability"]
    assert "unknown type 'x'" in batch["results"][1]["error"]["message"]
    wrong = live.get(f"{WORLD}/complete", **asked, type="town")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "unanswerable")
    assert kind in live.found(WORLD)["types"]


def test_a_name_in_another_spelling_is_taken_and_said(live: Live, fact: dict[str, str]):
    asked = without(fact, "object")
    given = {**asked, "subject": asked["subject"].upper()}
    found, exact = (live.found(f"{WORLD}/complete", **one, top=3) for one in (given, asked))
    assert found["answers"] == exact["answers"]
    assert found["question"] == exact["question"]
    assert found["taken"] == {"subject": given["subject"]}
    assert "is taken for" in found["note"]
    assert "taken" not in exact
    assert live.found(f"{WORLD}/neighbours", entity=given["subject"])["entity"] == asked["subject"]


def test_what_is_known_of_an_entity_is_shown(live: Live, fact: dict[str, str]):
    (kind,) = live.service.catalog["world"].graph.attributes[fact["subject"]]["type"]
    for path in ("timeline", "neighbours"):
        assert live.found(f"{WORLD}/{path}", entity=fact["subject"])["attributes"] == {"type": [kind]}
    assert live.found(f"{WORLD}/timeline")["attributes"] == {}


def test_facts_of_an_entity_and_of_a_pair(live: Live, fact: dict[str, str]):
    graph = live.service.catalog["world"].graph
    known = graph.facts()
    entity, other = graph.entities.id(fact["subject"]), graph.entities.id(fact["object"])
    own = (known.subject == entity) | (known.object == entity)
    pair = own & ((known.subject == other) | (known.object == other))
    found = live.found(f"{WORLD}/facts", entity=fact["subject"], limit=500)
    assert found["total"] == own.sum()
    times = [one["time"] for one in found["facts"]]
    assert times == sorted(times)
    both = live.found(f"{WORLD}/facts", entity=fact["subject"], other=fact["object"])
    assert both["total"] == pair.sum()
    assert {**fact, "start": None, "end": None, "split": "test"} in both["facts"]
    then = live.found(f"{WORLD}/facts", entity=fact["subject"], **{"from": fact["time"], "to": fact["time"]})
    assert {one["time"] for one in then["facts"]} == {fact["time"]}
    latest = live.found(f"{WORLD}/facts", entity=fact["subject"], order="latest", limit=1)
    assert latest["facts"] == found["facts"][-1:]
    subject = live.found(f"{WORLD}/facts", entity=fact["subject"], role="subject", limit=500)
    assert subject["total"] == (known.subject == entity).sum()
    assert live.get(f"{WORLD}/facts", other=fact["object"]).status_code == 422


def test_the_timeline_and_the_neighbours_count_the_same_facts(live: Live, fact: dict[str, str]):
    total = live.found(f"{WORLD}/facts", entity=fact["subject"], limit=1)["total"]
    timeline = live.found(f"{WORLD}/timeline", entity=fact["subject"], bins=7)
    assert len(timeline["bins"]) <= 7
    assert timeline["total"] == sum(one["facts"] for one in timeline["bins"]) == total
    assert sum(timeline["splits"].values()) == total
    neighbours = live.found(f"{WORLD}/neighbours", entity=fact["subject"], limit=200)
    assert sum(one["facts"] for one in neighbours["neighbours"]) == total
    for one in neighbours["neighbours"]:
        assert one["as_subject"] + one["as_object"] == one["facts"]
    met = next(one for one in neighbours["neighbours"] if one["name"] == fact["object"])
    pair = live.found(f"{WORLD}/facts", entity=fact["subject"], other=fact["object"], limit=500)
    assert met["facts"] == pair["total"]
    assert (met["first"], met["last"]) == (pair["facts"][0]["time"], pair["facts"][-1]["time"])
