"""Reasons against plain loops: every feature of every candidate, its value, its weights and the events behind it."""

import numpy as np
import pytest
from evidence_graphs import (
    ALL_PATHS,
    DENSE,
    ENTITIES,
    EVERYTHING,
    PREDICATES,
    all_questions,
    asked,
    crowd,
    few,
    graphs,
    index_on,
    path_rules,
    reaches,
    rule_table,
    rules_on,
    table,
)
from evidence_oracle import Event, Fact, Feature, Question, events_of, features_of, partners_in, seen_by, weights_of
from hypothesis import given
from hypothesis import strategies as st

from foretime.data.facts import UNKNOWN
from foretime.evidence.events import event_lists
from foretime.evidence.families import FAMILIES, FAMILY_NAMES, GROUPS, PATH_SLOTS, Reach
from foretime.evidence.index import ROWS, EvidenceIndex
from foretime.evidence.reasons import EVENTS_KEPT, Reason, ReasonFinder
from foretime.evidence.vocabulary import rule_vocabulary

Graph = tuple[tuple[int, ...], list[Fact]]


def finder_of(index: EvidenceIndex, seed: int = 0) -> ReasonFinder:
    return ReasonFinder(index, np.random.default_rng(seed).normal(size=index.weights).astype(np.float32))


def happened(event: Event) -> tuple[int, int, int, int]:
    """An event in the direction of the graph."""
    s, q, o, time, _ = event
    return (s, q, o, time) if q < PREDICATES else (o, q - PREDICATES, s, time)


def assert_grounded(reason: Reason, feature: Feature, question: Question, seen: list[Event]) -> None:
    """A reason names the nearest events behind its feature, in twos where a grounding has two."""
    assert reason.count == len(feature.groundings)
    times = [event.time for event in reason.events]
    if reason.family == "affinity":
        sizes = {z: len(partners) for z, partners in partners_in(seen).items()}
        assert sorted(reason.partners) == sorted(events[0].object for events in feature.groundings)
        assert [sizes[z] for z in reason.partners] == sorted(sizes[z] for z in reason.partners)
        behind = {frozenset(map(happened, events)) for events in feature.groundings}
        for two in zip(reason.events[::2], reason.events[1::2], strict=True):
            assert any(set(two) <= events for events in behind)
        assert len(times) == min(2 * reason.count, EVENTS_KEPT)
    elif reason.family == "path":
        behind = {tuple(map(happened, events)) for events in feature.groundings}
        assert set(zip(reason.events[::2], reason.events[1::2], strict=True)) <= behind
        assert max(abs(time - question.time) for time in times[:2]) == abs(reason.value)
        assert len(times) == min(2 * reason.count, EVENTS_KEPT)
    else:
        every = sorted((happened(e) for (e,) in feature.groundings), key=lambda e: (abs(e[3] - question.time), e[3], e))
        assert list(reason.events) == every[:EVENTS_KEPT]


def key_of(group: str, body: tuple[int, ...], value: float) -> tuple[object, ...]:
    """Return what a feature is found again by: there is but one affinity, and one rate of each kind."""
    return (group, body) if GROUPS[group].kind in ("affinity", "rate") else (group, body, value)


def assert_reasons(graph: Graph, reach: Reach, paths: list[tuple[int, int, int]], questions: list[Question]) -> None:
    timeline, facts = graph
    index, rules = index_on(facts, timeline, reach, paths), rules_on(facts, paths)
    finder, events = finder_of(index), events_of(facts, PREDICATES)
    weights = np.random.default_rng(0).normal(size=index.weights).astype(np.float32)
    for question in questions:
        seen = seen_by(question, events, PREDICATES, reach.past_only)
        found = features_of(question, seen, rules, reach)
        for y in range(ENTITIES):
            features = {key_of(f.group.name, f.body, f.value): f for by_y in found.values() for f in by_y.get(y, [])}
            reasons = finder.find_at(question.subject, question.predicate, y, question.time)
            reported = {key_of(r.group, r.body, r.value): r for r in reasons}
            assert len(reasons) == len(features)
            assert reported.keys() == features.keys(), (question, y)
            for key, reason in reported.items():
                feature = features[key]
                assert reason.value == pytest.approx(feature.value, rel=1e-4, abs=1e-5)
                places = weights_of(feature, question.predicate, rules, PREDICATES)
                assert [*reason.weights][: len(places)] == weights[places].tolist()
                assert_grounded(reason, feature, question, seen)


@few
@given(graph=graphs(), reach=reaches, paths=path_rules, skipped=st.integers(0, 6))
def test_every_feature_of_every_candidate_is_a_reason(
    graph: Graph, reach: Reach, paths: list[tuple[int, int, int]], skipped: int
) -> None:
    assert_reasons(graph, reach, paths, all_questions(graph[0])[skipped::7])


