"""Rules in training: mined or read, felt by the loss, kept in the run folder."""

from pathlib import Path

import numpy as np
import pytest
import torch

from foretime.config import Config, RulesConfig, override
from foretime.data.graph import Graph, read_graph
from foretime.data.synthetic import generate_world
from foretime.errors import ConfigError
from foretime.inference.predictor import Predictor
from foretime.rules.mining import mine_rules
from foretime.runs.folder import RunFolder
from foretime.runs.life import train
from foretime.training.callbacks import Callback
from foretime.training.guidance import rules_for
from foretime.training.settings import complete_config
from foretime.training.trainer import new_model
from interruptions import check_resumes

WEIGHTS = {"event_n3": 0.01, "event_smoothness": 0.01, "event_rules": 0.5, "commonsense_n3": 0.1}
SETTINGS = {
    "model.rank": 4,
    "training.epochs": 1,
    "training.threads": 1,
    "rules.window": 5,
    **{f"penalties.{name}": weight for name, weight in WEIGHTS.items()},
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = tmp_path_factory.mktemp("world")
    generate_world(events=5000, seed=3).write(folder)
    return read_graph(folder)


def settings(**changes: object) -> Config:
    return complete_config(override(Config(), {**SETTINGS, **changes}))


def test_every_mined_rule_moves_a_gradient(world: Graph):
    rules = mine_rules(world, RulesConfig(window=5))
    assert len(rules) >= 5
    for row in range(len(rules)):
        model = new_model(settings(), world, rules.take(np.array([row])))
        model.event.guide(model.event.lasting_predicates).backward()
        moved = model.event.lasting_predicates.grad.abs().sum(dim=1)
        rule = rules.ids(row)
        assert all(moved[predicate] > 0 for predicate in {rule.head, *rule.body})


def test_a_guided_run_keeps_its_rules_and_answers_with_them_in_place(world: Graph, tmp_path: Path):
    run = train(world, settings(), tmp_path / "run")
    rules = run.rules(world)
    assert rules is not None
    assert set(rules.all_ids()) == set(mine_rules(world, RulesConfig(window=5)).all_ids())
    assert run.report()["rules"] == len(rules)
    assert run.trace()[0]["event_rules"] > 0
    guide = Predictor.open(run).model.event.guide
    assert not torch.equal(guide.transfer, new_model(settings(), world).event.guide.transfer)


def test_rules_change_what_is_learned_and_a_weight_of_zero_leaves_them_out(world: Graph, tmp_path: Path):
    guided = Predictor.open(train(world, settings(), tmp_path / "guided")).model
    plain = train(world, settings(**{"penalties.event_rules": 0.0}), tmp_path / "plain")
    unguided = Predictor.open(plain).model
    assert plain.rules(world) is None
    assert not torch.equal(guided.event.lasting_predicates, unguided.event.lasting_predicates)
    assert torch.equal(guided.commonsense.predicates, unguided.commonsense.predicates)


def test_rules_of_a_file_are_used_as_they_are_and_counted_where_they_have_no_measures(world: Graph, tmp_path: Path):
    mined = mine_rules(world, RulesConfig(window=5)).take(slice(2))
    mined.save(tmp_path / "rules.txt")
    by_hand = "Host a visit(y, x, t) <= Make a visit(x, y, t)"
    lines = [line for line in (tmp_path / "rules.txt").read_text().splitlines() if by_hand not in line]
    (tmp_path / "rules.txt").write_text("\n".join([*lines, by_hand]) + "\n")
    config = settings(**{"rules.file": str(tmp_path / "rules.txt")})
    rules = rules_for(config, world, Callback())
    counted = {rules.ids(row): rules.confidence[row] for row in range(len(rules))}
    everything = mine_rules(world, RulesConfig(window=5))
    expected = {everything.ids(row): everything.confidence[row] for row in range(len(everything))}
    assert len(counted) in (2, 3)
    assert all(confidence == pytest.approx(expected[rule]) for rule, confidence in counted.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Host a visit(y, x) <= Make a visit(x, y)", r"1 of 1 rules have no times; only temporal rules guide a model"),
        ("# nothing\n", r"no temporal rule reaches the thresholds|no rule"),
    ],
)
def test_rules_that_cannot_guide_are_an_error(world: Graph, tmp_path: Path, text: str, message: str):
    (tmp_path / "rules.txt").write_text(text)
    with pytest.raises(ConfigError, match=message):
        rules_for(settings(**{"rules.file": str(tmp_path / "rules.txt")}), world, Callback())


def test_a_model_that_takes_no_rules_mines_none(world: Graph):
    config = complete_config(override(Config(), {"model.name": "tntcomplex", "model.rank": 4}))
    assert rules_for(config, world, Callback()) is None


def test_a_resumed_guided_run_is_the_same_bit_for_bit(world: Graph, tmp_path: Path):
    config = settings(**{"training.batch_size": 2000})
    broken = check_resumes(world, config, tmp_path, stops=(0, 1))
    assert RunFolder(broken).rules_file.exists()
