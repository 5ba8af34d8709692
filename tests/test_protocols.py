"""Single-step and multi-step forecasts: what a question may see, and that it sees nothing else."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from foretime.config import Config, DataConfig, EvidenceConfig, ModelConfig, override
from foretime.data.facts import Facts
from foretime.data.graph import Graph, read_graph
from foretime.data.splitting import SPLITS
from foretime.data.synthetic import generate_world
from foretime.errors import ConfigError
from foretime.evaluation.protocols import protocol_of
from foretime.evidence.index import build_index
from foretime.evidence.module import evidence_of
from foretime.inference.run import Run
from foretime.reranker.other_evidence import scorer_on
from foretime.reranker.scorer import Scorer
from foretime.runs.life import create_run, train
from foretime.runs.loading import load_scorer

ALL = list(SPLITS)
Leak = Callable[[Scorer, Graph, Facts], Tensor]
SINGLE_STEP = {"evidence.past_only": True, "evidence.splits": ALL}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = generate_world(1500).write(tmp_path_factory.mktemp("protocols") / "world")
    return read_graph(folder, DataConfig(split="time"))


@pytest.fixture(scope="module")
def config(small_config: Config) -> Config:
    settings = {"training.epochs": 2, "training.batch_size": 200, "training.valid_every": 1, "rules.support": 2}
    settings |= {"rules.static_support": 3, "reranker.use": True, "reranker.trees": 10, "reranker.top": 20}
    rules_alone = small_config.model_copy(update={"model": ModelConfig(name="rules")})
    return override(rules_alone, settings)


@pytest.fixture(scope="module")
def run(world: Graph, config: Config, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("protocols") / "single"
    return Run(train(world, override(config, SINGLE_STEP), folder).path)


@pytest.fixture(scope="module")
def step(world: Graph) -> int:
    """A step in the middle of test at which something happens."""
    return int(np.sort(world.test.start)[len(world.test) // 2])


def with_another_future(graph: Graph, step: int, seed: int = 5) -> Graph:
    """The graph with all events at or after a step, of every split, replaced by others."""
    generator = np.random.default_rng(seed)

    def changed(facts: Facts) -> Facts:
        later = facts.start >= step
        count = int(later.sum())
        columns = [column.copy() for column in facts.columns()]
        time = generator.integers(step, len(graph.timeline), count)
        new = (len(graph.entities), len(graph.predicates), len(graph.entities))
        for column, size in zip(columns[:3], new, strict=True):
            column[later] = generator.integers(size, size=count)
        columns[3][later] = columns[4][later] = time
        return Facts(*columns)

    return replace(graph, **{split: changed(graph.facts(split)) for split in SPLITS})


def asked_at(graph: Graph, step: int) -> Facts:
    """Questions of test at a step, in both directions."""
    facts = graph.test.take(graph.test.start == step)
    return facts.with_inverses(len(graph.predicates))


@torch.inference_mode()
def all_scores(scorer: Scorer, questions: Facts) -> list[Tensor]:
    forward = questions.take(slice(len(questions) // 2))
    base = Scorer(scorer.model, scorer.graph)
    return [scorer.score(questions), base.score(questions), scorer.score_slot("predicate", forward)]


def loaded(run: Run, graph: Graph) -> Scorer:
    return load_scorer(run._folder, run.config, graph)


def test_nothing_at_or_after_its_time_changes_a_score(run: Run, world: Graph, step: int) -> None:
    questions = asked_at(world, step)
    assert len(questions) >= 2
    before, after = (all_scores(loaded(run, graph), questions) for graph in (world, with_another_future(world, step)))
    for one, other in zip(before, after, strict=True):
        assert torch.equal(one, other)


def seeing_the_future(scorer: Scorer, graph: Graph, questions: Facts) -> Tensor:
    """The base model with all events as its evidence."""
    return Scorer(scorer_on(scorer, graph, graph.facts(), past_only=False).model, graph).score(questions)


def seeing_the_day_itself(scorer: Scorer, graph: Graph, questions: Facts) -> Tensor:
    """The whole scorer, asked a step later: what happens at the time of the question is then past."""
    return scorer.score(replace(questions, start=questions.start + 1, end=questions.end + 1))


@pytest.mark.parametrize("leak", [seeing_the_future, seeing_the_day_itself])
@torch.inference_mode()
def test_a_leaking_copy_is_caught(run: Run, world: Graph, step: int, leak: Leak) -> None:
    questions = asked_at(world, step)
    graphs = (world, with_another_future(world, step))
    one, other = (leak(loaded(run, graph), graph, questions) for graph in graphs)
    assert not torch.equal(one, other)


def test_rules_with_a_weight_are_those_of_train(world: Graph) -> None:
    every = build_index(world, EvidenceConfig(splits=ALL, past_only=True))
    train_alone = build_index(world, EvidenceConfig(past_only=True))
    for one, other in zip(every.rules, train_alone.rules, strict=True):
        assert np.array_equal(one, other)
    assert len(every.events.time) > len(train_alone.events.time)


def test_weights_are_learned_from_train_alone(
    world: Graph, config: Config, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("weights")
    random = world.split(by="random", seed=3)  # in time order they could not see the others anyway
    settings = {"training.patience": 9, "reranker.use": False}
    weights = []
    for name, splits in (("one", ["train"]), ("two", ["train", "valid"])):
        own = train(random, override(config, settings | {"evidence.splits": splits}), folder / name)
        weights.append(load_file(own.last_file))
    for key, value in weights[0].items():
        assert torch.equal(value, weights[1][key]), key


def test_the_protocol_follows_from_the_evidence() -> None:
    named = [
        protocol_of(EvidenceConfig(splits=splits, past_only=past_only), split)
        for splits, past_only, split in (
            (["train"], False, "test"),
            (["train"], True, "valid"),
            (["train"], True, "test"),
            (["train", "valid"], True, "valid"),
            (["train", "valid"], True, "test"),
            (ALL, True, "test"),
        )
    ]
    assert named == ["completion", "multi-step", "multi-step", "single-step", "multi-step", "single-step"]


def test_single_step_sees_more_and_multi_step_is_told_by_horizon(run: Run, world: Graph) -> None:
    report = run.evaluations["test"]
    assert report.protocol == "single-step"
    assert not report.horizons
    again = run.evaluate("test", protocol="single-step")
    assert again.all == report.all
    far = run.evaluate("test", protocol="multi-step")
    assert far.protocol == "multi-step"
    assert sum(one.questions for one in far.horizons.values()) == far.all.questions == 2 * len(world.test)
    assert far.all != again.all
    assert len(far.by_horizon) >= 2
    # the kinds are of the events that a question could see: in single-step some were yesterday
    assert again.kinds["same step"].questions == far.kinds["same step"].questions == 0
    near = ("within 1 step", "within 7 steps")
    assert sum(again.kinds[kind].questions for kind in near) > sum(far.kinds[kind].questions for kind in near)
    assert type(far).from_dict(far.to_dict()).to_dict() == far.to_dict()


def test_horizons_are_counted_from_the_last_evidence(run: Run, world: Graph) -> None:
    far = run.evaluate("test", protocol="multi-step")
    steps = world.test.start - world.valid.start.max()
    assert far.horizons["1 step"].questions == 2 * int((steps == 1).sum())
    assert far.horizons["4–7 steps"].questions == 2 * int(((steps >= 4) & (steps <= 7)).sum())


def test_the_time_of_a_fact_is_asked_without_the_fact(run: Run) -> None:
    assert evidence_of(run.predictor.model) is not None
    mrr = run.evaluations["test"].slots["time"].model.metrics.mrr
    assert mrr < 0.5  # with the fact itself among the evidence every time would be told


def test_a_run_that_sees_later_events_makes_no_forecasts(evidence_run: Path) -> None:
    opened = Run(evidence_run)
    with pytest.raises(ConfigError, match=r"single-step is a protocol of forecasts, .* train one with --past-only"):
        opened.evaluate("test", protocol="single-step")
    assert opened.evaluate("test", protocol="completion").protocol == "completion"


def test_a_run_of_the_past_completes_nothing(run: Run) -> None:
    with pytest.raises(ConfigError, match="for completion train one without --past-only"):
        run.evaluate("test", protocol="completion")
    with pytest.raises(ConfigError, match="nothing comes before train"):
        run.evaluate("train", protocol="multi-step")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"evidence.past_only": False}, "answers would be their own evidence; use --past-only with it"),
        ({"evidence.splits": ["train", "test"]}, "evidence.splits has test and not valid; single-step needs all three"),
    ],
)
def test_test_is_no_evidence_where_it_would_be_seen(
    world: Graph, config: Config, tmp_path: Path, settings: dict, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        create_run(world, override(config, SINGLE_STEP | settings), tmp_path / "run")


def test_splits_that_overlap_in_time_are_refused(small_graph: Graph, config: Config, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"the splits overlap in time, .*; split by time, as --valid-from"):
        create_run(small_graph, override(config, SINGLE_STEP), tmp_path / "run")
