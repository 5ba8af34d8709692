"""Losses against wrong answers: their formulas, what is drawn, whose they are, and that runs with them resume."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from foretime.config import Config, override
from foretime.data.facts import Events
from foretime.data.graph import Graph
from foretime.errors import ConfigError, DataError
from foretime.models import MODELS
from foretime.runs.life import create_run
from foretime.training.batches import QuestionPool
from foretime.training.callbacks import Callback
from foretime.training.losses import (
    FAR_BELOW,
    SampledLoss,
    draw_negatives,
    is_answer,
    loss_settings,
    margin_loss,
    negatives_loss,
)
from foretime.training.settings import complete_config
from foretime.training.trainer import Trainer, evidence_loss
from interruptions import check_resumes

SCORES = torch.tensor([[-1.0, -2.0, -4.0]])  # distances: 1 for the answer, 2 and 4 for two wrong ones


def log_sigmoid(x: float) -> float:
    return -math.log(1 + math.exp(-x))


def test_the_margin_loss_wants_wrong_answers_farther_by_the_margin():
    # max(0, 2 + 1 - 2) = 1 and max(0, 2 + 1 - 4) = 0
    assert margin_loss(SCORES, margin=2.0).item() == pytest.approx(0.5)


def test_the_loss_of_negatives_is_that_of_rotate():
    first = math.exp(-2) / (math.exp(-2) + math.exp(-4))
    expected = -log_sigmoid(3 - 1) - first * log_sigmoid(2 - 3) - (1 - first) * log_sigmoid(4 - 3)
    assert negatives_loss(SCORES, margin=3.0, temperature=1.0).item() == pytest.approx(expected)
    equal = -log_sigmoid(3 - 1) - 0.5 * log_sigmoid(2 - 3) - 0.5 * log_sigmoid(4 - 3)
    assert negatives_loss(SCORES, margin=3.0, temperature=0.0).item() == pytest.approx(equal)


def test_the_weights_of_wrong_answers_have_no_gradient():
    scores = SCORES.clone().requires_grad_()
    negatives_loss(scores, margin=3.0, temperature=1.0).backward()
    weight = math.exp(-2) / (math.exp(-2) + math.exp(-4))
    slope = 1 / (1 + math.exp(2 - 3))  # of -log σ(d - γ) by the score
    assert scores.grad[0, 1].item() == pytest.approx(weight * slope)


@given(st.integers(2, 9), st.integers(1, 40), st.integers(0, 5))
def test_the_answer_is_never_drawn_and_everything_else_can_be(entities: int, count: int, seed: int):
    answers = torch.arange(entities)
    drawn = draw_negatives(answers, entities, count, np.random.default_rng(seed))
    assert drawn.shape == (entities, count)
    assert not (drawn == answers[:, None]).any()
    assert drawn.min() >= 0
    assert drawn.max() < entities
    many = draw_negatives(answers[:1], entities, 600, np.random.default_rng(seed))
    assert set(many[0].tolist()) == set(range(1, entities))


@given(st.integers(0, 50), st.booleans())
def test_another_answer_of_the_question_is_found_among_those_drawn(seed: int, uses_time: bool):
    draw = np.random.default_rng(seed)
    entities = 6
    events = Events(*(draw.integers(most, size=40) for most in (3, 2, entities, 3)))
    pool = QuestionPool(events, uses_time)
    batch = pool.batch(draw.permutation(pool.distinct)[:4])
    drawn = draw_negatives(batch.objects, entities, 5, draw)
    facts = {(s, p, t if uses_time else 0, o) for s, p, o, t in zip(*(c.tolist() for c in events), strict=True)}
    asked = zip(*(column.tolist() for column in batch.questions), strict=True)
    expected = [
        [(s, p, t if uses_time else 0, o) in facts for o in row]
        for (s, p, t), row in zip(asked, drawn.tolist(), strict=True)
    ]
    assert is_answer(drawn, batch, entities).tolist() == expected


def test_an_answer_that_was_drawn_as_a_wrong_one_costs_nothing():
    scores = torch.tensor([[-1.0, FAR_BELOW, FAR_BELOW]])
    assert negatives_loss(scores, margin=3.0, temperature=1.0).item() == pytest.approx(-log_sigmoid(3 - 1))
    assert margin_loss(scores, margin=3.0).item() == 0.0


def test_with_one_entity_no_answer_is_wrong():
    with pytest.raises(DataError, match="there is one entity only"):
        draw_negatives(torch.tensor([0]), 1, 3, np.random.default_rng(0))


def test_a_model_has_its_own_loss_unless_the_configuration_names_one():
    found = {name: loss_settings(override(Config(), {"model.name": name}))[0] for name in MODELS}
    assert found == {name: model.default_loss for name, model in MODELS.items()}
    assert {name for name, loss in found.items() if loss == "negatives"} >= {"rotate", "tero", "atise"}
    config = override(Config(), {"model.name": "rotate", "training.loss": "margin", "training.margin": 2.0})
    assert loss_settings(config) == ("margin", 2.0)
    complete = complete_config(override(Config(), {"model.name": "rotate"})).training
    assert (complete.loss, complete.margin) == ("negatives", MODELS["rotate"].default_margin)


def test_one_softmax_over_all_terms_is_a_softmax():
    joint = {"model.name": "rotate", "training.softmax": "joint"}
    assert loss_settings(override(Config(), joint))[0] == "softmax"
    with pytest.raises(ConfigError, match=r'training\.loss = "margin", but training\.softmax = "joint" is one softmax'):
        complete_config(override(Config(), {**joint, "training.loss": "margin"}))
    with pytest.raises(ConfigError, match=r'training\.loss = "negatives", but evidence has one softmax'):
        complete_config(override(Config(), {"model.name": "rules", "training.loss": "negatives"}))


@pytest.mark.parametrize("loss", ["negatives", "margin"])
def test_a_run_with_wrong_answers_resumes_bit_for_bit(small_graph: Graph, small_config: Config, tmp_path: Path, loss):
    settings = {"model.name": "tero", "training.loss": loss, "training.epochs": 2, "training.negatives": 3}
    config = override(small_config, settings)
    check_resumes(small_graph, config, tmp_path)


def trainer(graph: Graph, config: Config, folder: Path) -> Trainer:
    run = create_run(graph, config, folder)
    return Trainer(run, run.config(), graph, Callback())


def test_the_number_of_wrong_answers_and_the_seed_change_what_is_learned(
    small_graph: Graph, small_config: Config, tmp_path: Path
):
    settings = {"model.name": "rotate", "training.epochs": 1}
    losses = []
    for number, change in enumerate([{}, {}, {"training.negatives": 2}, {"training.temperature": 0.0}]):
        learner = trainer(small_graph, override(small_config, settings | change), tmp_path / str(number))
        learner.fit()
        losses.append(learner.run.trace()[0]["loss"])
    assert losses[0] == losses[1]
    assert len(set(losses)) == 3


def test_evidence_keeps_its_softmax_beside_a_model_with_another_loss(
    small_graph: Graph, small_config: Config, tmp_path: Path
):
    settings = {"model.name": "rotate", "evidence.use": True, "evidence.families": ["pair"], "training.epochs": 1}
    learner = trainer(small_graph, override(small_config, settings), tmp_path / "run")
    of_model, of_evidence = (learner._own_loss(part, n, 0) for n, part in enumerate(learner._components))
    assert isinstance(of_model, SampledLoss)
    assert (of_model.name, of_evidence) == ("negatives", evidence_loss)
    learner.fit()
    alone = trainer(
        small_graph, override(small_config, settings | {"model.name": "rules", "rules.support": 1}), tmp_path / "alone"
    )
    alone.fit()
    assert learner.run.trace()[0]["evidence_loss"] == pytest.approx(alone.run.trace()[0]["evidence_loss"])
