"""A run on a graph with facts without a time: what learns from them, what answers without a time, and why."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import foretime as ft
from foretime.config import Config, override
from foretime.data.facts import UNKNOWN, Facts, empty_facts
from foretime.data.graph import Graph
from foretime.inference.answers import Question
from foretime.inference.timeless import NOTE
from foretime.models.lcge import LCGE
from foretime.reranker.features.words import BACKGROUND_FEATURES
from foretime.runs.life import train

ENTITIES = 12


def with_background(graph: Graph) -> Graph:
    """The small graph, in which each state is known to visit two others, nobody knows when."""
    states = np.tile(np.arange(ENTITIES), 2)
    near = (states + np.repeat([1, 2], ENTITIES)) % ENTITIES
    unknown = np.full(len(states), UNKNOWN)
    visits = np.full(len(states), graph.predicates.id("visits"))
    return replace(graph, background=Facts(states, visits, near, unknown, unknown))


@pytest.fixture(scope="module")
def config(small_config: Config) -> Config:
    changes = {"evidence.use": True, "model.rank": 4, "training.epochs": 2, "rules.support": 2}
    reranker = {"use": True, "folds": 3, "top": 5, "trees": 8, "leaves": 5, "leaf_candidates": 4, "slots": False}
    return override(small_config, changes | {f"reranker.{name}": value for name, value in reranker.items()})


@pytest.fixture(scope="module")
def run(small_graph: Graph, config: Config, tmp_path_factory: pytest.TempPathFactory) -> ft.Run:
    folder = tmp_path_factory.mktemp("timeless") / "run"
    train(with_background(small_graph), config, folder)
    return ft.open_run(folder)


def test_commonsense_learns_from_facts_without_a_time_and_events_do_not(
    small_graph: Graph, small_config: Config, tmp_path: Path
) -> None:
    from foretime.inference.predictor import Predictor

    settings = override(small_config, {"training.epochs": 2, "model.rank": 4})
    models = []
    for name, graph in (("plain", small_graph), ("more", with_background(small_graph))):
        train(graph, settings, tmp_path / name)
        models.append(Predictor.open(tmp_path / name).model)
    plain, more = models
    assert isinstance(plain, LCGE)
    assert isinstance(more, LCGE)
    same = [
        bool((one == other).all()) for one, other in zip(plain.event.parameters(), more.event.parameters(), strict=True)
    ]
    assert all(same), "the event component has no gradient of a fact without a time"
    assert not bool((plain.commonsense.entities == more.commonsense.entities).all()), "commonsense learns from it"


def test_the_run_comes_back_with_its_background(run: ft.Run) -> None:
    assert len(run.graph.background) == 2 * ENTITIES
    names = run.predictor.scorer.reranked.extractor.graph_feature_names
    assert names[-len(BACKGROUND_FEATURES) :] == list(BACKGROUND_FEATURES), "the re-ranker has features of it"


def test_reasons_of_dated_answers_add_up_with_background_among_them(run: ft.Run) -> None:
    answers = run.predict(subject="state 0", predicate="visits", time="2020-05-05", top=4)
    topics = set()
    for answer in answers:
        found = answer.explain()
        reasons = found.reasons
        assert math.fsum(one.contribution for one in reasons) == pytest.approx(answer.score, abs=1e-3)
        topics |= {one.topic for one in reasons}
        for one in reasons:
            if one.family == "background":
                assert one.sentence.startswith("background: ")
                assert not one.events, "no date, and no event"
    assert "background" in topics


def test_a_fact_without_a_time_filters_no_dated_question(run: ft.Run, small_graph: Graph) -> None:
    question = Question(subject="state 0", predicate="visits", time="2020-05-05")
    for answer in run.predict_many([question], top=ENTITIES)[0]:
        assert answer.already_known in (None, "train", "valid", "test"), "background says nothing of that time"


@pytest.mark.parametrize("slot", ["object", "subject"])
def test_a_question_without_a_time_is_answered_by_what_needs_none(run: ft.Run, slot: str) -> None:
    given = {"subject": "state 0"} if slot == "object" else {"object": "state 0"}
    answers = run.predict(**given, predicate="visits", time="none", top=ENTITIES)
    assert answers.target == slot
    assert answers.note == NOTE
    assert set(answers[0].terms) == {"commonsense", "evidence_affinity", "evidence_background"}
    assert [one.rank for one in answers] == list(range(1, len(answers) + 1))
    for one in answers:
        assert one.probability is None, "nothing was calibrated for such questions"
        assert one.score == pytest.approx(math.fsum(one.terms.values()), abs=1e-4)
    assert {one.already_known for one in answers} >= {"background"}
    left = run.predict(**given, predicate="visits", time="none", top=ENTITIES, already_known="hide")
    assert all(one.already_known is None for one in left)


def test_an_answer_without_a_time_is_explained(run: ft.Run) -> None:
    answer = run.predict(subject="state 0", predicate="visits", time="none", top=1)[0]
    found = answer.explain()
    assert math.fsum(one.contribution for one in found.reasons) == pytest.approx(answer.score, abs=1e-3)
    assert NOTE in str(found.note)
    whole = run.explain(subject="state 0", predicate="visits", object=answer.name, time="none")
    assert whole.rank == 1, "a whole fact is found where it stands"


def test_only_names_can_be_asked_for_without_a_time(run: ft.Run) -> None:
    with pytest.raises(ft.QuestionError, match="without a time only"):
        run.predict(subject="state 0", object="state 1", time="none")


def test_a_model_of_events_alone_cannot_answer_without_a_time(
    small_graph: Graph, small_config: Config, tmp_path: Path
) -> None:
    settings = override(small_config, {"model.name": "tcomplex", "training.epochs": 1, "model.rank": 2})
    train(small_graph, settings, tmp_path / "run")
    with pytest.raises(ft.QuestionError, match="nothing that answers without a time"):
        ft.open_run(tmp_path / "run").predict(subject="state 0", predicate="visits", time="none")


def test_an_update_keeps_the_background_and_refuses_events_without_a_time(run: ft.Run, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(run.path, tmp_path / "copy")
    own = ft.open_run(tmp_path / "copy")
    with pytest.raises(ft.DataError, match="the time is not known"):
        own.update([("state 0", "visits", "state 1", "")])
    own.update([("state 98", "greets", "state 99", "2020-05-06")])
    answers = own.predict(subject="state 0", predicate="visits", time="none", top=3)
    assert "evidence_background" in answers[0].terms, "new names leave the background as it is"
    before = run.predict(subject="state 3", predicate="visits", time="none", top=ENTITIES)
    after = own.predict(subject="state 3", predicate="visits", time="none", top=ENTITIES)
    background = {one.name: one.terms["evidence_background"] for one in before}
    for one in after:
        assert one.terms["evidence_background"] == pytest.approx(background.get(one.name, 0.0), abs=1e-4)


def test_a_graph_without_background_has_none_of_its_features(small_graph: Graph) -> None:
    from foretime.config import EvidenceConfig
    from foretime.evidence.index import build_index

    plain = build_index(small_graph, EvidenceConfig(use=True))
    assert plain.background is None
    assert plain.weights == plain.event_weights
    switched_off = build_index(with_background(small_graph), EvidenceConfig(use=True, background=False))
    assert switched_off.background is None, "evidence.background switches it off"
    assert len(small_graph.background) == len(empty_facts())
