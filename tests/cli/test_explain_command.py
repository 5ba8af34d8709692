"""`foretime explain`, and `foretime predict --why`, as a shell would call them."""

import csv
import json
from pathlib import Path

import pyarrow.parquet
import pytest

from foretime.data.graph import Graph
from foretime.inference.answers import Question
from foretime.inference.explainer import NO_EVIDENCE
from foretime.inference.predictor import Predictor
from foretime.inference.run import Run


@pytest.fixture(scope="module")
def fact(evidence_run: Path) -> dict[str, str]:
    graph = Graph.load(evidence_run)
    subject, object_ = (graph.entities.name(column[0]) for column in (graph.test.subject, graph.test.object))
    predicate, time = graph.predicates.name(graph.test.predicate[0]), graph.timeline.label(graph.test.start[0])
    return {"subject": subject, "predicate": predicate, "object": object_, "time": time}


def flags(fact: dict[str, str], without: str = "") -> list[str]:
    return [word for name, value in fact.items() if name != without for word in (f"--{name}", value)]


def test_explain_prints_text_json_and_markdown(foretime, evidence_run: Path, fact):
    explanation = Predictor.open(evidence_run).explainer.explain(top=3, **fact)
    text = foretime("explain", evidence_run, *flags(fact), "--top", 3)
    assert (text.code, text.out) == (0, explanation.to_text(3) + "\n")
    markdown = foretime("explain", evidence_run, *flags(fact), "--top", 3, "--format", "markdown")
    assert markdown.out == explanation.to_markdown(3)
    for words in (("--json",), ("--format", "json")):
        shown = json.loads(foretime("explain", evidence_run, *flags(fact), "-n", 3, *words).out)
        assert shown == json.loads(json.dumps(explanation.to_dict(3)))
    assert fact["object"] == shown["answer"]


@pytest.mark.parametrize("slot", ["subject", "predicate", "object", "time"])
def test_a_slot_that_is_left_out_is_answered_and_the_answer_explained(foretime, evidence_run: Path, fact, slot: str):
    words = flags(fact, without=slot)
    shown = json.loads(foretime("explain", evidence_run, *words, "--already-known", "hide", "--json").out)
    best = json.loads(foretime("predict", evidence_run, *words, "--already-known", "hide", "-n", 1, "--json").out)[0]
    assert (shown["slot"], shown["answer"], shown["rank"]) == (slot, best["name"], 1)
    assert shown["score"] == pytest.approx(best["score"], abs=1e-4)


def test_two_slots_that_are_left_out_are_answered_and_both_explained(foretime, evidence_run: Path, fact):
    words = flags({name: fact[name] for name in ("subject", "time")})
    shown = json.loads(foretime("explain", evidence_run, *words, "--json").out)
    best = json.loads(foretime("predict", evidence_run, *words, "-n", 1, "--why", 2, "--json").out)[0]
    assert (shown["slot"], shown["answer"], shown["sentences"]) == (
        "predicate and object",
        best["name"],
        best["sentences"],
    )
    assert [step["answer"] for step in shown["steps"]] == list(best["names"].values())
    assert len(best["reasons"]) == 2
    said = foretime("predict", evidence_run, *words, "-n", 1, "--why", 1).out
    assert "  First, that it is " in said
    assert "  Both together: " in said
    pair = foretime("explain", evidence_run, *flags(fact), "--slot", "subject and object")
    assert pair.out.startswith(f"(?, {fact['predicate']}, ?, {fact['time']}): {fact['subject']}, {fact['object']}\n")


def test_an_answer_is_compared_with_a_competitor(foretime, evidence_run: Path, fact):
    answers = json.loads(foretime("predict", evidence_run, *flags(fact, "object"), "-n", 3, "--json").out)
    competitor = next(answer["name"] for answer in answers if answer["name"] != fact["object"])
    outcome = foretime("explain", evidence_run, *flags(fact), "--against", competitor)
    assert outcome.out.startswith(f"why {fact['object']} and not {competitor}: ")
    shown = json.loads(foretime("explain", evidence_run, *flags(fact), "--against", competitor, "--json").out)
    assert shown["differences"]["score"] == pytest.approx(shown["score"] - shown["competitor"]["score"], abs=1e-12)


def test_the_answer_may_be_any_slot(foretime, evidence_run: Path, fact):
    shown = json.loads(foretime("explain", evidence_run, *flags(fact), "--slot", "subject", "--json").out)
    assert (shown["slot"], shown["answer"]) == ("subject", fact["subject"])


