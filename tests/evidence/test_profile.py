"""The columns of the reranker against plain loops, for questions of random small graphs."""

import numpy as np
import pytest
from evidence_graphs import (
    DENSE,
    ENTITIES,
    NAMES,
    PREDICATES,
    SPARSE,
    all_questions,
    crowd,
    few,
    graphs,
    profiles,
    table,
)
from evidence_oracle import Fact, Question, events_of, seen_by
from hypothesis import given
from hypothesis import strategies as st
from profile_oracle import FAR, columns_of, words_of

from foretime.data.vocabulary import Vocabulary
from foretime.reranker.features import profile
from foretime.reranker.features.names import name_words

Graph = tuple[tuple[int, ...], list[Fact]]
EVERYONE = list(range(ENTITIES))


def assert_columns(graph: Graph, past_only: bool, asking: list[tuple[Question, list[int]]], runs: int) -> None:
    timeline, facts = graph
    found = profiles(facts, timeline, past_only, asking, runs)
    events = events_of(facts, PREDICATES)
    row = 0
    for question, candidates in asking:
        seen = seen_by(question, events, PREDICATES, past_only)
        for y in candidates:
            expected = columns_of(question, y, seen, NAMES, past_only, PREDICATES)
            assert set(expected) == set(profile.PROFILE_FEATURES)
            wrong = {
                name: (float(value), expected[name])
                for name, value in zip(profile.PROFILE_FEATURES, found[row], strict=True)
                if not np.isclose(value, expected[name], rtol=1e-5, atol=1e-6)
            }
            assert wrong == {}, (question, y)
            row += 1
    assert row == len(found)


@few
@given(graph=graphs(), past_only=st.booleans(), runs=st.sampled_from([1, 2, 3, 8]), skipped=st.integers(0, 12))
def test_every_column_is_what_its_name_says(graph: Graph, past_only: bool, runs: int, skipped: int) -> None:
    questions = all_questions(graph[0])[skipped::13]
    assert_columns(graph, past_only, [(question, EVERYONE) for question in questions], runs)


@pytest.mark.parametrize("past_only", [False, True])
@pytest.mark.parametrize("timeline", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_crowded_graphs_have_the_same_columns(timeline: tuple[int, ...], past_only: bool) -> None:
    facts = crowd(90, timeline, seed=5)
    questions = all_questions(timeline)[::5]
    assert_columns((timeline, facts), past_only, [(question, EVERYONE) for question in questions], runs=2)


@few
@given(
    graph=graphs(),
    lists=st.lists(st.lists(st.integers(0, ENTITIES - 1), max_size=4), max_size=9),
    runs=st.integers(1, 12),
    past_only=st.booleans(),
)
def test_any_list_of_candidates_is_described_in_any_number_of_runs(
    graph: Graph, lists: list[list[int]], runs: int, past_only: bool
) -> None:
    """No candidates at all, the same one twice, more runs than questions."""
    asking = list(zip(all_questions(graph[0])[::31], lists, strict=False))
    assert_columns(graph, past_only, asking, runs)


def test_one_pair_is_described_as_can_be_told_on_paper() -> None:
    """0 met 1 at 2 and 5, is asked at 5 whom it meets, and 1 met 2 at 4."""
    facts = [(0, 0, 1, 2, 2), (0, 0, 1, 5, 5), (2, 0, 1, 4, 4), (0, 1, 2, 5, 5)]
    (row,) = profiles(facts, DENSE, False, [(Question(0, 0, 5), [1])])
    found = dict(zip(profile.PROFILE_FEATURES, row.tolist(), strict=True))
    expected = {
        "pair_before": 3, "pair_after": FAR, "pair_nearest": 3, "pair_now": 0, "pair_events": 1, "pair_predicates": 1,
        "pair_share": 0.5, "same_before": 3, "same_events": 1, "same_share": 1, "inverse_before": FAR,
        "object_before": 1, "object_now": 0, "object_events": 1, "object_share": 0.5, "object_habit": 1,
        "active_before": 1, "active_now": 0, "events": 1, "partners": 1, "common_partners": 1, "path_week": 1,
        "subject_events": 2, "subject_partners": 2, "subject_now": 1, "subject_same_events": 1, "predicate_events": 2,
        "name_count": 1,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert found["affinity"] == pytest.approx(1 / np.log(3))
    assert found["pair_recent"] == pytest.approx(np.exp(-0.3))
    assert found["pair_lasting"] == found["same_lasting"] == pytest.approx(np.exp(-0.05))
    assert found["name_overlap"] == pytest.approx(np.log(6 / 2))  # India, in two of six names


@few
@given(graph=graphs())
def test_the_words_of_names_are_counted_by_predicate(graph: Graph) -> None:
    names = name_words(Vocabulary("entity", NAMES), table(graph[1]), PREDICATES)
    words = [words_of(name) for name in NAMES]
    every = sorted(frozenset().union(*words))
    of_entity = [names.word[names.of[e] : names.of[e + 1]].tolist() for e in range(ENTITIES)]
    assert [len(set(ids)) for ids in of_entity] == [len(ids) for ids in of_entity] == [len(own) for own in words]
    ids = {}
    for word in every:
        having = [set(found) for found, own in zip(of_entity, words, strict=True) if word in own]
        lacking = [set(found) for found, own in zip(of_entity, words, strict=True) if word not in own]
        ids[word] = set.intersection(*having).difference(*lacking)
    assert [len(found) for found in ids.values()] == [1] * len(every)  # an id that its entities have, and no others
    number = {word: found.pop() for word, found in ids.items()}
    assert np.allclose(
        [names.rarity[number[word]] for word in every],
        [np.log(ENTITIES / sum(word in own for own in words)) for word in every],
    )
    events = events_of(graph[1], PREDICATES)
    for p in range(2 * PREDICATES):
        here = slice(names.by_predicate[p], names.by_predicate[p + 1])
        found = dict(zip(names.by_predicate_word[here].tolist(), names.by_predicate_count[here].tolist(), strict=True))
        counts = {number[w]: sum(e.predicate == p and w in words[e.object] for e in events) for w in every}
        assert found == {word: count for word, count in counts.items() if count}
        assert names.by_predicate_word[here].tolist() == sorted(found)
