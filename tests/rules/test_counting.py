"""Every measure, pattern and counting against plain loops, on random small graphs, at the timeline's borders too."""

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import Event, literal, static_measures, table, windowed

from foretime.config import RulesConfig
from foretime.errors import DataError
from foretime.rules.patterns import PATTERNS
from foretime.rules.rule import RuleIds, canonical
from foretime.rules.static import mine_static
from foretime.rules.table import Rules
from foretime.rules.temporal import KINDS, measure, mine_temporal, temporal_candidates

ENTITIES, PREDICATES, STEPS = 4, 2, 7
ENTITY, PREDICATE, STEP = (st.integers(0, count - 1) for count in (ENTITIES, PREDICATES, STEPS))
EVENT = st.tuples(ENTITY, PREDICATE, ENTITY, STEP)
EVENTS = st.lists(EVENT, min_size=1, max_size=25)
ALL = RulesConfig(static_support=1, static_head_coverage=0.0)
SIZES = (ENTITIES, PREDICATES, STEPS)
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def all_static_rules() -> set[RuleIds]:
    """Every closed rule over the predicates, in its one form, without trivial ones."""
    ids = range(2 * PREDICATES)
    singles = [RuleIds("", "pair", h, (q,)) for h, q in product(ids, ids) if h != q]
    pairs = [RuleIds("", "pair", h, (a, b)) for h, a, b in product(ids, ids, ids) if len({h, a, b}) == 3]
    paths = [RuleIds("", "path", h, (a, b)) for h, a, b in product(ids, ids, ids)]
    return {canonical(rule, PREDICATES) for rule in [*singles, *pairs, *paths]}


def all_temporal_rules() -> list[RuleIds]:
    """Every reading of these in time."""
    return readings_in_time(Rules.of(sorted(all_static_rules())))


def readings_in_time(static: Rules) -> list[RuleIds]:
    return [ids for kind in KINDS for ids in temporal_candidates(static, *kind, PREDICATES).all_ids()]


@few
@given(EVENTS)
def test_the_static_stage_finds_exactly_the_rules_that_have_support(events: list[Event]):
    mined = mine_static(table(events), ENTITIES, PREDICATES, ALL)
    found = {
        mined.ids(row): tuple(
            int(column[row]) for column in (mined.support, mined.body_count, mined.head_count, mined.pca_body)
        )
        for row in range(len(mined))
    }
    assert len(found) == len(mined)
    expected = {rule: static_measures(rule, events, PREDICATES) for rule in all_static_rules()}
    assert found == {rule: measures for rule, measures in expected.items() if measures[0]}


@few
@given(
    events=EVENTS,
    support=st.integers(1, 3),
    coverage=st.sampled_from([0.0, 0.3, 0.6]),
    confidence=st.sampled_from([0.0, 0.5]),
)
def test_static_thresholds_keep_what_reaches_them(events, support, coverage, confidence):
    everything = mine_static(table(events), ENTITIES, PREDICATES, ALL)
    kept = mine_static(
        table(events),
        ENTITIES,
        PREDICATES,
        RulesConfig(static_support=support, static_head_coverage=coverage, static_confidence=confidence),
    )
    wanted = (
        (everything.support >= support) & (everything.head_coverage >= coverage) & (everything.confidence >= confidence)
    )
    assert set(kept.all_ids()) == set(everything.take(wanted).all_ids())


@few
@given(events=EVENTS, window=st.integers(1, 4))
def test_windowed_counts_are_those_of_the_definition(events, window):
    rules = all_temporal_rules()
    found = measure(Rules.of(rules), table(events), SIZES, RulesConfig(window=window))
    counts = np.stack([found.support, found.body_count, found.head_support, found.head_count], axis=1)
    expected = [windowed(rule, events, PREDICATES, window, STEPS) for rule in rules]
    assert np.array_equal(counts, np.array(expected, dtype=float))


@few
@given(events=EVENTS, window=st.integers(1, 4))
def test_literal_counts_are_the_printed_equations(events, window):
    rules = all_temporal_rules()
    found = measure(Rules.of(rules), table(events), SIZES, RulesConfig(window=window, counting="literal"))
    expected = [literal(rule, events, PREDICATES, window, STEPS) for rule in rules]
    assert np.allclose(np.stack([found.confidence, found.head_coverage], axis=1), expected)


@few
@given(events=EVENTS, confidence=st.sampled_from([0.1, 0.5]), coverage=st.sampled_from([0.1, 0.4]))
def test_mining_keeps_every_pattern_that_reaches_the_thresholds(events, confidence, coverage):
    static = mine_static(table(events), ENTITIES, PREDICATES, ALL)
    chosen = RulesConfig(window=2, support=0, confidence=confidence, head_coverage=coverage)
    mined = mine_temporal(static, table(events), SIZES, chosen)
    expected = set()
    for rule in readings_in_time(static):
        support, bodies, covered, heads = windowed(rule, events, PREDICATES, 2, STEPS)
        if bodies and support / bodies >= confidence and covered / heads >= coverage:
            expected.add(rule)
    assert set(mined.all_ids()) == expected
    best = mine_temporal(static, table(events), SIZES, chosen.model_copy(update={"best_pattern_only": True}))
    keys = {(r.shape, r.head, r.body) for r in mined.all_ids()}
    assert len(best) == len(keys) == len({(r.shape, r.head, r.body) for r in best.all_ids()})


def test_more_predicates_than_can_be_counted_are_refused_before_anything_is_counted():
    with pytest.raises(DataError, match=r"the graph has 50,000 predicates: .* more than 4 GB; map rare predicates tog"):
        mine_static(table([(0, 0, 1, 0)]), 2, 50_000, ALL)


@pytest.mark.parametrize(("first", "counted"), [(3, 1), (4, 0)])
def test_a_start_whose_window_passes_the_end_is_not_counted(first, counted):
    events = [(0, 0, 1, first), (0, 1, 1, first + 1)]
    rule = Rules.of([RuleIds("follows", "pair", 1, (0,))])
    found = measure(rule, table(events), SIZES, RulesConfig(window=3))
    assert (found.support[0], found.body_count[0]) == (counted, counted)
    assert found.head_support[0] == 1


def test_a_rule_and_its_mirror_are_one():
    straight = RuleIds("", "path", 0, (1, 2))
    mirror = RuleIds("", "path", 2, (0, 3))
    assert canonical(mirror, PREDICATES) == canonical(straight, PREDICATES) == straight
    assert len({canonical(RuleIds("", "pair", 0, body), PREDICATES) for body in ((1, 3), (3, 1))}) == 1


def test_the_five_patterns_move_their_predicates_as_the_paper_says():
    assert {name: pattern.transfers for name, pattern in PATTERNS.items()} == {
        "follows": (1,),
        "accompanies": (0,),
        "chain_then": (2, 1),
        "joint_then": (1, 1),
        "joint_now": (0, 0),
    }
    assert PATTERNS["chain_then"].times() == ("t", "t+t1", "t+t1+t2")
    assert PATTERNS["joint_then"].times() == ("t", "t", "t+t1")
