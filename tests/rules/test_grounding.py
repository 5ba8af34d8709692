"""Examples of rules: as many as the miner counts, each of them true, the earliest first."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import Event, both_ways, groundings, table

from foretime.config import RulesConfig
from foretime.data.facts import Facts, empty_facts, inverse
from foretime.data.graph import Graph, read_graph
from foretime.data.synthetic import generate_world
from foretime.data.timeline import Timeline
from foretime.data.vocabulary import Vocabulary
from foretime.errors import DataError
from foretime.rules.grounding import Grounding, GroundingIndex, find_examples
from foretime.rules.mining import mine_rules
from foretime.rules.patterns import PATTERNS
from foretime.rules.rule import RuleIds

ENTITIES, PREDICATES, STEPS, WINDOW = 3, 2, 9, 2
event_lists = st.lists(
    st.tuples(*(st.integers(0, size - 1) for size in (ENTITIES, PREDICATES, ENTITIES, STEPS))), min_size=1, max_size=30
)


def dataset_of(events: list[Event]) -> Graph:
    names = (Vocabulary(kind, [f"{kind} {i}" for i in range(n)]) for kind, n in (("e", ENTITIES), ("p", PREDICATES)))
    return Graph(
        "small", *names, Timeline("step", range(STEPS), STEPS - 1), table(events), empty_facts(), empty_facts()
    )


def rules() -> list[RuleIds]:
    ids = range(2 * PREDICATES)
    found = []
    for pattern in PATTERNS.values():
        bodies = [(q,) for q in ids] if pattern.length == 1 else [(a, b) for a in ids for b in ids]
        for shape in ("pair",) if pattern.length == 1 else ("pair", "path"):
            found += [RuleIds(pattern.name, shape, head, body) for head in ids for body in bodies]
    return found


def examples(
    rule: RuleIds, graph: Graph, window: int, count: int | None = None, misses: bool = False, facts: Facts | None = None
) -> list[Grounding]:
    index = GroundingIndex(graph.train if facts is None else facts, graph)
    return find_examples(rule, graph, window, index, count, misses).groundings


def in_ids(grounding: Grounding) -> list[Event]:
    number = lambda name: int(name.split()[-1])  # noqa: E731
    return [(number(e.subject), number(e.predicate), number(e.object), int(e.time)) for e in grounding.events]


@settings(max_examples=100, deadline=None)
@given(events=event_lists, rule=st.sampled_from(rules()))
def test_hits_and_misses_are_the_starts_that_brute_force_finds(events: list[Event], rule: RuleIds):
    graph, pattern, known = dataset_of(events), PATTERNS[rule.pattern], both_ways(events, PREDICATES)
    lags = [0] if pattern.head_gap == 0 else range(1, WINDOW + 1)
    bodies = {b for b in groundings(rule, known, WINDOW) if b[2] + pattern.reach * WINDOW < STEPS}
    held = {(t, x, y) for x, y, t, last in bodies if any((x, rule.head, y, last + lag) in known for lag in lags)}
    hits = examples(rule, graph, WINDOW)
    misses = examples(rule, graph, WINDOW, misses=True)
    assert len(hits) == len(held)
    assert len(misses) == len({(t, x, y) for x, y, t, _ in bodies} - held)
    for grounding in hits + misses:
        assert set(in_ids(grounding)) <= set(events)
        assert [event.role for event in grounding.events] == ["body"] * pattern.length + ["head"] * grounding.holds
        named = [event[1] for event in in_ids(grounding)]
        wanted = [*rule.body, *([rule.head] if grounding.holds else [])]
        assert named == [q if q < PREDICATES else inverse(q, PREDICATES) for q in wanted]
    assert examples(rule, graph, WINDOW, 2) == hits[:2]


def test_a_mined_rule_has_as_many_examples_as_its_support_and_they_are_in_order(tmp_path: Path):
    world, config = read_graph(generate_world(1500).write(tmp_path)), RulesConfig(window=5, support=1, static_support=3)
    mined = mine_rules(world, config)
    assert set(mined.pattern.tolist()) >= {"follows", "accompanies", "chain_then"}
    for row, rule in enumerate(mined.all_ids()):
        hits = examples(rule, world, config.window)
        misses = examples(rule, world, config.window, misses=True)
        assert (len(hits), len(hits) + len(misses)) == (mined.support[row], mined.body_count[row])
        starts = [hit.events[0].time for hit in hits]
        assert starts == sorted(starts)


def test_the_first_head_after_the_earliest_body_is_shown():
    rule = RuleIds("follows", "pair", 1, (0,))
    (found,) = examples(rule, dataset_of([(0, 0, 1, 3), (0, 1, 1, 5), (0, 1, 1, 4), (2, 0, 2, 8)]), WINDOW)
    assert in_ids(found) == [(0, 0, 1, 3), (0, 1, 1, 4)]


def test_examples_are_looked_for_in_the_facts_that_are_given():
    rule, graph = RuleIds("follows", "pair", 1, (0,)), dataset_of([(0, 0, 1, 3), (0, 1, 1, 5)])
    assert len(examples(rule, graph, WINDOW)) == 1
    assert examples(rule, graph, WINDOW, facts=graph.train.take(np.array([0]))) == []
    assert examples(rule, graph, WINDOW, facts=empty_facts()) == []


def test_when_time_is_up_the_first_ones_are_there():
    rule, graph = RuleIds("follows", "pair", 1, (0,)), dataset_of([(0, 0, 1, 3), (0, 1, 1, 5)])
    index, window = GroundingIndex(graph.train, graph), WINDOW
    assert find_examples(rule, graph, window, index) == (examples(rule, graph, window), True)
    assert find_examples(rule, graph, window, index, seconds=-1.0) == ([], False)


def test_a_rule_without_time_has_no_dated_examples():
    with pytest.raises(DataError, match="a rule without time has no dated examples"):
        examples(RuleIds("", "pair", 1, (0,)), dataset_of([(0, 0, 1, 3)]), WINDOW)
