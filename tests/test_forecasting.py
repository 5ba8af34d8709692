"""Forecasting: a chronological split, evidence of the past alone, and questions about days that are yet to come."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import foretime as ft
from foretime.config import Config, DataConfig, override
from foretime.data.facts import Facts, concatenate
from foretime.data.graph import Graph, read_graph
from foretime.data.synthetic import generate_world
from foretime.data.timeline import Timeline
from foretime.errors import QuestionError
from foretime.evaluation.protocols import in_order
from foretime.evidence.events import event_lists
from foretime.evidence.families import RATED
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.module import WithEvidence
from foretime.inference.answers import Answer, Question
from foretime.inference.explainer import Explainer
from foretime.inference.predictor import Predictor
from foretime.models import Queries
from foretime.reranker.features.extractor import score_each_term
from foretime.runs.folder import RunFolder
from foretime.runs.life import train

LATER = ("2025-01-01", "2025-01-03", "2025-02-11", "2031-07-01")
"""Days after the last one of the world, near and far."""
RULES = {"model.name": "rules", "evidence.past_only": True}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = generate_world(1500).write(tmp_path_factory.mktemp("forecasting") / "world")
    return read_graph(folder, DataConfig(split="time"))


@pytest.fixture(scope="module")
def config(small_config: Config) -> Config:
    settings = {"training.epochs": 3, "training.batch_size": 200, "training.valid_every": 1}
    return override(small_config, settings | {"model.rank": 4, "rules.support": 2, "rules.static_support": 3})


@pytest.fixture(scope="module")
def rules_run(world: Graph, config: Config, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return train(world, override(config, RULES), tmp_path_factory.mktemp("forecasting") / "rules")


@pytest.fixture(scope="module")
def mixed_run(world: Graph, config: Config, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    settings = {"model.name": "tntcomplex", "evidence.use": True, "evidence.past_only": True, "training.epochs": 1}
    return train(world, override(config, settings), tmp_path_factory.mktemp("forecasting") / "mixed")


@pytest.fixture(scope="module")
def fading_run(world: Graph, config: Config, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    settings = {**RULES, "evidence.families": [*RATED]}
    return train(world, override(config, settings), tmp_path_factory.mktemp("forecasting") / "fading")


@pytest.fixture(scope="module")
def recent_run(world: Graph, config: Config, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    settings = {**RULES, "evidence.use": True, "model.name": "recent", "evidence.families": [*RATED]}
    return train(world, override(config, settings), tmp_path_factory.mktemp("forecasting") / "recent")


@pytest.fixture(scope="module")
def explainer(rules_run: RunFolder) -> Explainer:
    return Predictor.open(rules_run).explainer


def asked(graph: Graph, row: int, time: str) -> dict[str, str]:
    """The question for the object of a test fact, at another time."""
    facts = graph.test
    subject, predicate = graph.entities.name(facts.subject[row]), graph.predicates.name(facts.predicate[row])
    return {"subject": subject, "predicate": predicate, "time": time}


def scores(answers: list[Answer]) -> dict[str, float]:
    return {answer.name: answer.score for answer in answers}


def test_the_split_of_the_world_is_one_of_time(world: Graph):
    assert world.train.start.max() < world.valid.start.min()
    assert world.valid.start.max() < world.test.start.min()
    assert world.timeline.regular


def test_rules_of_the_past_forecast_better_than_chance_and_than_one_family(
    world: Graph, config: Config, rules_run: RunFolder, tmp_path: Path
):
    chance = float(np.mean(1 / np.arange(1, len(world.entities) + 1)))  # all candidates in any order
    reduced = train(world, override(config, RULES | {"evidence.families": ["affinity"]}), tmp_path / "reduced")
    mrr, less = (run.report()["test"]["all"]["mrr"] for run in (rules_run, reduced))
    assert mrr > 3 * chance
    assert mrr > 1.2 * less


@pytest.mark.parametrize("time", LATER)
def test_a_day_after_the_last_one_is_answered_and_its_reasons_add_up(explainer: Explainer, world: Graph, time: str):
    for row in (0, 5, 9):
        question = asked(world, row, time)
        answers = explainer.predictor.predict(**question, top=3)
        assert [answer.rank for answer in answers] == [1, 2, 3]
        assert all(answer.already_known is None and answer.probability is not None for answer in answers)
        explanation = explainer.explain(**question, competitor=answers[1].name)
        assert explanation.answer == answers[0].name
        assert explanation.question["time"] == time
        assert math.isclose(explanation.score, answers[0].score, rel_tol=1e-4, abs_tol=1e-4)
        assert explanation.reasons
        days = [event.time for reason in explanation.reasons for event in reason.events]
        assert days
        assert max(days) <= world.timeline.label(int(world.train.start.max()))


def test_every_slot_but_the_time_is_asked_for_beyond_the_timeline(explainer: Explainer, world: Graph):
    predictor, fact = explainer.predictor, asked(world, 0, LATER[0])
    fact["object"] = world.entities.name(world.test.object[0])
    for slot in ("subject", "predicate", "object"):
        question = Question(**{**fact, slot: None})
        assert predictor.predict_many([question], top=2)[0]
        assert explainer.explain(**fact, slot=slot).answer == fact[slot]
    times = predictor.predict(**{**fact, "time": None}, top=10_000)
    assert {answer.name for answer in times} == {world.timeline.label(step) for step in range(len(world.timeline))}
    with pytest.raises(QuestionError, match="is not on the timeline"):
        explainer.explain(**fact, slot="time")


def test_distance_matters_and_the_far_future_is_not_the_last_day(explainer: Explainer, world: Graph):
    near, far = (
        scores(explainer.predictor.predict(**asked(world, 0, time), top=10_000)) for time in (LATER[0], LATER[-1])
    )
    assert near.keys() == far.keys()
    assert near != far


@pytest.fixture(scope="module")
def near_explainer(rules_run: RunFolder) -> Explainer:
    """The same run, looking at questions from at most three steps after the last event."""
    predictor = Predictor.open(rules_run)
    return predictor.on(predictor.scorer.within(3), predictor.graph).explainer


def test_with_a_largest_gap_far_days_are_asked_as_of_soon_after_the_last_event(near_explainer: Explainer, world: Graph):
    predictor, last = near_explainer.predictor, int(world.train.start.max())
    seen, before = world.timeline.label(last + 3), world.timeline.label(last)
    near = predictor.predict(**asked(world, 0, seen), top=10_000)
    assert near.note is None
    for time in LATER:
        far = predictor.predict(**asked(world, 0, time), top=10_000)
        assert scores(far) == scores(near)
        assert far.note == f"the last event before {time} is of {before}: asked as of {seen}"
        explanation, other = (near_explainer.explain(**asked(world, 0, one)) for one in (time, seen))
        assert explanation.note == far.note
        assert explanation.question["time"] == time
        assert [str(reason) for reason in explanation.reasons] == [str(reason) for reason in other.reasons]


def test_with_a_largest_gap_every_candidate_for_the_time_is_looked_at_from_itself(
    explainer: Explainer, near_explainer: Explainer, world: Graph
):
    fact = {**asked(world, 0, LATER[0]), "object": world.entities.name(world.test.object[0]), "time": None}
    one, other = (by.predictor.predict(**fact, top=10_000) for by in (explainer, near_explainer))
    assert scores(one) == scores(other)
    assert other.note is None
    why = near_explainer.explain(**fact)
    assert why.score == explainer.explain(**fact).score


def later_events(world: Graph, first: int, count: int = 400) -> Facts:
    """Events of the same names at or after a step."""
    generator = np.random.default_rng(3)
    time = first + generator.integers(30, size=count)
    entities, predicates = len(world.entities), len(world.predicates)
    pair = generator.integers(entities, size=(2, count))
    return Facts(pair[0], generator.integers(predicates, size=count), pair[1], time, time)


@pytest.mark.parametrize("time", LATER[:3])
@pytest.mark.parametrize("run", ["rules_run", "fading_run", "recent_run"])
def test_what_happens_on_the_day_and_after_it_changes_no_answer(
    run: str, request: pytest.FixtureRequest, world: Graph, time: str
):
    explainer = Predictor.open(request.getfixturevalue(run)).explainer
    predictor = explainer.predictor
    assert isinstance(predictor.model, WithEvidence)
    evidence, step = predictor.model.evidence.index, world.timeline.step(time, beyond=True)
    facts = concatenate([world.train, later_events(world, step)])
    days = range(world.timeline.starts[0], world.timeline.starts[0] + step + 40)
    longer = replace(world, train=facts, timeline=Timeline(world.timeline.unit, days, days[-1]))
    index = event_lists(facts, len(world.entities), len(world.predicates), len(longer.timeline), fading=True)
    with_later = WithEvidence(predictor.model.base, replace(evidence, events=index))
    with_later.evidence.load_state_dict(predictor.model.evidence.state_dict())
    assert longer.timeline.step(time) == step
    queries = Queries(*(torch.from_numpy(column) for column in (world.test.subject, world.test.predicate)),
                      torch.full((len(world.test),), step))  # fmt: skip
    assert torch.equal(with_later.score_objects(queries), predictor.model.score_objects(queries))
    later = Explainer(Predictor(replace(predictor.scorer, model=with_later), longer, predictor.calibrations))
    for row in (0, 3):
        question = asked(world, row, time)
        assert scores(later.predictor.predict(**question)) == scores(predictor.predict(**question))
        before, after = (
            [(reason.contribution, reason.events) for reason in one.explain(**question, top=0).reasons]
            for one in (explainer, later)
        )
        assert before == after


def test_to_embeddings_a_later_day_is_the_last_one_and_to_the_evidence_it_is_not(mixed_run: RunFolder, world: Graph):
    predictor = Predictor.open(mixed_run)
    assert isinstance(predictor.model, WithEvidence)
    last, later = world.timeline.label(len(world.timeline) - 1), LATER[2]
    at_last, at_later = (
        {answer.name: answer.terms for answer in predictor.predict(**asked(world, 0, time), top=10_000)}
        for time in (last, later)
    )
    assert all(at_later[name]["event"] == terms["event"] for name, terms in at_last.items())
    assert any(at_later[name]["evidence"] != terms["evidence"] for name, terms in at_last.items())
    step = np.array([world.timeline.step(later, beyond=True)])
    question = world.test.take(np.array([0]))
    terms = score_each_term(predictor.model, replace(question, start=step, end=step))
    assert torch.stack(list(terms.values())).sum(0)[0].tolist() == pytest.approx(
        [math.fsum(at_later[name].values()) for name in world.entities.names], abs=1e-4
    )


def test_questions_of_many_times_are_answered_together(explainer: Explainer, world: Graph):
    first, last = world.timeline.label(0), world.timeline.label(len(world.timeline) - 1)
    questions = [Question(**asked(world, 1, time)) for time in (first, last, *LATER)]
    together = explainer.predictor.predict_many(questions, top=3)
    assert together == [explainer.predictor.predict_many([question], top=3)[0] for question in questions]


@pytest.mark.parametrize("run", ["small_run", "evidence_run"])
def test_a_run_that_may_see_the_future_refuses_a_later_day(run: str, request: pytest.FixtureRequest):
    predictor = Predictor.open(request.getfixturevalue(run))
    question = asked(predictor.graph, 0, "2031-01-01")
    assert not predictor.forecasts
    with pytest.raises(QuestionError, match=r"'2031-01-01' is not on the timeline, .*trained with --past-only"):
        predictor.predict(**question)
    with pytest.raises(QuestionError, match="trained with --past-only"):
        Explainer(predictor).explain(**question)


def test_a_day_before_the_first_is_refused_by_a_forecasting_run_too(explainer: Explainer, world: Graph):
    assert explainer.predictor.forecasts
    with pytest.raises(QuestionError, match=r"'1999-01-01' is not on the timeline, .*; ask for a time between these$"):
        explainer.predictor.predict(**asked(world, 0, "1999-01-01"))


def test_a_regular_timeline_goes_on_after_its_last_step():
    days = Timeline.build("day", np.array([10, 12]), np.array([10]))
    assert [days.label(step) for step in (2, 3, 40)] == ["1970-01-13", "1970-01-14", "1970-02-20"]
    assert [days.step(days.label(step), beyond=True) for step in (0, 2, 3, 40)] == [0, 2, 3, 40]
    assert days.label(-1) == "1970-01-13"
    with pytest.raises(QuestionError, match="trained with --past-only"):
        days.step("1970-01-14")
    with pytest.raises(QuestionError, match=r"ask for a time between these$"):
        days.step("1970-01-10", beyond=True)


@pytest.mark.parametrize(("granularity", "remedy"), [("auto", "without --irregular"), ("bins:2", "without bins")])
def test_an_uneven_timeline_cannot_go_on_and_says_so(granularity: str, remedy: str):
    ticks = np.array([10, 11, 15])
    timeline = Timeline.build("day", ticks, ticks, granularity, regular=False)
    assert timeline.step("1970-01-16", beyond=True) == len(timeline) - 1
    with pytest.raises(QuestionError, match=f"train on a regular timeline, {remedy}"):
        timeline.step("1970-01-17", beyond=True)
    with pytest.raises(IndexError):
        timeline.label(len(timeline))


def test_evidence_takes_any_later_step(explainer: Explainer):
    assert isinstance(explainer.predictor.model, WithEvidence)
    index: EvidenceIndex = explainer.predictor.model.evidence.index
    weights = np.ones(index.weights, dtype=np.float32)
    one = np.zeros(1, dtype=np.int64)
    for step in (index.events.steps, index.events.steps + 1, 10**9, 2**40):
        assert np.isfinite(index.score(weights, one, one, one + step)).all()


class Listener(ft.Callback):
    """Keeps what is announced."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def announce(self, message: str) -> None:
        self.heard.append(message)


@pytest.mark.parametrize("given", ["file", "folder"])
def test_the_preset_forecast_splits_what_is_out_of_order_by_time_and_says_so(world: Graph, tmp_path: Path, given: str):
    rows = ["\t".join(row) for split in ("train", "valid", "test") for row in world.rows(split)]
    if given == "file":
        data = tmp_path / "events.tsv"
        data.write_text("\n".join(rows) + "\n", encoding="utf-8")
    else:
        data = tmp_path / "events"
        data.mkdir()
        for place, split in enumerate(("train", "valid", "test")):
            (data / f"{split}.tsv").write_text("\n".join(rows[place::3]) + "\n", encoding="utf-8")
    listener = Listener()
    settings = {"training.threads": 1, "evidence.epochs": 1, "training.epochs": 1, "reranker.trees": 5}
    run = ft.train(data, preset="forecast", folder=tmp_path / "run", settings=settings, callback=listener)
    assert "a forecast asks about what comes after train: the facts are split by time" in listener.heard
    assert in_order(run.graph)
    assert (run.config.data.split, run.config.reranker.cut, run.config.evidence.past_only) == ("time", "time", True)
    assert tuple(run.config.evidence.families) == RATED
