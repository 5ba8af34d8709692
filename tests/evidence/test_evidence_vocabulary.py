"""Which rules have weights of their own: pairs that are met often enough, the most confident paths, both ways."""

from dataclasses import replace

import numpy as np
import pytest
from evidence_graphs import ENTITIES, PREDICATES, few, graphs, path_rules, rule_table, steps_of, table
from evidence_oracle import Fact, PathRule, both_directions, pair_rules_of
from hypothesis import given
from hypothesis import strategies as st

from foretime.evidence.events import EventLists, event_lists
from foretime.evidence.vocabulary import RuleVocabulary, rule_vocabulary
from foretime.rules.rule import RuleIds
from foretime.rules.table import Rules, join

Graph = tuple[tuple[int, ...], list[Fact]]
EVERY = 2 * PREDICATES


def index_of(graph: Graph) -> EventLists:
    return event_lists(table(graph[1]), ENTITIES, PREDICATES, steps_of(graph[0]))


def empty_index() -> EventLists:
    return index_of(((0,), []))


def pairs_in(vocabulary: RuleVocabulary) -> list[tuple[int, int]]:
    """Return head and body of each pair rule, in the order of their weights."""
    bounds = vocabulary.pair
    return [(p, int(q)) for p in range(EVERY) for q in vocabulary.pair_body[bounds[p] : bounds[p + 1]]]


def paths_in(vocabulary: RuleVocabulary) -> list[PathRule]:
    bounds = vocabulary.path
    return [
        (p, int(body) // EVERY, int(body) % EVERY)
        for p in range(EVERY)
        for body in vocabulary.path_body[bounds[p] : bounds[p + 1]]
    ]


def confident(rules: list[tuple[PathRule, float]]) -> Rules:
    """Return path rules that hold in so many of 100 cases."""
    found = rule_table([rule for rule, _ in rules])
    share = np.array([share for _, share in rules])
    return replace(found, support=share * 100, body_count=np.full(len(rules), 100.0))


@few
@given(graph=graphs(), support=st.integers(1, 5))
def test_a_pair_rule_is_kept_if_enough_pairs_have_both_predicates(graph: Graph, support: int) -> None:
    vocabulary = rule_vocabulary(index_of(graph), support, None, 10)
    expected = pair_rules_of(graph[1], PREDICATES, support)
    assert pairs_in(vocabulary) == expected == sorted(expected)
    assert len(vocabulary.pair_body) == len(expected)
    assert paths_in(vocabulary) == []


def test_pairs_are_counted_not_events() -> None:
    often = [(0, 0, 1, t, t) for t in range(5)] + [(0, 1, 1, t, t) for t in range(5)]
    index = index_of((tuple(range(5)), often))
    assert pairs_in(rule_vocabulary(index, 1, None, 0)) == [
        (a, b) for side in ((0, 1), (3, 4)) for a in side for b in side
    ]
    assert pairs_in(rule_vocabulary(index, 2, None, 0)) == []


@few
@given(paths=path_rules)
def test_path_rules_are_kept_in_both_directions_and_once_each(paths: list[PathRule]) -> None:
    vocabulary = rule_vocabulary(empty_index(), 1, rule_table(paths), 10_000)
    assert paths_in(vocabulary) == both_directions(paths, PREDICATES)
    assert pairs_in(vocabulary) == []


@few
@given(
    rules=st.lists(
        st.tuples(st.tuples(*[st.integers(0, EVERY - 1)] * 3), st.sampled_from([0.1, 0.5, 0.9])), max_size=12
    ),
    at_most=st.integers(0, 14),
)
def test_no_more_than_the_most_confident_path_rules_are_kept(rules: list[tuple[PathRule, float]], at_most: int) -> None:
    best = sorted(rules, key=lambda rule: -rule[1])[:at_most]  # of equal ones, those that come first
    vocabulary = rule_vocabulary(empty_index(), 1, confident(rules), at_most)
    assert paths_in(vocabulary) == both_directions([path for path, _ in best], PREDICATES)


@pytest.mark.parametrize("rules", [None, Rules.of([]), Rules.of([RuleIds("follows", "pair", 0, (1,))])])
def test_without_paths_there_are_none(rules: Rules | None) -> None:
    vocabulary = rule_vocabulary(empty_index(), 1, rules, 100)
    assert paths_in(vocabulary) == []
    assert vocabulary.path.tolist() == [0] * (EVERY + 1)


def test_only_paths_of_two_events_are_taken_from_the_mined_rules() -> None:
    others = [
        RuleIds("follows", "pair", 0, (1,)),
        RuleIds("accompanies", "pair", 1, (4,)),
        RuleIds("joint_now", "pair", 2, (0, 1)),
    ]
    rules = join([Rules.of(others), rule_table([(0, 1, 5)])])
    assert paths_in(rule_vocabulary(empty_index(), 1, rules, 100)) == [(0, 1, 5), (3, 2, 4)]


def test_a_path_of_several_patterns_is_one_rule() -> None:
    patterns = ("chain_then", "joint_then", "joint_now")
    rules = Rules.of([RuleIds(pattern, "path", 0, (1, 2)) for pattern in patterns])
    assert paths_in(rule_vocabulary(empty_index(), 1, rules, 100)) == [(0, 1, 2), (3, 5, 4)]
