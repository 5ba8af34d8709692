"""Questions with two open slots: the chain rule, one by one, sums that are one, and explanations of both steps."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from foretime.data.graph import Graph
from foretime.errors import QuestionError
from foretime.inference.answers import Question
from foretime.inference.first_slot import first_slot
from foretime.inference.predictor import Predictor
from foretime.inference.run import Run

OPEN = [("predicate", "object"), ("subject", "predicate"), ("subject", "object")]
EVERYTHING = 10_000


@pytest.fixture(scope="module")
def predictor(small_run: Path) -> Predictor:
    return Predictor.open(small_run)


def ask(graph: Graph, open_: tuple[str, ...]) -> Question:
    subject, predicate, object_, time = next(iter(graph.rows("test")))
    given = {"subject": subject, "predicate": predicate, "object": object_, "time": time}
    return Question(**{name: value for name, value in given.items() if name not in open_})


@pytest.mark.parametrize("open_", OPEN)
def test_all_pairs_have_the_probability_of_the_chain_rule_and_sum_to_one(predictor: Predictor, open_: tuple[str, ...]):
    question = ask(predictor.graph, open_)
    answers = predictor.predict_many([question], top=EVERYTHING)[0]
    assert sum(answer.probability or 0.0 for answer in answers) == pytest.approx(1.0, abs=1e-3)
    assert answers.other_probability == pytest.approx(0.0, abs=1e-3)
    first, second = question.targets
    chances = first_slot(predictor, question, predictor.facts_of([question], question.targets)).chances
    for answer in answers[:: max(1, len(answers) // 20)]:
        given = Question(**{**question.to_dict(), first: answer.names[first]})
        single = {other.name: other for other in predictor.predict_many([given], top=EVERYTHING)[0]}
        chance = float(chances[predictor._names(first).id(answer.names[first])])
        assert sum(answer.terms.values()) == pytest.approx(answer.score)
        assert answer.already_known == single[answer.names[second]].already_known
        if answer.probability is not None:
            expected = chance * (single[answer.names[second]].probability or 0.0)
            assert answer.probability == pytest.approx(expected, rel=1e-4, abs=1e-12)
            assert math.exp(answer.score) == pytest.approx(answer.probability)


@pytest.mark.parametrize("open_", OPEN)
def test_the_first_pairs_are_the_same_however_many_are_asked_for(predictor: Predictor, open_: tuple[str, ...]):
    question = ask(predictor.graph, open_)
    few = predictor.predict_many([question], top=3)[0]
    many = predictor.predict_many([question], top=EVERYTHING)[0]
    assert [answer.name for answer in few] == [answer.name for answer in many[:3]]
    assert few[0].name == ", ".join(few[0].names.values())
    listed = sum(answer.probability or 0.0 for answer in few)
    assert few.other_probability == pytest.approx(1 - listed)
    assert np.all(np.diff([answer.score for answer in many]) <= 1e-9)


def test_known_pairs_are_left_out_if_that_is_wanted(predictor: Predictor):
    subject, _, _, time = next(iter(predictor.graph.rows("train")))
    asked = Question(subject=subject, time=time)
    marked = predictor.predict_many([asked], top=EVERYTHING)[0]
    hidden = predictor.predict_many([asked], top=EVERYTHING, already_known="hide")[0]
    assert any(answer.already_known == "train" for answer in marked)
    assert all(answer.probability is not None for answer in hidden)


@pytest.fixture(scope="module")
def evident(evidence_run: Path) -> Predictor:
    return Predictor.open(evidence_run)


@pytest.mark.parametrize("open_", OPEN)
def test_an_explanation_is_of_both_steps_and_states_the_product(evident: Predictor, open_: tuple[str, ...]):
    question = ask(evident.graph, open_)
    first, second = question.targets
    for answer in evident.predict_many([question], top=3, already_known="hide")[0]:
        why = answer.explain()
        one, other = why.steps
        assert (why.slot, why.answer, why.rank) == (f"{first} and {second}", answer.name, answer.rank)
        assert (one.slot, other.slot) == question.targets
        assert (one.answer, other.answer) == answer.filled
        assert one.probability * other.probability == pytest.approx(answer.probability, rel=1e-4)
        assert one.score == pytest.approx(one.probability)
        assert why.score == pytest.approx(answer.score)
        given = {**question.to_dict(), first: one.answer, second: other.answer}
        assert other == evident.explainer.explain(**given, slot=second)
        assert [text.split(",")[0] for text in why.sentences[:2]] == ["First", "Then"]
        assert why.sentences[2].endswith(f" = {100 * answer.probability:.3g}%.")
        assert list(why.reasons[:2]) == [one.reasons[0], other.reasons[0]]
        assert [reason.key for reason in answer.reasons(2)] == [step.shown(1)[0].key for step in why.steps]


def test_the_first_slot_is_explained_by_counting_the_events_of_the_subject(evident: Predictor):
    graph = evident.graph
    _, predicate, _, time = next(iter(graph.rows("test")))
    why = evident.explainer.explain(predicate=predicate, time=time).steps[0]
    step = graph.timeline.step(time)
    weights: dict[str, list[float]] = {}
    for subject, what, _, when in graph.rows("train"):
        if what == predicate:
            far = abs(graph.timeline.step(when) - step)
            weight = 0.3 * (math.exp(-far) + math.exp(-far / 7) + math.exp(-far / 30)) + 0.1 * math.exp(-far / 1e9)
            weights.setdefault(subject, []).append(weight)
    own, whole = weights[why.answer], 1 + sum(sum(one) for one in weights.values())
    reason = why.reasons[0]
    assert reason.contribution == pytest.approx(sum(own) / whole)
    assert reason.groundings == len(own)
    assert reason.events[0].contribution == pytest.approx(max(own) / whole)
    assert all(event.subject == why.answer and event.predicate == predicate for event in reason.events)
    assert f"by {why.answer} towards anyone: " in reason.sentence
    assert "counting alone" in why.note


@pytest.mark.parametrize("open_", OPEN)
def test_a_pair_has_its_rank_wherever_it_stands(evident: Predictor, open_: tuple[str, ...]):
    question = ask(evident.graph, open_)
    answers = evident.predict_many([question], top=EVERYTHING)[0]
    for answer in (answers[0], answers[7], answers[150]):
        assert evident.place(question, *answer.filled) == answer


def test_a_whole_fact_may_be_explained_as_an_answer_to_two_slots(evident: Predictor):
    subject, predicate, object_, time = next(iter(evident.graph.rows("train")))
    fact = {"subject": subject, "predicate": predicate, "object": object_, "time": time}
    why = evident.explainer.explain(**fact, slot="predicate and object")
    assert (why.answer, why.already_known, why.probability) == (f"{predicate}, {object_}", "train", None)
    assert len(why.sentences) == 2
    assert "already known in train" in why.sentences[1]
    text = why.to_text()
    assert text.startswith(f"({subject}, ?, ?, {time}): {predicate}, {object_}\n")
    assert f"\n({subject}, {predicate}, ?, {time}): {object_}\n" in text
    assert json.loads(json.dumps(why.to_dict(full=True)))["steps"][1]["answer"] == object_
    with pytest.raises(QuestionError, match="compare one of the two"):
        why.against(subject)
    competitor = next(name for name in evident.graph.predicates.names if name != predicate)
    assert why.steps[0].against(competitor).to_text().startswith(f"why {predicate} and not {competitor}: ")


def test_other_evidence_changes_the_answers_to_two_open_slots(evidence_run: Path):
    run = Run(evidence_run)
    subject, _, _, time = next(iter(run.graph.rows("test")))
    what_if = run.what_if(past_only=True)
    changes = what_if.changes(Question(subject=subject, time=time), top=3)
    assert [change.rank for change in changes.changes][:3] == [1, 2, 3]
    why = what_if.explain(subject=subject, time=time)
    assert what_if.compare(why).change.rank == 1
    assert all(event.mark == "before" for event in why.steps[0].reasons[0].events)


def test_other_pairs_of_open_slots_are_an_error_that_lists_what_is_possible():
    with pytest.raises(QuestionError, match="predicate and object; subject and predicate; subject and object"):
        _ = Question(subject="state 0", predicate="visits").targets
    with pytest.raises(QuestionError, match="predicate and object are left open"):
        _ = Question(subject="state 0", time="2020-05-05").target
