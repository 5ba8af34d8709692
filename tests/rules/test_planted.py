"""The rules that the generator has planted in a world are found by mining, with the counts that it planted."""

from pathlib import Path

import pytest

from foretime.config import RulesConfig
from foretime.data.graph import read_graph
from foretime.data.synthetic import generate_world
from foretime.rules.mining import mine_rules
from foretime.rules.parsing import parse_rule

FEWEST_BODIES = 10


@pytest.mark.parametrize("seed", [0, 1])
def test_every_planted_rule_is_mined_with_its_planted_confidence(tmp_path: Path, seed: int):
    world = generate_world(5_000, seed)
    graph = read_graph(world.write(tmp_path))
    (window,) = {rule.window for rule in world.rules}
    mined = mine_rules(graph, RulesConfig(window=window, splits=["train", "valid", "test"]))
    confidence = dict(zip(mined.all_ids(), mined.confidence.tolist(), strict=True))
    planted = [rule for rule in world.rules if rule.bodies >= FEWEST_BODIES]
    assert {rule.pattern for rule in planted} == {"follows", "accompanies", "chain_then", "joint_then", "joint_now"}
    for rule in planted:
        found = parse_rule(str(rule), graph.predicates)[0]
        assert confidence.get(found) == rule.support / rule.bodies, str(rule)
