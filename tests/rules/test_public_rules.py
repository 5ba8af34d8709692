"""What a user does with rules: mine, filter, look at, save, count, check, compare, ground and import them."""

import inspect
from pathlib import Path

import numpy as np
import pytest

from foretime.config import RulesConfig
from foretime.data.graph import Graph, load
from foretime.data.synthetic import generate_world
from foretime.errors import ConfigError, DataError
from foretime.rules import Rule, RuleIds, Rules
from foretime.rules.files import read_rules
from foretime.rules.imports import import_rules
from foretime.rules.mining import mine, mine_rules

VISIT = "Host a visit(y, x, t) <= Make a visit(x, y, t)"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return load(generate_world(1500).write(tmp_path_factory.mktemp("world")))


@pytest.fixture(scope="module")
def rules(world: Graph) -> Rules:
    return mine(world, window=5, static_support=3)


@pytest.mark.parametrize("function", [mine, import_rules])
def test_every_key_of_the_rules_section_is_a_parameter_with_its_default(function):
    defaults = {name: field.get_default(call_default_factory=True) for name, field in RulesConfig.model_fields.items()}
    given = {name: p.default for name, p in inspect.signature(function).parameters.items() if name in defaults}
    assert given == {
        name: tuple(value) if name == "splits" else value for name, value in defaults.items() if name in given
    }
    if function is mine:
        assert set(defaults) - set(given) == {"file"}


def test_mining_by_parameters_is_mining_by_a_section(world: Graph, rules: Rules):
    assert rules.all_ids() == mine_rules(world, RulesConfig(window=5, static_support=3)).all_ids()
    with pytest.raises(ConfigError, match=r"mine: rules.window = 0: should be greater than or equal to 1"):
        mine(world, window=0)


def test_rules_show_themselves_in_names(rules: Rules):
    lines = repr(rules).split("\n")
    assert lines[0].startswith(f"{len(rules)} rules: ")
    assert (lines[1].strip(), lines[-1]) == (str(rules[0]), "  …")
    assert ">confidence</th>" in rules._repr_html_()
    frame = rules.to_frame()
    assert frame.text.tolist() == [rule.statement for rule in rules]
    assert frame.confidence.tolist() == rules.confidence.tolist()
    assert sum(rules.patterns().values()) == len(rules) == len(frame)


def test_filters_are_those_of_a_plain_loop(rules: Rules):
    def kept(keep) -> list[Rule]:
        return [rule for rule in rules if keep(rule)]

    assert list(rules.filter(head="HOST A")) == kept(lambda rule: "Host a" in rule.head.predicate)
    assert list(rules.filter(body="make")) == kept(lambda rule: any("Make" in atom.predicate for atom in rule.body))
    assert list(rules.filter(pattern="follows")) == kept(lambda rule: rule.pattern == "follows")
    found = rules.filter(min_confidence=0.3, min_support=10, top=4)
    assert list(found) == kept(lambda rule: rule.measures.confidence >= 0.3 and rule.measures.support >= 10)[:4]
    assert len(rules.filter(pattern="static")) == 0
    with pytest.raises(DataError, match="unknown pattern 'follow'; did you mean 'follows'"):
        rules.filter(pattern="follow")


def test_rules_are_counted_in_any_order_of_names(world: Graph, rules: Rules, tmp_path: Path):
    rules.save(tmp_path / "rules.jsonl")
    alone = read_rules(tmp_path / "rules.jsonl")
    assert alone.predicates != world.predicates
    counted = alone.count(world, window=5)
    assert counted.predicates == world.predicates
    assert [str(rule) for rule in counted] == [str(rule) for rule in rules]
    assert read_rules(tmp_path / "rules.jsonl", world).all_ids() == rules.all_ids()
    assert alone.compare(rules).to_frame().empty
    checked = alone.check(world, window=5)
    assert not checked.to_frame().differs.any()
    assert alone.check(world, window=3).to_frame().differs.any()
    assert VISIT in str(checked)


def test_a_difference_is_a_frame_and_a_text(rules: Rules):
    difference = rules.take(slice(1, None)).compare(rules.take(slice(0, 2)))
    assert difference.to_frame().text.tolist() == [rule.statement for rule in [*list(rules)[2:], rules[0]]]
    assert str(difference).startswith(f"only in the first: {len(rules) - 2} rules\n  ")


def test_examples_are_asked_for_by_rule_text_or_place(world: Graph, rules: Rules):
    place = [rule.statement for rule in rules].index(VISIT)
    found = rules.examples(place, world, window=5)
    assert len(found) == 5
    assert found == rules.examples(VISIT, world, window=5) == rules.examples(rules[place], world, window=5)
    assert {event.predicate for event in found[0].events} == {"Make a visit", "Host a visit"}
    assert len(rules.examples(place, world, window=5, count=None)) == rules.support[place]
    with pytest.raises(DataError, match=f"no rule 999; there are {len(rules)}, numbered from 0"):
        rules.examples(999, world)


def test_rules_of_ids_alone_have_no_names_until_they_meet_a_graph(world: Graph):
    bare = Rules.of([RuleIds("follows", "pair", 1, (0,))])
    assert repr(bare).startswith("1 rules: 1 follows")
    with pytest.raises(DataError, match="these rules are ids without names"):
        bare.to_frame()
    assert bare.on(world)[0].head.predicate == world.predicates.name(1)


def test_rules_of_another_miner_are_read_in_time(world: Graph, tmp_path: Path):
    path, said = tmp_path / "amie.tsv", []
    path.write_text("?b  <Make_a_visit>  ?a   => ?a  <Host_a_visit>  ?b\n?a  p  Mali   => ?a  p  ?b\n")
    rules = import_rules(path, world, window=5, report=said.append)
    assert said[0].startswith("1 rules read, 1 left out\n  1: a constant; the first is")
    assert VISIT in [rule.statement for rule in rules]
    assert np.all(rules.confidence >= 0.1)
    with pytest.raises(DataError, match="unknown miner 'aime'; did you mean 'amie'"):
        import_rules(path, world, "aime")  # type: ignore[arg-type]
