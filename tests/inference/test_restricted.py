"""Answers restricted by type, and names as people write them: against the answers without either."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import foretime as ft
from foretime.inference.predictor import Predictor
from foretime.runs.folder import RunFolder

STATE = {"type": "state"}


@pytest.fixture(scope="module")
def run(evidence_run: Path) -> ft.Run:
    return ft.open_run(evidence_run)


@pytest.fixture(scope="module")
def fact(run: ft.Run) -> dict[str, str]:
    rows = (row for row in run.graph.rows("test") if row[1] == "Make statement about")
    return dict(zip(("subject", "predicate", "object", "time"), next(rows), strict=True))


def open_(fact: dict[str, str], *slots: str) -> dict[str, str]:
    return {name: value for name, value in fact.items() if name not in slots}


@pytest.mark.parametrize("slot", ["subject", "object"])
@pytest.mark.parametrize("known", ["mark", "hide"])
def test_restricted_answers_are_those_of_the_type_with_probabilities_given_that(run, fact, slot, known):
    types = {name: run.graph.attributes[name]["type"][0] for name in run.graph.entities.names}
    every = run.predict(**open_(fact, slot), top=1_000, already_known=known)
    kind = types[fact[slot]]
    allowed = [answer for answer in every if types[answer.name] == kind]
    within = sum(answer.probability or 0.0 for answer in allowed)
    found = run.predict(**open_(fact, slot), top=1_000, already_known=known, type=kind)
    assert [answer.name for answer in found] == [answer.name for answer in allowed]
    assert [answer.rank for answer in found] == list(range(1, len(found) + 1)), "ranks are among those that are allowed"
    assert [answer.score for answer in found] == [answer.score for answer in allowed], "scores stay as they are"
    assert found.allowed_probability == pytest.approx(within, rel=1e-4)
    for answer, before in zip(found, allowed, strict=True):
        if before.probability is not None:
            assert answer.probability == pytest.approx(before.probability / within, rel=1e-4)
    assert sum(answer.probability or 0.0 for answer in found) == pytest.approx(1.0, abs=1e-5), "they sum to one"
    few = run.predict(**open_(fact, slot), top=2, already_known=known, type=kind)
    listed = sum(answer.probability or 0.0 for answer in few)
    assert few.other_probability == pytest.approx(1 - listed, abs=1e-5), "the rest is said"
    assert f"only answers with type {kind}" in found.note
    assert "the probabilities are given that the answer is one of these" in found.note


def test_questions_without_a_restriction_stay_as_they_are_beside_others(run, fact):
    free = ft.Question(**open_(fact, "object"))
    alone = run.predict_many([free])[0]
    beside = run.predict_many([free, replace(free, where={"type": "state"})])[0]
    assert beside == alone, "to the last bit"
    assert beside.allowed_probability is None
    assert beside.to_dict() == alone.to_dict()


@pytest.mark.parametrize(("first", "second"), [("predicate", "object"), ("predicate", "subject")])
def test_pairs_are_restricted_by_the_joint_probability(run, fact, first, second):
    types = {name: run.graph.attributes[name]["type"][0] for name in run.graph.entities.names}
    question = open_(fact, first, second)
    every = run.predict(**question, top=100_000)
    allowed = [answer for answer in every if types[answer.names[second]] == "state"]
    within = sum(answer.probability or 0.0 for answer in allowed)
    found = run.predict(**question, top=20, type="state")
    assert found.allowed_probability == pytest.approx(within, rel=1e-2)
    wanted = {answer.filled: answer.probability for answer in allowed}
    assert {types[answer.names[second]] for answer in found} == {"state"}
    for answer in found:
        if answer.probability is not None:
            assert answer.probability == pytest.approx(wanted[answer.filled] / within, rel=1e-2)
            explained = answer.explain()
            chances = [step.probability for step in explained.steps]
            assert chances[0] * chances[1] == pytest.approx(answer.probability, rel=1e-4), "the chain rule holds"
            break


def test_both_of_two_entities_are_restricted(run, fact):
    found = run.predict(predicate="Accuse", time=fact["time"], type="state", top=50)
    kinds = {run.graph.attributes[name]["type"] for answer in found for name in answer.filled}
    assert kinds == {("state",)}
    assert 0 < found.allowed_probability <= 1


def test_explanations_of_restricted_answers(run, fact):
    question = open_(fact, "object") | STATE
    answer = run.predict(**question, top=1)[0]
    explained = answer.explain()
    assert (explained.rank, explained.answer, explained.probability) == (1, answer.name, answer.probability)
    assert "among the answers with type state" in explained.note
    assert explained.question["where"] == "type=state"
    assert explained.to_text().splitlines()[0].endswith(f"with type state: {answer.name}")
    assert run.explain(**question).answer == answer.name
    other = run.predict(**question, top=2)[1].name
    assert run.explain(**question, competitor=other).competitor.answer == other
    minister = next(name for name in run.graph.entities.names if run.graph.attributes[name]["type"] == ("minister",))
    with pytest.raises(ft.QuestionError, match="is not among the answers, which have type state; ask without that"):
        run.explain(**question, competitor=minister)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"type": "town"}, "unknown type 'town'; there is"),
        ({"where": {"size": "large"}}, "unknown attribute 'size'; there is type"),
        ({"where": "large"}, "'large' is no restriction; write attribute=value"),
    ],
)
def test_a_restriction_that_cannot_be_is_an_error_with_what_can(run, fact, asked, message):
    with pytest.raises(ft.QuestionError, match=message):
        run.predict(**open_(fact, "object"), **asked)


def test_only_entities_have_types(run, fact):
    for slot in ("predicate", "time"):
        with pytest.raises(ft.QuestionError, match=f"only entities have attributes, and the {slot} is asked for"):
            run.predict(**open_(fact, slot), **STATE)


def test_a_graph_without_attributes_says_how_it_gets_them(small_run):
    with pytest.raises(ft.QuestionError, match=r"no entity of this graph has a type; put entities\.tsv"):
        ft.open_run(small_run).predict(subject="state 0", predicate="visits", time="2020-05-05", type="state")


def test_a_name_in_another_spelling_is_taken_and_said(run, fact):
    exact = run.predict(**open_(fact, "object"), top=3)
    given = fact | {"subject": f"  {fact['subject'].upper()}", "predicate": "make_statement  about"}
    found = run.predict(**open_(given, "object"), top=3)
    assert found.answers == exact.answers
    assert found.question == exact.question, "the question has the names of the graph"
    assert found.taken == {"subject": given["subject"], "predicate": given["predicate"]}
    assert f"{given['subject']!r} is taken for {fact['subject']!r}" in found.note
    assert exact.taken == {}
    assert "taken" not in (exact.note or "")
    explained = run.explain(**open_(given, "object"), competitor=exact[1].name.lower())
    assert explained.competitor.answer == exact[1].name
    assert "is taken for" in explained.note
    event = " | ".join([fact["subject"].lower(), "ACCUSE", fact["object"], fact["time"]])
    assert run.what_if(with_=[event]).predict(**open_(given, "object"), top=1).taken, "what if takes them too"


def test_aliases_are_names(evidence_run, run, fact):
    folder = RunFolder.open(evidence_run)
    given = {fact["subject"]: {"aliases": ("The Speaker",)}}
    graph = replace(folder.graph(), attributes=ft.Attributes.of(given))
    predictor = Predictor.open(folder, graph)
    found = predictor.predict(**open_(fact, "object") | {"subject": "the speaker"}, top=2)
    assert found.question.subject == fact["subject"]
    assert "of which it is an alias" in found.note


def test_files_of_questions_have_types_and_say_what_they_took(run, fact, tmp_path):
    asked = tmp_path / "questions.tsv"
    rows = [["subject", "predicate", "time", "type", "where"]]
    rows += [[fact["subject"].upper(), fact["predicate"], fact["time"], "state;city", ""]] * 2
    rows += [[fact["subject"], fact["predicate"], fact["time"], "", "type=state"]]
    asked.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    said: list[str] = []
    assert run.answer_file(asked, tmp_path / "answers.jsonl", top=3, note=said.append) == 3
    assert said == [f"{asked}:2: the subject {fact['subject'].upper()!r} is taken for {fact['subject']!r}"], "once"
    found = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["where"] for row in found[::3]] == ["type=state;type=city"] * 2 + ["type=state"]
    assert found[0]["subject"] == fact["subject"].upper(), "the question stands there as it was asked"
    with pytest.warns(UserWarning, match="is taken for"):
        run.answer_file(asked, tmp_path / "again.tsv")
    lines = {"type": ["state"], "where": {"type": "city"}} | open_(fact, "object")
    asked.with_suffix(".jsonl").write_text(json.dumps(lines) + "\n", encoding="utf-8")
    assert run.answer_file(asked.with_suffix(".jsonl"), tmp_path / "other.csv") == 1
    asked.write_text(
        f"subject\tpredicate\ttime\twhere\n{fact['subject']}\tAccuse\t{fact['time']}\tx\n", encoding="utf-8"
    )
    with pytest.raises(ft.QuestionError, match=r"questions\.tsv:2: 'x' is no restriction"):
        run.answer_file(asked, tmp_path / "answers.tsv")
