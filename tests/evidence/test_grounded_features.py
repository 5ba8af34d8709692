"""Scores and gradients of the evidence against plain loops, for every question of random small graphs."""

from typing import get_args

import numpy as np
import pytest
from evidence_graphs import (
    ALL_PATHS,
    DENSE,
    ENTITIES,
    EVERYTHING,
    PREDICATES,
    Floats,
    all_questions,
    asked,
    crowd,
    few,
    graphs,
    index_on,
    path_rules,
    reaches,
    rules_on,
    scores_by_family,
    table,
    whole_weights,
)
from evidence_oracle import (
    Fact,
    Question,
    Rules,
    affinity_place,
    count_place,
    events_of,
    features_of,
    offset_place,
    rate_place,
    rules_of,
    seen_by,
    weights_of,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from foretime.config import EvidenceConfig, FamilyName
from foretime.data.facts import Facts, inverse
from foretime.evidence.buckets import offset_bounds
from foretime.evidence.events import event_lists
from foretime.evidence.families import (
    AFFINITIES,
    COUNTS,
    FAMILIES,
    FAMILY_NAMES,
    FEATURES,
    GROUPS,
    OFFSETS,
    PATH_SLOTS,
    RATED,
    RATES,
    RULED,
    Reach,
)
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.lookups import affinity_bucket, count_bucket, offset_bucket, rate_bucket
from foretime.evidence.softmax_walk import ROOM
from foretime.evidence.vocabulary import rule_vocabulary
from foretime.rules.rule import RuleIds
from foretime.rules.table import Rules as RuleTable

WINDOWS = [
    EVERYTHING,
    EVERYTHING._replace(past_only=True),
    EVERYTHING._replace(object_window=1, active_window=1, path_window=1, path_events=2),
]


def expected_scores(
    facts: list[Fact], questions: list[Question], rules: Rules, reach: Reach, weights: Floats, entities: int = ENTITIES
) -> dict[str, Floats]:
    """Return the scores of every family alone, and of all together, by the oracle."""
    predicates = PREDICATES
    events = events_of(facts, predicates)
    scores = {name: np.zeros((len(questions), entities), dtype=np.float64) for name in (*FAMILY_NAMES, "all")}
    for row, question in enumerate(questions):
        seen = seen_by(question, events, predicates, reach.past_only)
        for family, found in features_of(question, seen, rules, reach).items():
            for y, features in found.items():
                for feature in features:
                    share = weights[weights_of(feature, question.predicate, rules, predicates)].sum()
                    scores[family][row, y] += share
                    scores["all"][row, y] += share
    return {name: values.astype(np.float32) for name, values in scores.items()}


def assert_same(found: dict[str, Floats], expected: dict[str, Floats], questions: list[Question]) -> None:
    assert found.keys() == expected.keys()
    for family in found:
        wrong = np.argwhere(found[family] != expected[family])
        message = [
            f"{family} of {y} for {questions[row]}: {found[family][row, y]} ≠ {expected[family][row, y]}"
            for row, y in wrong[:5]
        ]
        assert not message, message


@few
@given(graph=graphs(), reach=reaches, paths=path_rules, support=st.integers(1, 3), seed=st.integers(0, 9))
def test_every_score_is_the_sum_of_the_weights_of_its_grounded_features(
    graph: tuple[tuple[int, ...], list[Fact]],
    reach: Reach,
    paths: list[tuple[int, int, int]],
    support: int,
    seed: int,
) -> None:
    timeline, facts = graph
    questions = all_questions(timeline)
    index = index_on(facts, timeline, reach, paths, support)
    weights = whole_weights(index, seed)
    expected = expected_scores(facts, questions, rules_on(facts, paths, support), reach, weights)
    assert_same(scores_by_family(index, weights, questions), expected, questions)


@pytest.mark.parametrize("reach", WINDOWS, ids=["all", "past", "near"])
def test_hubs_are_scored_like_anyone(reach: Reach) -> None:
    entities, steps = 90, 120
    facts = crowd(700, tuple(range(steps)), seed=1, entities=entities)
    every = range(2 * PREDICATES)
    paths = [(p, q1, q2) for p in every for q1 in every for q2 in every if (p + q1 + q2) % 3 == 0]
    rules = rules_of(facts, paths, PREDICATES, 2)
    events = event_lists(table(facts), entities, PREDICATES, steps, fading=True)
    mined = RuleTable.of([RuleIds("joint_now", "path", p, (q1, q2)) for p, q1, q2 in paths])
    index = EvidenceIndex(entities, events, rule_vocabulary(events, 2, mined, 10_000), reach)
    questions = [Question(x, p, t) for x in (0, 1, 2, 7) for p in (0, 2, 4) for t in (0, 60, steps)]
    weights = whole_weights(index)
    expected = expected_scores(facts, questions, rules, reach, weights, entities)
    assert_same(scores_by_family(index, weights, questions), expected, questions)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reach", WINDOWS, ids=["all", "past", "near"])
def test_crowded_graphs_are_scored_like_any(seed: int, reach: Reach) -> None:
    facts, questions = crowd(80, DENSE, seed), all_questions(DENSE)[seed::3]
    index = index_on(facts, DENSE, reach, ALL_PATHS)
    weights = whole_weights(index, seed)
    expected = expected_scores(facts, questions, rules_on(facts, ALL_PATHS), reach, weights)
    assert_same(scores_by_family(index, weights, questions), expected, questions)


def test_every_path_rule_that_is_grounded_counts_however_few_the_entities_are() -> None:
    """Nine rules lead from 0 over 1 to 2, and nine to 3: more groundings than there are entities."""
    firsts = [(0, q, 1, 3, 3) for q in range(3)]
    seconds = [(1, q, y, 4, 4) for q in range(3) for y in (2, 3)]
    index = index_on([*firsts, *seconds], DENSE, EVERYTHING, [(0, a, b) for a in range(3) for b in range(3)])
    weights = np.zeros(index.weights, dtype=np.float32)
    weights[GROUPS["path"].first :][:OFFSETS] = 1
    assert index.score(weights, *asked([Question(0, 0, 5)])).tolist() == [[0, 0, 9, 9, 0, 0]]


def test_more_paths_than_are_kept_harm_no_other_question() -> None:
    """From 0 over 1 lead more groundings than have a slot; from 2 over 3 leads one, asked right after."""
    entities, every = 2 * PATH_SLOTS // (2 * PREDICATES) ** 2, range(2 * PREDICATES)
    crowd = [(1, q, y, 4, 4) for q in range(PREDICATES) for y in range(4, entities)]
    crowd += [(y, q, 1, 4, 4) for q in range(PREDICATES) for y in range(4, entities)]
    firsts = [fact for q in range(PREDICATES) for fact in ((0, q, 1, 3, 3), (1, q, 0, 3, 3))]
    facts = [*firsts, *crowd, (2, 0, 3, 3, 3), (3, 0, entities - 1, 4, 4)]
    events = event_lists(table(facts), entities, PREDICATES, 12)
    mined = RuleTable.of([RuleIds("joint_now", "path", 0, (q1, q2)) for q1 in every for q2 in every])
    reach = EVERYTHING._replace(path_events=100_000)
    index = EvidenceIndex(entities, events, rule_vocabulary(events, 2, mined, 10_000), reach).by_family()["path"]
    weights = np.zeros(index.weights, dtype=np.float32)
    weights[GROUPS["path"].first :][:OFFSETS] = 1
    large, small = Question(0, 0, 5), Question(2, 0, 5)
    scores = index.score(weights, *asked([large, small] * 4))
    kept = scores[0].sum()
    assert PATH_SLOTS / 2 < kept <= PATH_SLOTS
    assert scores[0].max() <= len(mined)
    for large_row, small_row in scores.reshape(4, 2, entities):
        assert np.array_equal(large_row, scores[0])
        assert np.flatnonzero(small_row).tolist() == [entities - 1]
        assert small_row[entities - 1] == 1


def test_one_event_grounds_what_can_be_told_on_paper() -> None:
    """Did 0 meet 1 (predicate 0) at step 5? It did at step 2 and is asked at 5: three steps before, once."""
    facts = [(0, 0, 1, 2, 2)]
    index = index_on(facts, DENSE, EVERYTHING, [], support=1)
    weights = np.zeros(index.weights, dtype=np.float32)
    three_before, once = GROUPS["pair_offset"].first + 3, GROUPS["pair_count"].first
    own = FEATURES * (1 + 0)
    assert index.weights == FEATURES * 7 + RULED * 2  # a pair rule p ⇐ p, and one of the inverse
    of_the_rule = FEATURES * 7
    for place, weight in [(three_before, 1), (once, 10), (own + once, 100), (of_the_rule + three_before, 1000)]:
        weights[place] = weight
    weights[FEATURES * 2 + once] = 7  # of another predicate
    weights[of_the_rule + RULED + once] = 7  # of another rule
    assert index.score(weights, *asked([Question(0, 0, 5)])).tolist() == [[0, 1111, 0, 0, 0, 0]]
    assert index.score(weights, *asked([Question(0, 0, 2)])).tolist() == [[0, 0, 0, 0, 0, 0]]
    assert index.score(weights, *asked([Question(1, inverse(0, PREDICATES), 2)])).tolist() == [[0] * 6]


def test_the_settings_and_the_features_follow_the_table_of_families() -> None:
    config = EvidenceConfig()
    assert get_args(FamilyName) == FAMILY_NAMES == (*config.families, *RATED)
    own = [name for name in Reach._fields if name not in (*FAMILY_NAMES, "past_only")]
    assert all(name.partition("_")[0] in FAMILY_NAMES and hasattr(config, name) for name in own)
    assert set(FAMILY_NAMES) < set(Reach._fields)
    groups = [group for family in FAMILIES for group in family.groups]
    assert [group.first for group in groups] == [sum(g.size for g in groups[:i]) for i in range(len(groups))]
    assert FAMILY_NAMES[0] == "pair"
    assert RULED == OFFSETS + COUNTS


def test_each_family_can_be_looked_at_alone() -> None:
    index = index_on([(0, 0, 1, 2, 2)], DENSE, EVERYTHING._replace(active=False), [])
    alone = index.by_family()
    assert list(alone) == ["pair", "object", "affinity", "path", *RATED]
    for name, part in alone.items():
        assert [family for family in FAMILY_NAMES if getattr(part.reach, family)] == [name]


def test_distances_counts_affinities_and_rates_fall_into_the_buckets_of_the_table() -> None:
    distances = range(-400, 401)
    assert [offset_bucket(d) for d in distances] == [offset_place(d) for d in distances]
    assert {offset_place(d) for d in distances} == set(range(OFFSETS))
    for distance in distances:
        low, high = offset_bounds(distance)
        same = [d for d in distances if d * distance >= 0 and low <= abs(d) <= (400 if high is None else high)]
        assert {offset_place(d) for d in same if bool(d) == bool(distance)} == {offset_place(distance)}
    counts = range(1, 300)
    assert [count_bucket(count) for count in counts] == [count_place(count) for count in counts]
    assert {count_place(count) for count in counts} == set(range(COUNTS))
    affinities = [*np.linspace(0.01, 40, 1000), *(2.0**power for power in range(-6, 8))]
    assert [affinity_bucket(a) for a in affinities] == [affinity_place(a) for a in affinities]
    assert {affinity_place(a) for a in affinities} == set(range(AFFINITIES))
    rates = [0.0, *np.geomspace(1e-6, 400, 1000), *(2.0**power for power in range(-9, 10))]
    assert [rate_bucket(rate) for rate in rates] == [rate_place(rate) for rate in rates]
    assert {rate_place(rate) for rate in rates} == set(range(RATES))


@few
@given(graph=graphs(), reach=reaches, paths=path_rules, seed=st.integers(0, 9))
def test_the_gradient_is_the_transpose_of_the_score(
    graph: tuple[tuple[int, ...], list[Fact]], reach: Reach, paths: list[tuple[int, int, int]], seed: int
) -> None:
    """Scores are linear in the weights, so ⟨score(w), G⟩ = ⟨w, gradient(G)⟩; whole numbers make it exact."""
    timeline, facts = graph
    questions = all_questions(timeline)
    random = np.random.default_rng(seed)
    given_gradient = random.integers(-3, 4, (len(questions), ENTITIES)).astype(np.float32)
    whole = index_on(facts, timeline, reach, paths)
    for index in (whole, *whole.by_family().values()):
        weights = whole_weights(index, seed)
        gradient = index.gradient(given_gradient, *asked(questions))
        value = np.vdot(index.score(weights, *asked(questions)).astype(np.float64), given_gradient)
        assert value == np.vdot(weights.astype(np.float64), gradient)
        chosen = np.flatnonzero(gradient)[:3]  # and each weight moves the value by its gradient
        for place in (*chosen, 0, index.weights - 1):
            moved = weights.copy()
            moved[place] += 1
            changed = np.vdot(index.score(moved, *asked(questions)).astype(np.float64), given_gradient)
            assert changed - value == gradient[place]


def test_the_gradient_of_one_candidate_counts_its_features() -> None:
    facts = crowd(40, DENSE, seed=3)
    paths = [(0, 1, 2), (3, 0, 0), (1, 1, 4)]
    rules, reach = rules_on(facts, paths), EVERYTHING
    index = index_on(facts, DENSE, reach, paths)
    events = events_of(facts, PREDICATES)
    questions = [Question(x, p, 6) for x in range(ENTITIES) for p in range(2 * PREDICATES)]
    for question in questions:
        seen = seen_by(question, events, PREDICATES, reach.past_only)
        found = features_of(question, seen, rules, reach)
        for y in range(ENTITIES):
            expected = np.zeros(index.weights)
            for features in found.values():
                for feature in features.get(y, []):
                    expected[weights_of(feature, question.predicate, rules, PREDICATES)] += 1
            one = np.zeros((1, ENTITIES), dtype=np.float32)
            one[0, y] = 1.0
            assert np.array_equal(index.gradient(one, *asked([question])), expected), (question, y)


def test_scores_and_gradients_are_the_same_bits_every_time_and_in_any_company() -> None:
    facts = crowd(60, DENSE, seed=4)
    paths = [(0, 1, 2), (3, 0, 0), (1, 1, 4), (0, 0, 0), (2, 3, 1)]
    index = index_on(facts, DENSE, EVERYTHING, paths)
    questions = all_questions(DENSE)
    random = np.random.default_rng(0)
    weights = random.normal(size=index.weights).astype(np.float32)
    given_gradient = random.normal(size=(len(questions), ENTITIES)).astype(np.float32)
    scores = index.score(weights, *asked(questions))
    gradient = index.gradient(given_gradient, *asked(questions))
    for _ in range(2):
        assert index.score(weights, *asked(questions)).tobytes() == scores.tobytes()
        assert index.gradient(given_gradient, *asked(questions)).tobytes() == gradient.tobytes()
    alone = np.concatenate([index.score(weights, *asked([question])) for question in questions])
    assert alone.tobytes() == scores.tobytes()  # a question hears nothing of those before it
    turned = index.score(weights, *asked(questions[::-1]))
    assert turned[::-1].tobytes() == scores.tobytes()


def test_no_facts_and_no_questions_are_no_trouble() -> None:
    index = index_on([], DENSE, EVERYTHING, [(0, 1, 2)])
    weights = whole_weights(index)
    assert not index.score(weights, *asked(all_questions(DENSE))).any()
    full = index_on([(0, 0, 1, 2, 2)], DENSE, EVERYTHING, [])
    assert full.score(whole_weights(full), *asked([])).shape == (0, ENTITIES)
    assert not full.gradient(np.zeros((0, ENTITIES), dtype=np.float32), *asked([])).any()


def mean_cross_entropy(scores: Floats, row: NDArray[np.int64], answers: NDArray[np.int64]) -> tuple[float, Floats]:
    """Return the loss of answers among all entities, and the gradient of the scores."""
    wide = scores.astype(np.float64)
    total = np.exp(wide).sum(axis=1)
    gradient = np.exp(wide) / total[:, None] * np.bincount(row, minlength=len(scores))[:, None]
    np.subtract.at(gradient, (row, answers), 1.0)
    loss = (np.log(total[row]) - wide[row, answers]).mean()
    return float(loss), (gradient / len(row)).astype(np.float32)


@few
@given(graph=graphs(), reach=reaches, paths=path_rules, seed=st.integers(0, 9))
def test_the_softmax_of_those_met_is_that_of_all_entities(
    graph: tuple[tuple[int, ...], list[Fact]], reach: Reach, paths: list[tuple[int, int, int]], seed: int
) -> None:
    timeline, facts = graph
    questions, random = asked(all_questions(timeline)), np.random.default_rng(seed)
    index = index_on(facts, timeline, reach, paths)
    weights = random.normal(size=index.weights).astype(np.float32)
    row = np.sort(random.integers(0, len(questions[0]), 2 * len(questions[0])))
    answers = random.integers(0, ENTITIES, len(row))
    loss, gradient = index.softmax(weights, *questions, row, answers)
    wanted, of_scores = mean_cross_entropy(index.score(weights, *questions), row, answers)
    assert loss == pytest.approx(wanted, rel=1e-6)
    assert np.allclose(gradient, index.gradient(of_scores, *questions), atol=1e-6)
    again = index.softmax(weights, *questions, row, answers)
    assert (again[0], again[1].tobytes()) == (loss, gradient.tobytes())


def test_a_question_that_meets_more_than_there_is_room_for_is_walked_again() -> None:
    """One subject with 3,000 partners of two predicates; entities that nothing leads to are in the softmax too."""
    entities = 4_000
    partners = np.arange(1, 3_001)
    subject, times = np.zeros(6_000, dtype=np.int64), np.tile([1, 2, 5], 2_000)
    facts = Facts(subject, np.repeat([0, 1], 3_000), np.tile(partners, 2), times, times)
    events = event_lists(facts, entities, PREDICATES, len(DENSE))
    index = EvidenceIndex(entities, events, rule_vocabulary(events, 1, None, 0), EVERYTHING)
    weights = np.random.default_rng(0).normal(size=index.weights).astype(np.float32)
    questions = asked([Question(0, 0, 3), Question(0, 2, 4), Question(3_500, 0, 3)])
    row, answers = np.array([0, 0, 1, 2]), np.array([5, 3_900, 7, 3_901])
    loss, gradient = index.softmax(weights, *questions, row, answers)
    scores = index.score(weights, *questions)
    assert (scores[0] != 0).sum() * 2 > ROOM, "or there would have been room"
    wanted, of_scores = mean_cross_entropy(scores, row, answers)
    assert loss == pytest.approx(wanted, rel=1e-6)
    assert np.allclose(gradient, index.gradient(of_scores, *questions), atol=1e-5)
