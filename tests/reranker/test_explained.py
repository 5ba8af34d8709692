"""Explanations of a run with a re-ranker: contributions that add up to the score that orders the answers."""

import math

import pytest
from reranked_runs import Reranked, interval_graph

from foretime.config import Config, override
from foretime.errors import ForetimeError
from foretime.inference.answers import Question
from foretime.inference.chained import explain_first
from foretime.inference.explainer import Explainer
from foretime.inference.explanation.comparison import AnswerComparison
from foretime.inference.explanation.explanation import Explanation
from foretime.inference.explanation.layout import lay_out
from foretime.inference.predictor import Predictor
from foretime.inference.run import Run
from foretime.reranker.boosted_trees import BoostedTrees
from foretime.reranker.features.words import TOPICS, TOTAL, group_of
from foretime.reranker.quantising import SHARED_NEIGHBOURS
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


def assert_every_level_adds_up(found: Explanation) -> None:
    assert found.score == math.fsum(topic.contribution for topic in found.topics)
    for topic in found.topics:
        assert topic.contribution == math.fsum(reason.contribution for reason in topic.reasons)
        for reason in topic.reasons:
            assert reason.contribution == math.fsum([*(event.contribution for event in reason.events), reason.rest])
    for page in lay_out(found, 3, full=True):
        for section in page.sections:
            assert section.total == sum(item.units for item in section.items if item.units is not None)


@pytest.mark.parametrize("slot", ["subject", "object"])
def test_every_level_adds_up_to_the_score_of_every_answer_on_the_shortlist_and_behind_it(
    explainer: Explainer, slot: str
):
    outside = 0
    for fact in facts_of(explainer):
        question = Question(**{name: value for name, value in fact.items() if name != slot})
        for answer in explainer.predictor.predict_many([question], top=1000)[0]:
            found = explainer.explain_answer(question, answer, top=0)
            place = found.full.base_place
            assert place is not None
            assert place.shortlist == 5
            terms = {name: term for name, term in answer.terms.items() if name != "reranker"}
            assert found.terms == pytest.approx(terms, abs=1e-4)
            assert found.score == pytest.approx(answer.score, abs=1e-4)
            assert_every_level_adds_up(found)
            behind = [reason for reason in found.reasons if reason.family == "behind"]
            assert len(behind) == (not place.listed)
            if not place.listed:
                outside += 1
                assert answer.rank > 5
                assert found.score - behind[0].contribution == pytest.approx(math.fsum(terms.values()), abs=1e-4)
                continue
            assert (place.place is None) == (answer.already_known == "train")
            position = next(one.value for one in found.full.features if one.feature == "position")
            assert place.place in (None, position + 1)
            total = math.fsum([found.full.expected, *(one.contribution for one in found.full.features)])
            assert found.score == pytest.approx(total, abs=1e-9)
    assert outside > 0


@pytest.mark.parametrize("given", ["subject", "object"])
def test_the_first_of_two_slots_is_explained_by_counts_and_by_what_was_learned(explainer: Explainer, given: str):
    for fact in facts_of(explainer):
        question = Question(**{given: fact[given], "time": fact["time"]})
        first = explain_first(explainer, question, fact["predicate"], top=3)
        assert_every_level_adds_up(first)
        assert first.score == pytest.approx(first.probability)
        assert first.terms.keys() == {"counts", "learned"}
        assert math.fsum(first.terms.values()) == pytest.approx(first.probability)
        assert {reason.family for reason in first.reasons} == {"counts", "learned", "usual"}


@pytest.mark.parametrize("given", ["subject", "object"])
def test_the_entity_of_two_slots_is_explained_by_the_predicates_that_may_be_meant(explainer: Explainer, given: str):
    for fact in facts_of(explainer, 2):
        why = explainer.explain(**{given: fact[given], "time": fact["time"]})
        first, second = why.steps
        assert (first.slot, second.slot) == ("object" if given == "subject" else "subject", "predicate")
        assert_every_level_adds_up(first)
        assert first.score == pytest.approx(first.probability)
        assert {reason.family for reason in first.reasons} == {"predicate", "predicates"}
        named = [reason.contribution for reason in first.reasons if reason.family == "predicate"]
        likeliest = next(one for one in first.reasons if one.contribution == max(named))
        assert first.sentences[-1].startswith(likeliest.title.replace("if it is", "If it is"))
        other = next(name for name in explainer.predictor.graph.entities.names if name != first.answer)
        assert first.against(other).competitor.answer == other


def test_what_no_rule_is_behind_goes_to_the_topic_of_its_feature(explainer: Explainer):
    """Topics have what their features add, and what the features of the whole base score add is split among them."""
    for fact in facts_of(explainer):
        found = explainer.explain(**fact)
        own: dict[str, float] = dict.fromkeys(TOPICS, 0.0)
        split = 0.0
        for one in found.full.features:
            if group_of(one.feature)[1] == TOTAL:
                split += one.contribution
            else:
                own[one.topic] += one.contribution
        own["general"] += found.full.expected or 0.0
        given = dict.fromkeys(own, 0.0) | {topic.topic: topic.contribution for topic in found.topics}
        moved = {name: given[name] - own[name] for name in own}
        assert math.fsum(moved.values()) == pytest.approx(split, abs=1e-9)
        assert moved["names"] == pytest.approx(0, abs=1e-9)


def test_differences_of_any_two_answers_add_up_to_that_of_their_scores(explainer: Explainer):
    for fact in facts_of(explainer):
        best = explainer.predictor.predict_many([Question(**{**fact, "object": None})], top=100)[0]
        others = [answer.name for answer in best if answer.name != fact["object"]]
        for competitor in (others[0], others[-1]):
            explanation = explainer.explain(competitor=competitor, **fact)
            assert explanation.competitor is not None
            comparison = AnswerComparison(explanation, explanation.competitor)
            difference = explanation.score - explanation.competitor.score
            assert comparison.difference == math.fsum(topic.difference for topic in comparison.topics)
            assert comparison.difference == pytest.approx(difference, abs=1e-9)
            section = lay_out(explanation, 4)[0].sections[0]
            assert section.total == sum(item.units for item in section.items)


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
            assert_every_level_adds_up(found)
            if found.full.expected is None:
                continue
            shared = found.full.shared_neighbours
            assert shared is not None
            reported = next(one.value for one in found.full.features if one.feature == SHARED_NEIGHBOURS)
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
    assert explainer.explain(**facts_of(explainer)[0]).full.shared_neighbours is None


@pytest.mark.parametrize("slot", ["predicate", "time"])
def test_what_has_a_model_of_its_own_is_explained_by_that_model(explainer: Explainer, slot: str):
    for fact in facts_of(explainer, 2):
        question = Question(**{name: value for name, value in fact.items() if name != slot})
        for answer in explainer.predictor.predict_many([question], top=1000)[0][::20]:
            found = explainer.explain_answer(question, answer)
            assert found.score == pytest.approx(answer.score, abs=1e-4)
            assert_every_level_adds_up(found)
            place = found.full.base_place
            assert place is not None
            assert place.listed == (found.full.expected is not None)
            assert {one.topic for one in found.full.features} <= set(TOPICS)


def test_an_explanation_of_another_score_is_refused(explainer: Explainer, monkeypatch: pytest.MonkeyPatch):
    right = BoostedTrees.score
    question = Question(**{**facts_of(explainer)[0], "object": None})
    answer = explainer.predictor.predict_many([question], top=1)[0][0]
    monkeypatch.setattr(BoostedTrees, "score", lambda self, features: right(self, features) + 1)
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
