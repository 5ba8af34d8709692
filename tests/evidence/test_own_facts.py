"""A question never sees its own facts, nor, where only the past counts, anything at its time or later."""

import numpy as np
import pytest
from evidence_graphs import (
    ALL_PATHS,
    DENSE,
    ENTITIES,
    PREDICATES,
    SPARSE,
    Floats,
    any_predicate,
    crowd,
    facts_at,
    graphs,
    index_on,
    is_after,
    many,
    moments,
    own_facts,
    path_rules,
    profiles,
    reaches,
    scores_by_family,
    steps_of,
    whole_weights,
    with_facts,
)
from evidence_oracle import Fact, PathRule, Question
from hypothesis import assume, given
from hypothesis import strategies as st

from foretime.data.facts import UNKNOWN, inverse
from foretime.evidence.families import FAMILY_NAMES, Reach
from foretime.reranker.features.words import PROFILE_FEATURES

Graph = tuple[tuple[int, ...], list[Fact]]
subjects = st.integers(0, ENTITIES - 1)


def question_on(timeline: tuple[int, ...], data: st.DataObject) -> Question:
    return data.draw(st.builds(Question, subjects, any_predicate, st.sampled_from(moments(timeline))), "question")


def merged(facts: list[Fact], more: list[Fact], data: st.DataObject) -> list[Fact]:
    """Return all facts, the added ones before or after the others: the order of a table says nothing."""
    return [*more, *facts] if data.draw(st.booleans(), "added first") else [*facts, *more]


def assert_same_scores(
    graph: Graph, other: list[Fact], question: Question, reach: Reach, paths: list[PathRule]
) -> None:
    """Assert that no score of any candidate differs between two sets of facts, by family and in all."""
    timeline, facts = graph
    index = index_on(facts, timeline, reach, paths, support=1)
    weights = whole_weights(index)
    before = scores_by_family(index, weights, [question])
    after = scores_by_family(with_facts(index, other), weights, [question])
    assert {family: scores.tolist() for family, scores in after.items()} == {
        family: scores.tolist() for family, scores in before.items()
    }


def profile(graph: Graph, past_only: bool, question: Question) -> Floats:
    return profiles(graph[1], graph[0], past_only, [(question, list(range(ENTITIES)))])


def assert_same_profiles(graph: Graph, other: list[Fact], question: Question, past_only: bool) -> None:
    before, after = profile(graph, past_only, question), profile((graph[0], other), past_only, question)
    changed = [(PROFILE_FEATURES[c], int(y), before[y, c], after[y, c]) for y, c in np.argwhere(before != after)]
    assert changed == []


@many
@given(graph=graphs(), reach=reaches, paths=path_rules, data=st.data())
def test_a_question_s_own_facts_change_no_score_of_any_candidate(
    graph: Graph, reach: Reach, paths: list[PathRule], data: st.DataObject
) -> None:
    timeline, facts = graph
    question = question_on(timeline, data)
    assume(question.time < steps_of(timeline))
    more = data.draw(own_facts(question, timeline), "own facts")
    assert_same_scores(graph, merged(facts, more, data), question, reach, paths)


@many
@given(graph=graphs(), past_only=st.booleans(), data=st.data())
def test_a_question_s_own_facts_change_no_column_of_any_candidate(
    graph: Graph, past_only: bool, data: st.DataObject
) -> None:
    timeline, facts = graph
    question = question_on(timeline, data)
    assume(question.time < steps_of(timeline))
    more = data.draw(own_facts(question, timeline), "own facts")
    assert_same_profiles(graph, merged(facts, more, data), question, past_only)


@many
@given(graph=graphs(), reach=reaches, paths=path_rules, data=st.data())
def test_leaving_out_a_fact_of_the_graph_changes_nothing_for_whoever_asks_for_it(
    graph: Graph, reach: Reach, paths: list[PathRule], data: st.DataObject
) -> None:
    facts = graph[1]
    assume(facts)
    row = data.draw(st.integers(0, len(facts) - 1), "row")
    s, p, o, start, end = facts[row]
    t = data.draw(st.sampled_from([time for time in (start, end) if time != UNKNOWN]), "time")
    without = [*facts[:row], *facts[row + 1 :]]
    for question in (Question(s, p, t), Question(o, inverse(p, PREDICATES), t)):
        assert_same_scores(graph, without, question, reach, paths)
        assert_same_profiles(graph, without, question, reach.past_only)


@pytest.mark.parametrize("past_only", [False, True])
@pytest.mark.parametrize("timeline", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_no_fact_of_a_crowded_graph_speaks_for_itself(timeline: tuple[int, ...], past_only: bool) -> None:
    reach = Reach(past_only, 300, 300, 300, 500, *[True] * len(FAMILY_NAMES))
    facts = crowd(60, timeline, seed=2)
    for row, (s, p, o, start, end) in enumerate(facts):
        without = [*facts[:row], *facts[row + 1 :]]
        for question in (Question(s, p, start), Question(s, p, end), Question(o, inverse(p, PREDICATES), end)):
            assert_same_scores((timeline, facts), without, question, reach, ALL_PATHS)
            assert_same_profiles((timeline, facts), without, question, past_only)


@many
@given(graph=graphs(), reach=reaches, paths=path_rules, data=st.data())
def test_nothing_at_or_after_the_time_changes_a_score_or_a_column_where_only_the_past_counts(
    graph: Graph, reach: Reach, paths: list[PathRule], data: st.DataObject
) -> None:
    timeline, facts = graph
    question = question_on(timeline, data)
    later = [t for t in timeline if t >= question.time]
    more = data.draw(facts_at(st.sampled_from(later), at_most=8), "later facts") if later else []
    without = [fact for fact in facts if not is_after(fact, question.time)]
    past = reach._replace(past_only=True)
    for other in (merged(facts, more, data), without):
        assert_same_scores(graph, other, question, past, paths)
        assert_same_profiles(graph, other, question, past_only=True)


@many
@given(graph=graphs(), reach=reaches, paths=path_rules, data=st.data())
def test_where_a_fact_goes_on_to_says_nothing_where_only_the_past_counts(
    graph: Graph, reach: Reach, paths: list[PathRule], data: st.DataObject
) -> None:
    """An end after the time asked about is moved to another such time, or not known at all."""
    timeline, facts = graph
    question = question_on(timeline, data)
    later = [t for t in timeline if t > question.time]
    assume(later)
    moved = []
    for s, p, o, start, end in facts:
        if min(start, end) != UNKNOWN and min(start, end) < question.time < max(start, end):
            other = data.draw(st.sampled_from([*later, UNKNOWN]))
            moved.append((s, p, o, start, other) if start < end else (s, p, o, other, end))
        else:
            moved.append((s, p, o, start, end))
    assert_same_scores(graph, moved, question, reach._replace(past_only=True), paths)
    assert_same_profiles(graph, moved, question, past_only=True)