WRONG = {
    "a misspelt name": ({"subject": "{subject}x"}, (), "unknown entity '{subject}x'; did you mean '{subject}'"),
    "a misspelt competitor": ({}, ("--against", "{object}x"), "unknown entity '{object}x'; did you mean '{object}'"),
    "a time out of range": ({"time": "1999-01-01"}, (), "'1999-01-01' is not on the timeline"),
    "itself as its competitor": (
        {},
        ("--against", "{object}"),
        "'{object}' is the answer itself; name another one",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_users_error_is_one_line_with_a_remedy(foretime, evidence_run: Path, fact, case: str):
    changes, words, message = WRONG[case]
    changed = fact | {name: value.format(**fact) for name, value in changes.items()}
    outcome = foretime("explain", evidence_run, *flags(changed), *(word.format(**fact) for word in words))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: {message.format(**fact)}")


def test_two_open_slots_are_an_error_before_the_run_is_opened(foretime, tmp_path: Path):
    outcome = foretime("explain", tmp_path / "nowhere", "--subject", "a", "--predicate", "b")
    assert outcome.code == 2
    assert outcome.err.startswith("error: object and time are left open")
    missing = foretime("explain", tmp_path / "nowhere", *flags(dict.fromkeys(("subject", "predicate", "object"), "a")))
    assert "no such run folder" in missing.err


def test_a_run_without_evidence_says_so(foretime, small_run: Path):
    words = ("--subject", "state 1", "--predicate", "praises", "--time", "2020-03-01")
    outcome = foretime("explain", small_run, *words)
    assert outcome.code == 0
    assert NO_EVIDENCE in outcome.out
    assert "score" in outcome.out
    assert NO_EVIDENCE in foretime("predict", small_run, *words, "--why", 1).err


def test_predict_gives_the_first_reasons_of_each_answer(foretime, evidence_run: Path, fact):
    words = ("predict", evidence_run, *flags(fact, "object"), "--top", 3)
    answers = json.loads(foretime(*words, "--why", 2, "--json").out)
    assert [len(answer["reasons"]) for answer in answers] == [2, 2, 2]
    for answer in answers:
        found = Predictor.open(evidence_run).explainer.explain(top=0, **(fact | {"object": answer["name"]})).reasons[:2]
        assert [reason["sentence"] for reason in answer["reasons"]] == [reason.sentence for reason in found]
    table = foretime(*words, "--why", 1).out
    assert all(answer["reasons"][0]["sentence"] in table for answer in answers)
    plain = foretime(*words).out
    assert table.startswith(plain)
    assert all("reasons" not in answer for answer in json.loads(foretime(*words, "--json").out))


def test_a_file_of_answers_may_have_reasons(foretime, evidence_run: Path, fact, tmp_path: Path):
    questions = tmp_path / "questions.jsonl"
    slots = [{name: value for name, value in fact.items() if name != slot} for slot in ("object", "subject")]
    questions.write_text("".join(json.dumps(question) + "\n" for question in slots), encoding="utf-8")
    rows = {}
    for suffix in ("jsonl", "csv", "tsv", "parquet"):
        out = tmp_path / f"answers.{suffix}"
        outcome = foretime("predict", evidence_run, "--questions", questions, "--out", out, "-n", 2, "--why", 2)
        assert outcome.code == 0, outcome.err
        rows[suffix] = read_rows(out)
    found = [row.pop("reasons") for row in rows["jsonl"]]
    assert [len(reasons) for reasons in found] == [2, 2, 2, 2]
    for suffix in ("csv", "tsv", "parquet"):
        texts = [row["reasons"].split(" | ") for row in rows[suffix]]
        sentences = [[text.split(" ", 1)[1] for text in reasons] for reasons in texts]
        assert sentences == [[reason["sentence"] for reason in reasons] for reasons in found]


def read_rows(path: Path) -> list[dict]:
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(text.splitlines(), delimiter="\t" if path.suffix == ".tsv" else ","))


def test_what_if_shows_before_and_after(foretime, evidence_run: Path, fact):
    run, question = Run(evidence_run), {name: value for name, value in fact.items() if name != "object"}
    words = ["--without", fact["predicate"], "--past-only", "-n", 3]
    expected = run.what_if(without=[fact["predicate"]], past_only=True)
    changes = expected.changes(Question(**question), top=3)
    shown = json.loads(foretime("predict", evidence_run, *flags(question), *words, "--json").out)
    assert shown == json.loads(json.dumps(changes.to_dict()))
    table = foretime("predict", evidence_run, *flags(question), *words).out
    assert all(line in table for line in changes.evidence)
    assert all(change.name in table for change in changes.changes)
    explanation = expected.explain(**fact, top=3)
    text = foretime("explain", evidence_run, *flags(fact), *words).out
    assert text == f"{expected.compare(explanation)}\n\n{explanation.to_text(3)}\n"
    wrong = foretime("predict", evidence_run, *flags(question), "--without", "Acuse")
    assert (wrong.code, wrong.out) == (2, "")
    assert "'Acuse' is no predicate; did you mean 'Accuse'?" in wrong.err
