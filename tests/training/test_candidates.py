"""The softmax over candidates that are drawn: whom they are, whom they stand for, and what it is in the limit."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from foretime.config import Config, ModelConfig, override
from foretime.data.facts import Events
from foretime.data.graph import Graph
from foretime.errors import ConfigError
from foretime.models import MODELS, Queries, Sizes, build_model
from foretime.runs.life import create_run, train
from foretime.training.batches import QuestionPool
from foretime.training.callbacks import Callback
from foretime.training.candidates import SampledSoftmax, draw_candidates, most_frequent
from foretime.training.objective import loss_each
from foretime.training.settings import complete_config
from foretime.training.trainer import Trainer, evidence_loss
from interruptions import bytes_of, check_resumes

ENTITIES = 9


@given(
    always=st.lists(st.integers(0, 8), unique=True),
    answers=st.lists(st.integers(0, 8), min_size=1),
    count=st.integers(0, 12),
    seed=st.integers(0, 3),
)
def test_every_entity_is_there_or_stood_for(always: list[int], answers: list[int], count: int, seed: int):
    draw = np.random.default_rng(seed)
    found = draw_candidates(np.array(always, dtype=np.int64), np.array(answers), ENTITIES, count, draw)
    certain = set(always) | set(answers)
    ids, counts = found.entities.tolist(), found.log_counts.exp().tolist()
    assert len(set(ids)) == len(ids) == len(certain) + min(count, ENTITIES - len(certain))
    assert certain <= set(ids)
    assert all(number == 1.0 for entity, number in zip(ids, counts, strict=True) if entity in certain)
    if count:
        assert sum(counts) == pytest.approx(ENTITIES)


def test_the_mean_over_all_draws_is_the_sum_over_all_entities():
    scores = torch.linspace(-1.0, 2.0, ENTITIES)
    totals = []
    for number in range(ENTITIES - 3):
        only = SimpleNamespace(choice=lambda others, *_, number=number, **__: others[number : number + 1])
        found = draw_candidates(np.array([2, 4]), np.array([4, 7]), ENTITIES, 1, only)
        totals.append((scores[found.entities] + found.log_counts).exp().sum())
    assert torch.stack(totals).mean().item() == pytest.approx(scores.exp().sum().item())


def test_the_most_frequent_answers_come_first():
    assert most_frequent(np.array([3, 3, 1, 0, 1, 3]), 5, 2).tolist() == [3, 1]
    assert most_frequent(np.array([3, 3, 1, 0, 1, 3]), 5, 4).tolist() == [3, 1, 0, 2]


@pytest.mark.parametrize("name", ["tntcomplex", "hyte", "transe", "rotate", "atise"])
def test_with_everybody_drawn_it_is_the_whole_softmax(name: str):
    model = build_model(
        ModelConfig(name=name, rank=3, init_scale=0.7), Sizes(ENTITIES, 4, 3), torch.Generator().manual_seed(0)
    )
    draw = np.random.default_rng(0)
    events = Events(*(draw.integers(most, size=40) for most in (ENTITIES, 4, ENTITIES, 3)))
    batch = QuestionPool(events, model.uses_time).batch(np.arange(20))
    weights = dict.fromkeys(model.default_penalties, 0.1)
    losses, gradients = [], []
    for drawn in (None, SampledSoftmax(np.array([1, 5]), ENTITIES, ENTITIES, draw)):
        loss = loss_each(model.components(), [batch], weights, [drawn])
        loss.total.backward()
        losses.append(loss.total.item())
        gradients.append([parameter.grad for parameter in model.parameters()])
        model.zero_grad()
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    for whole, drawn in zip(*gradients, strict=True):
        torch.testing.assert_close(drawn, whole, rtol=1e-4, atol=1e-6)


def test_one_score_against_one_that_stands_for_four_by_hand():
    model = build_model(ModelConfig(name="distmult", rank=1), Sizes(6, 2, 1), torch.Generator())
    with torch.no_grad():
        model.entities.copy_(torch.tensor([[1.0], [2.0], [3.0], [3.0], [3.0], [3.0]]))
        model.predicates.fill_(1.0)
    events = Events(*(np.array([value]) for value in (0, 0, 1, 0)))  # 0 does it to 1
    batch = QuestionPool(events, False).batch(np.array([0]))
    # the answer scores 1 · 1 · 2 = 2, entity 0 scores 1, and one of four others scores 3
    loss = SampledSoftmax(np.array([0]), 1, 6, np.random.default_rng(0))(model, batch)
    assert loss.item() == pytest.approx(math.log(math.exp(1) + math.exp(2) + 4 * math.exp(3)) - 2)


def test_a_run_with_candidates_resumes_bit_for_bit(small_graph: Graph, small_config: Config, tmp_path: Path):
    config = override(small_config, {"training.candidates": 10, "training.epochs": 2})
    check_resumes(small_graph, config, tmp_path)


def test_candidates_change_what_is_learned_unless_they_are_all(
    small_graph: Graph, small_config: Config, tmp_path: Path
):
    found = []
    for count in (0, 10, len(small_graph.entities)):
        config = override(small_config, {"training.candidates": count, "training.epochs": 1})
        found.append(bytes_of(train(small_graph, config, tmp_path / str(count)).path))
    assert found[0] == found[2] != found[1]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"model.name": "rules"}, "evidence is learned among all entities"),
        ({"training.softmax": "joint"}, 'they are for training.softmax = "each"'),
        ({"model.name": "tero"}, 'they are for training.loss = "softmax", and this one is "negatives"'),
    ],
)
def test_candidates_are_refused_where_no_softmax_takes_them(settings: dict[str, str], reason: str):
    with pytest.raises(ConfigError) as caught:
        complete_config(override(Config(), {**settings, "training.candidates": 100}))
    assert str(caught.value) == f"training.candidates = 100: {reason}; leave it 0"


def test_evidence_chooses_from_all_entities_beside_a_model_with_candidates(
    small_graph: Graph, small_config: Config, tmp_path: Path
):
    config = override(small_config, {"training.candidates": 7, "evidence.use": True})
    run, part = create_run(small_graph, config, tmp_path / "run"), small_graph.train.take(np.arange(20))
    learner = Trainer(run, run.config(), small_graph, Callback(), facts=part)
    kinds = {part.name: learner._own_loss(part, number, 0) for number, part in enumerate(learner._components)}
    assert kinds["evidence"] is evidence_loss
    softmax = kinds["event"]
    assert isinstance(softmax, SampledSoftmax)
    assert softmax.count == 4  # of seven, three are the most frequent
    answers = np.concatenate([part.object, part.subject])
    assert softmax.always.tolist() == most_frequent(answers, len(small_graph.entities), 3).tolist()
    queries = Queries(*(torch.tensor([0, 1, 2]) for _ in range(3)))
    few = torch.tensor([4, 1, 0])
    torch.testing.assert_close(learner.model.score_objects(queries, few), learner.model.score_objects(queries)[:, few])


def test_every_model_with_a_softmax_takes_candidates():
    names = [name for name, model in MODELS.items() if model.default_loss == "softmax" and name != "rules"]
    assert len(names) > 5
    for name in names:
        config = override(Config(), {"model.name": name, "training.candidates": 100})
        assert complete_config(config).training.candidates == 100
