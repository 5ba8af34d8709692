"""Two open slots of a run with a model of predicates: the entity by the sum over predicates, then the predicate."""

import math

import numpy as np
import pytest
from reranked_runs import Reranked

from foretime.inference.answers import Question
from foretime.inference.chain import NOT_SUMMED
from foretime.inference.first_slot import first_slot
from foretime.inference.predictor import Predictor

EVERYTHING = 10_000


@pytest.fixture(scope="module")
def predictor(reranked: dict[str, Reranked]) -> Predictor:
    return Predictor.open(reranked["fold"].run)


def asked(predictor: Predictor, given: str, split: str) -> Question:
    subject, _, object_, time = next(iter(predictor.graph.rows(split)))
    return Question(**{given: {"subject": subject, "object": object_}[given], "time": time})


@pytest.mark.parametrize("given", ["subject", "object"])
def test_a_pair_has_the_probability_of_the_sum_over_predicates_times_that_of_its_predicate(
    predictor: Predictor, given: str
):
    question = asked(predictor, given, "test")
    entity, names = question.targets[1], predictor.graph.predicates
    answers = predictor.predict_many([question], EVERYTHING, "hide")[0]
    assert math.fsum(answer.probability or 0.0 for answer in answers) == pytest.approx(1.0, abs=2e-3)
    chances = first_slot(predictor, question, predictor.facts_of([question], question.targets)).chances
    likely = np.argsort(-chances, kind="stable")
    summed = [place for place, before in zip(likely, np.cumsum(chances[likely]) - chances[likely], strict=True)
              if before < 1 - NOT_SUMMED]  # fmt: skip
    for answer in (answers[0], answers[5]):
        total = 0.0
        for place in summed:
            with_predicate = Question(**{**question.to_dict(), "predicate": names.name(int(place))})
            chance = predictor.place(with_predicate, answer.names[entity]).probability or 0.0
            total += chances[place] / chances[summed].sum() * chance
        with_entity = Question(**{**question.to_dict(), entity: answer.names[entity]})
        then = predictor.place(with_entity, answer.names["predicate"]).probability
        assert list(answer.terms) == [entity, "predicate"]
        assert math.exp(answer.terms[entity]) == pytest.approx(total, rel=1e-4)
        assert answer.probability == pytest.approx(total * then, rel=1e-4)
        assert math.exp(answer.score) == pytest.approx(answer.probability)


@pytest.mark.parametrize("given", ["subject", "object"])
def test_the_first_pairs_and_the_place_of_a_pair_are_those_of_the_whole_list(predictor: Predictor, given: str):
    question = asked(predictor, given, "train")  # so that a pair is known
    many = predictor.predict_many([question], EVERYTHING)[0]
    few = predictor.predict_many([question], 3)[0]
    assert [answer.name for answer in few] == [answer.name for answer in many[:3]]
    assert np.all(np.diff([answer.score for answer in many]) <= 1e-9)
    assert any(answer.already_known == "train" for answer in many)
    for answer in (many[0], many[4], next(one for one in many if one.already_known)):
        placed = predictor.place(question, *answer.filled)
        assert (placed.rank, placed.name, placed.already_known) == (answer.rank, answer.name, answer.already_known)
        assert placed.score == pytest.approx(answer.score)
