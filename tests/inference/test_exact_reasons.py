"""Reasons against the walk: those of every candidate add up to its evidence, on any small graph and question."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from foretime.config import EvidenceConfig
from foretime.data.facts import UNKNOWN, Facts
from foretime.evidence.buckets import affinity_bucket, count_bucket, offset_bounds, offset_bucket
from foretime.evidence.families import COUNTS, OFFSETS, PATH_SLOTS, Reach
from foretime.evidence.grounds import FAMILY_NAMES, Grounds
from foretime.evidence.index import evidence_index
from foretime.evidence.lookups import affinity_feature, count_feature, offset_feature
from foretime.evidence.module import EvidenceComponent
from foretime.evidence.reasons import EVENTS_KEPT, ReasonFinder
from foretime.evidence.vocabulary import rule_vocabulary
from foretime.models import Queries
from foretime.rules.table import Rules

ENTITIES, PREDICATES, STEPS = 6, 3, 120


def make_grounds(rows: list[tuple[int, ...]], paths: list[tuple[int, int, int]], **reach: object) -> Grounds:
    facts = Facts(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))
    index = evidence_index(facts, ENTITIES, PREDICATES, STEPS)
    columns = (np.array(column, dtype=np.int64) for column in zip(*paths, strict=True)) if paths else ()
    rules = Rules.of_kind("", "path", *columns) if paths else None
    config = EvidenceConfig()
    usual = {name: getattr(config, name) for name in Reach._fields if hasattr(config, name)}
    families = dict.fromkeys(FAMILY_NAMES, True)
    return Grounds(ENTITIES, index, rule_vocabulary(index, 2, rules, 1000), Reach(**(usual | families | reach)))


def random_weights(grounds: Grounds, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=grounds.weights).astype(np.float32)


steps = st.one_of(st.integers(0, 12), st.integers(0, STEPS - 1))  # near each other more often than not
ends = st.one_of(
    steps.map(lambda step: (step, step)),
    st.tuples(steps, steps),
    steps.map(lambda step: (step, UNKNOWN)),
    steps.map(lambda step: (UNKNOWN, step)),
)
entities = st.integers(0, ENTITIES - 1)
predicates = st.integers(0, PREDICATES - 1)
facts_drawn = st.tuples(entities, predicates, entities, ends).map(lambda row: (*row[:3], *row[3]))
paths_drawn = st.tuples(predicates, *[st.integers(0, 2 * PREDICATES - 1)] * 2)
reaches = st.fixed_dictionaries(
    {
        "past_only": st.booleans(),
        "object_window": st.integers(0, 100),
        "active_window": st.integers(0, 8),
        "path_window": st.integers(0, 8),
        "path_events": st.integers(1, 6),
    }
)


@settings(max_examples=150, deadline=None)
@given(st.lists(facts_drawn, min_size=1, max_size=40), st.lists(paths_drawn, max_size=12), reaches, st.data())
def test_the_reasons_of_every_candidate_add_up_to_its_evidence(rows, paths, reach, data):
    grounds = make_grounds(rows, paths, **reach)
    weights = random_weights(grounds, 0)
    finder = ReasonFinder(grounds, weights)
    asked = [*rows[:8], *data.draw(st.lists(facts_drawn, min_size=1, max_size=6))]  # facts that are there, and others
    asked += [(o, p + PREDICATES, s, start, end) for s, p, o, start, end in asked]
    for subject, predicate, _, start, end in asked:
        first, second = (end if start == UNKNOWN else start), (start if end == UNKNOWN else end)
        at_ends = [
            grounds.score(weights, *(np.array([i]) for i in (subject, predicate, t)))[0] for t in (first, second)
        ]
        for candidate, wanted in enumerate((at_ends[0] + at_ends[1]) / 2):
            reasons = finder.find(subject, predicate, candidate, start, end)
            assert sum(reason.contribution for reason in reasons) == pytest.approx(wanted, abs=1e-4)
            assert {reason.end for reason in reasons} <= ({"start", "end"} if first != second else {""})


@settings(max_examples=60, deadline=None)
@given(st.lists(facts_drawn, min_size=1, max_size=40), st.lists(paths_drawn, max_size=12), reaches)
def test_questions_that_are_scored_together_have_the_reasons_of_questions_alone(rows, paths, reach):
    grounds = make_grounds(rows, paths, **reach)
    part = EvidenceComponent(grounds)
    with torch.no_grad():
        part.weights.copy_(torch.from_numpy(random_weights(grounds, 1)))
    finder = ReasonFinder(grounds, part.weights.detach().numpy())
    asked = [(s, p, max(start, end)) for s, p, _, start, end in rows] * 3
    scores = part.score_objects(Queries(*(torch.tensor(column) for column in zip(*asked, strict=True)))).detach()
    for row, (subject, predicate, time) in enumerate(asked):
        for candidate in range(ENTITIES):
            total = sum(reason.contribution for reason in finder.find_at(subject, predicate, candidate, time))
            assert total == pytest.approx(float(scores[row, candidate]), abs=1e-4)


def dense_rows(seed: int) -> list[tuple[int, ...]]:
    """Many events at few steps: self-loops, intervals, several events of a pair and predicate at one step."""
    draw = np.random.default_rng(seed).integers
    rows = [(draw(ENTITIES), draw(PREDICATES), draw(ENTITIES), draw(6), draw(6)) for _ in range(80)]
    return [(s, p, o, start, start if i % 2 else end) for i, (s, p, o, start, end) in enumerate(rows)]


@pytest.mark.parametrize("past_only", [False, True])
def test_in_a_dense_graph_the_reasons_add_up_for_questions_alone_and_together(past_only: bool):
    rows = dense_rows(3)
    paths = [(head, first, second) for head in range(3) for first in range(6) for second in range(6)]
    grounds = make_grounds(rows, paths, past_only=past_only)
    weights, asked = random_weights(grounds, 0), [(row[0], row[1], row[3]) for row in rows]
    finder = ReasonFinder(grounds, weights)
    found = [
        [sum(reason.contribution for reason in finder.find_at(s, p, o, t)) for o in range(ENTITIES)]
        for s, p, t in asked
    ]
    together = grounds.score(weights, *(np.array(column) for column in zip(*asked, strict=True)))
    alone = [grounds.score(weights, *(np.array([i]) for i in question))[0] for question in asked]
    assert np.allclose(found, together, atol=1e-4)
    assert np.allclose(found, alone, atol=1e-4)


def test_a_full_table_of_paths_is_full_for_the_reasons_too():
    ways, ends = 10, 165  # 100 rules and 165 candidates are more (candidate, rule) pairs than the walk keeps
    assert ways * ways * ends > PATH_SLOTS
    rows = [(0, 1 + way, 1, 0, 0) for way in range(ways)]
    rows += [(1, 1 + ways + way, 2 + end, 0, 0) for way in range(ways) for end in range(ends)]
    facts = Facts(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))
    index = evidence_index(facts, 2 + ends, 1 + 2 * ways, 1)
    first, second = (side.reshape(-1) for side in np.meshgrid(np.arange(ways), np.arange(ways)))
    rules = Rules.of_kind("", "path", np.zeros(ways * ways), 1 + first, 1 + ways + second)
    reach = Reach(False, 90, 7, 7, 200, **{name: name == "path" for name in FAMILY_NAMES})
    grounds = Grounds(2 + ends, index, rule_vocabulary(index, 2, rules, 1000), reach)
    weights = random_weights(grounds, 0)
    scores = grounds.score(weights, np.array([0]), np.array([0]), np.array([0]))[0]
    finder = ReasonFinder(grounds, weights)
    found = [finder.find_at(0, 0, end, 0) for end in range(2 + ends)]
    assert PATH_SLOTS // 2 < sum(map(len, found)) <= PATH_SLOTS
    assert np.allclose([sum(reason.contribution for reason in reasons) for reasons in found], scores, atol=1e-4)


def test_a_fact_is_never_its_own_reason():
    rows = [(0, 0, 1, 3, 5), (0, 0, 1, 9, 9), (2, 0, 2, 4, 4)]
    grounds = make_grounds(rows, [])
    finder = ReasonFinder(grounds, random_weights(grounds, 0))
    found = {time: {e.time for r in finder.find_at(0, 0, 1, time) for e in r.events} for time in (3, 5, 9, 4)}
    assert found == {3: {9}, 5: {9}, 9: {3, 5}, 4: {3, 5, 9}}
    assert finder.find_at(2, 0, 2, 4) == finder.find_at(2, 3, 2, 4) == []  # a self-loop is its own inverse


def test_a_reason_names_the_nearest_events_and_how_many_there_are():
    rows = [(0, 1, 1, step, step) for step in range(30)] + [(3, 0, 1, step, step) for step in (2, 8)]
    grounds = make_grounds(rows, [])
    reasons = ReasonFinder(grounds, random_weights(grounds, 0)).find_at(0, 0, 1, 20)
    by_family = {(reason.family, reason.value): reason for reason in reasons}
    count = by_family["pair_count", 30]
    assert (count.count, len(count.events), count.body) == (30, EVENTS_KEPT, (1,))
    assert [event.time for event in count.events[:3]] == [20, 19, 21]
    assert [by_family["pair_offset", d].events[0].time for d in (0, -1, 1)] == [20, 19, 21]
    assert by_family["object_offset", -12].events == ((3, 0, 1, 8),)
    assert by_family["object_count", 2].body == (0,)
    assert ("object_offset", -18) not in by_family  # only the nearest


def test_an_inverse_is_named_by_the_event_that_happened():
    grounds = make_grounds([(1, 2, 0, 4, 4)], [])
    reasons = ReasonFinder(grounds, random_weights(grounds, 0)).find_at(0, 0, 1, 6)
    assert {reason.body for reason in reasons if reason.kind == "pair"} == {(2 + PREDICATES,)}
    assert {event for reason in reasons for event in reason.events} == {(1, 2, 0, 4)}


def test_buckets_of_distances_are_those_of_the_walk_and_have_their_bounds():
    distances = [0, *(sign * far for sign in (-1, 1) for far in (*range(1, 95), 400))]
    assert [offset_bucket(distance) for distance in distances] == [offset_feature(distance) for distance in distances]
    assert {offset_bucket(distance) for distance in distances} == set(range(OFFSETS))
    for distance in distances:
        low, high = offset_bounds(distance)
        side = -1 if distance < 0 else 1
        last = low + 500 if high is None else high
        assert low <= abs(distance) <= last
        assert {offset_bucket(side * far) for far in range(low, last + 1)} == {offset_bucket(distance)}


def test_buckets_of_counts_and_affinities_are_those_of_the_walk():
    assert [count_bucket(count) for count in range(1, 300)] == [count_feature(count) for count in range(1, 300)]
    assert count_bucket(10**6) == COUNTS - 1
    values = [*np.linspace(0.01, 40, 500).tolist(), 0.125, 0.25, 16.0, 32.0]
    assert [affinity_bucket(value) for value in values] == [affinity_feature(value) for value in values]