@pytest.mark.parametrize("past_only", [False, True])
def test_crowded_graphs_have_reasons_like_any(past_only: bool) -> None:
    reach = EVERYTHING._replace(past_only=past_only)
    assert_reasons((DENSE, crowd(80, DENSE, seed=3)), reach, ALL_PATHS, all_questions(DENSE)[::5])


def test_a_fact_with_two_ends_has_the_reasons_of_both_by_half() -> None:
    finder = finder_of(index_on(crowd(60, DENSE, seed=2), DENSE, EVERYTHING, ALL_PATHS))
    both = finder.find(0, 0, 1, 3, 8)
    alone = {name: finder.find_at(0, 0, 1, time) for name, time in (("start", 3), ("end", 8))}
    assert [reason.end for reason in both] == ["start"] * len(alone["start"]) + ["end"] * len(alone["end"])
    expected = sum(reason.contribution for reasons in alone.values() for reason in reasons) / 2
    assert sum(reason.contribution for reason in both) == pytest.approx(expected)
    assert finder.find(0, 0, 1, 3, UNKNOWN) == finder.find(0, 0, 1, UNKNOWN, 3) == alone["start"]


def test_a_full_table_of_paths_is_full_for_the_reasons_too() -> None:
    ways, ends = 10, 165  # 100 rules and 165 candidates are more (candidate, rule) pairs than the walk keeps
    assert ways * ways * ends > PATH_SLOTS
    rows: list[Fact] = [(0, 1 + way, 1, 0, 0) for way in range(ways)]
    rows += [(1, 1 + ways + way, 2 + end, 0, 0) for way in range(ways) for end in range(ends)]
    events = event_lists(table(rows), 2 + ends, 1 + 2 * ways, 1)
    rules = rule_table([(0, 1 + first, 1 + ways + second) for first in range(ways) for second in range(ways)])
    reach = EVERYTHING._replace(**{name: name == "path" for name in FAMILY_NAMES})
    index = EvidenceIndex(2 + ends, events, rule_vocabulary(events, 2, rules, 1000), reach)
    finder = finder_of(index)
    weights = np.random.default_rng(0).normal(size=index.weights).astype(np.float32)
    scores = index.score(weights, *asked([Question(0, 0, 0)]))[0]
    found = [finder.find_at(0, 0, end, 0) for end in range(2 + ends)]
    assert PATH_SLOTS // 2 < sum(map(len, found)) <= PATH_SLOTS
    assert np.allclose([sum(reason.contribution for reason in reasons) for reasons in found], scores, atol=1e-4)


def test_more_groundings_than_there_is_room_for_are_all_recorded() -> None:
    ways = 70
    rows: list[Fact] = [(0, 0, 1, 0, 0)] * ways + [(1, 1, 2, 0, 0)] * ways
    (reason,) = (
        reason
        for reason in finder_of(index_on(rows, DENSE, EVERYTHING, [(2, 0, 1)])).find_at(0, 2, 2, 0)
        if reason.family == "path"
    )
    assert ways * ways > ROWS
    assert (reason.count, reason.body, len(reason.events)) == (ways * ways, (0, 1), EVENTS_KEPT)


def test_a_fact_is_never_its_own_reason() -> None:
    finder = finder_of(index_on([(0, 0, 1, 3, 5), (0, 0, 1, 9, 9), (2, 0, 2, 4, 4)], DENSE, EVERYTHING, []))
    found = {time: {e.time for r in finder.find_at(0, 0, 1, time) for e in r.events} for time in (3, 5, 9, 4)}
    assert found == {3: {9}, 5: {9}, 9: {3, 5}, 4: {3, 5, 9}}
    assert finder.find_at(2, 0, 2, 4) == finder.find_at(2, 3, 2, 4) == []  # a self-loop is its own inverse


def test_what_is_at_the_same_step_comes_before_what_is_nearest() -> None:
    rows: list[Fact] = [(who, 0, 1, step, step) for who in (0, 2) for step in (2, 4, 6)]
    reasons = finder_of(index_on(rows, DENSE, EVERYTHING, [])).find_at(0, 3, 1, 4)
    assert [r.value for r in reasons if r.group == "pair_offset"] == [0, -2, 2]
    reasons = finder_of(index_on(rows, DENSE, EVERYTHING, [])).find_at(3, 0, 1, 4)
    assert [r.value for r in reasons if r.group == "object_offset"] == [0, -2, 2]


def test_only_paths_and_common_partners_have_events_in_twos() -> None:
    assert [family.name for family in FAMILIES if family.in_twos] == ["affinity", "path"]
