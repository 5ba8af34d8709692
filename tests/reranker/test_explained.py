"""Explanations of a run with a re-ranker: contributions that add up to the score that orders the answers."""

import math

import pytest
from reranked_runs import Reranked, interval_graph

from foretime.config import Config, override
from foretime.errors import ForetimeError
from foretime.inference.answers import Question
from foretime.inference.explainer import SHARED_NEIGHBOURS, Explainer
from foretime.inference.explanation.explanation import AnswerComparison
from foretime.inference.explanation.layout import lay_out
from foretime.inference.predictor import Predictor
from foretime.inference.run import Run
from foretime.reranker.scorer import RerankedModel
from foretime.runs.life import train


@pytest.fixture(scope="module")
def explainer(reranked: dict[str, Reranked]) -> Explainer:
    return Predictor.open(reranked["fold"].run).explainer


def facts_of(explainer: Explainer, count: int = 4) -> list[dict[str, str]]:
    graph = explainer.predictor.graph
    return [
        {
            "subject": graph.entities.name(facts.subject[row]),
            "predicate": graph.predicates.name(facts.predicate[row]),
            "object": graph.entities.name(facts.object[row]),
            "time": graph.timeline.label(facts.start[row]),
        }
        for facts in (graph.train, graph.test)
        for row in range(count)
    ]


@pytest.mark.parametrize("slot", ["subject", "object"])
def test_base_and_features_add_up_to_the_score_of_every_answer_on_the_shortlist(explainer: Explainer, slot: str):
    outside = 0
    for fact in facts_of(explainer):
        question = Question(**{name: value for name, value in fact.items() if name != slot})
        for answer in explainer.predictor.predict_many([question], top=1000)[0]:
            found = explainer.explain_answer(question, answer, top=0)
            place = found.base_place
            assert place is not None
            assert place.shortlist == 5
            terms = {name: term for name, term in answer.terms.items() if name != "reranker"}
            assert found.terms == pytest.approx(terms, abs=1e-4)
            if found.reranker is None:
                outside += 1
                assert not place.listed
                assert answer.rank > 5
                assert "not on the shortlist of the best 5" in found.to_text()
                assert found.score == found.base_score == math.fsum(found.terms.values())
                continue
            assert place.listed
            assert (place.place is None) == (answer.already_known == "train")
            assert found.score == found.reranker.score == pytest.approx(answer.score, abs=1e-4)
            position = next(one.value for one in found.reranker.contributions if one.feature == "position")
            assert place.place in (None, position + 1)
            section = lay_out(found, 3)[0].sections[0]
            assert section.total == sum(item.units for item in section.items)
    assert outside > 0


def test_differences_of_two_answers_on_the_shortlist_add_up_to_that_of_their_scores(explainer: Explainer):
    compared = 0
    for fact in facts_of(explainer):
        best = explainer.predictor.predict_many([Question(**{**fact, "object": None})], top=3)[0]
        competitor = next(answer.name for answer in best if answer.name != fact["object"])
        explanation = explainer.explain(competitor=competitor, **fact)
        assert explanation.competitor is not None
        comparison = AnswerComparison(explanation, explanation.competitor)
        if comparison.reranked:
            compared += 1
            difference = explanation.score - explanation.competitor.score
            assert comparison.difference == pytest.approx(difference, abs=1e-12)
            total = math.fsum(one.difference for one in comparison.reranker)
            assert total == pytest.approx(difference, abs=1e-12)
            section = lay_out(explanation, 4)[0].sections[0]
            assert section.total == sum(item.units for item in section.items)
    assert compared > 0


@pytest.fixture(scope="module", params=[False, True])
def spans(request, reranked_config: Config, tmp_path_factory: pytest.TempPathFactory) -> Explainer:
    folder = tmp_path_factory.mktemp("spans")
    config = override(reranked_config, {"reranker.fit": "fold", "evidence.past_only": request.param})
    train(interval_graph(folder / "lands.tsv"), config, folder / "run")
    return Predictor.open(folder / "run").explainer


@pytest.mark.parametrize("slot", ["subject", "object"])
def test_the_shared_neighbours_that_are_named_weigh_what_the_reranker_says(spans: Explainer, slot: str):
    paths = 0
    given = "subject" if slot == "object" else "object"
    for name, predicate in (("land 1", "heads"), ("land 2", "joins"), ("land 4", "joins")):
        question = Question(**{given: name}, predicate=predicate, start="2003", end="2007")
        for answer in spans.predictor.predict_many([question], top=6)[0]:
            found = spans.explain_answer(question, answer)
            if found.reranker is None:
                continue
            shared = found.reranker.shared_neighbours
            assert shared is not None
            reported = next(one.value for one in found.reranker.contributions if one.feature == SHARED_NEIGHBOURS)
            assert shared.weight == pytest.approx(reported, rel=1e-5)
            assert shared.reported == reported
            for one in shared.co_neighbours:
                first, _, last = one.events[:3]
                assert {first.subject, first.object} == {name, one.via}
                ends = (one.name, answer.name) if slot == "object" else (answer.name, one.name)
                assert (last.subject, last.predicate, last.object) == (ends[0], predicate, ends[1])
            paths += shared.paths
    assert paths > 0


def test_events_of_single_times_have_no_shared_neighbours(explainer: Explainer):
    assert explainer.explain(**facts_of(explainer)[0]).reranker.shared_neighbours is None


@pytest.mark.parametrize("slot", ["predicate", "time"])
def test_what_the_reranker_does_not_order_is_explained_by_terms_alone(explainer: Explainer, slot: str):
    found = explainer.explain(slot=slot, **facts_of(explainer)[0])
    assert (found.base_place, found.reranker) == (None, None)
    assert found.to_dict()["base_model"] is None
    assert found.to_text().splitlines()[2].startswith("score ")


def test_an_explanation_of_another_score_is_refused(explainer: Explainer, monkeypatch: pytest.MonkeyPatch):
    right = RerankedModel.score
    question = Question(**{**facts_of(explainer)[0], "object": None})
    answer = explainer.predictor.predict_many([question], top=1)[0][0]
    monkeypatch.setattr(RerankedModel, "score", lambda self, questions: right(self, questions) + 1)
    with pytest.raises(RuntimeError, match="add up to") as caught:
        explainer.explain_answer(question, answer)
    assert not isinstance(caught.value, ForetimeError)


def test_tables_show_the_base_model_and_the_kinds_of_evidence(reranked: dict[str, Reranked]):
    run = Run(reranked["fold"].run)
    frame = run.metrics.to_frame().set_index(["split", "model"])
    for split, found in run.evaluations.items():
        assert found.base_model is not None
        assert frame.loc[(split, "base model"), "mrr"] == found.base_model.all.mrr
        assert frame.loc[(split, "re-ranked"), "mrr"] == found.all.mrr
    shown = str(run.evaluations["test"].by_distance)
    asked = {name: kind for name, kind in run.evaluations["test"].kinds.items() if kind.questions}
    assert asked
    for name, kind in asked.items():
        assert any(name in line and f"{kind.mrr:.4f}" in line for line in shown.splitlines())
