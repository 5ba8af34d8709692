"""Questions with two open slots: the chain rule, one by one, and sums that are one."""

import math
from pathlib import Path

import numpy as np
import pytest

from foretime.data.graph import Graph
from foretime.errors import QuestionError
from foretime.inference.answers import Question
from foretime.inference.predictor import Predictor
from foretime.inference.two_slots import _first_chances

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
    chances = _first_chances(predictor, question, predictor.facts_of([question], question.targets))
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


def test_other_pairs_of_open_slots_are_an_error_that_lists_what_is_possible():
    with pytest.raises(QuestionError, match="predicate and object; subject and predicate; subject and object"):
        _ = Question(subject="state 0", predicate="visits").targets
    with pytest.raises(QuestionError, match="predicate and object are left open"):
        _ = Question(subject="state 0", time="2020-05-05").target
