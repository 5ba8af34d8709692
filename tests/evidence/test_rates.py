"""Sums of fading events, the confidence of pair rules, and the features of rates, each against plain loops."""

import math

import numpy as np
import pytest
import torch
from evidence_graphs import (
    DENSE,
    ENTITIES,
    EVERYTHING,
    NAMES,
    PREDICATES,
    SPARSE,
    Floats,
    all_questions,
    asked,
    crowd,
    few,
    graphs,
    index_on,
    many,
    own_facts,
    rules_on,
    table,
    with_facts,
)
from evidence_oracle import Fact, Question, confidences_of, events_of, seen_by
from hypothesis import given
from hypothesis import strategies as st
from rates_oracle import FADING, rates_of

from foretime.data.vocabulary import Vocabulary
from foretime.evidence.families import FEATURES
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.module import in_layout
from foretime.evidence.rates import fading_sums
from foretime.reranker.features.names import name_words
from foretime.reranker.features.rates import rates_all
from foretime.reranker.features.words import RATE_FEATURES

Graph = tuple[tuple[int, ...], list[Fact]]
EVERYONE = np.arange(ENTITIES)


@many
@given(lists=st.lists(st.lists(st.integers(0, 500), max_size=12).map(sorted), max_size=5))
def test_a_fading_sum_is_that_of_all_events_up_to_it(lists: list[list[int]]) -> None:
    times = np.array([t for events in lists for t in events], dtype=np.int32)
    first = np.cumsum([0, *map(len, lists)])
    found = fading_sums(times, first)
    expected = [
        [
            sum(math.exp((t - now) / tau) for t in events[: place + 1])
            for events in lists
            for place, now in enumerate(events)
        ]
        for tau in FADING
    ]
    assert found.shape == (len(times), len(FADING))
    assert np.allclose(found, np.reshape(expected, found.T.shape).T, rtol=1e-5)


@few
@given(graph=graphs(), support=st.integers(1, 3))
def test_the_confidence_of_a_pair_rule_is_how_often_its_head_soon_follows(graph: Graph, support: int) -> None:
    timeline, facts = graph
    rules = index_on(facts, timeline, EVERYTHING, [], support).rules
    heads = np.repeat(np.arange(2 * PREDICATES), np.diff(rules.pair))
    pairs = list(zip(heads.tolist(), rules.pair_body.tolist(), strict=True))
    expected = confidences_of(facts, pairs, PREDICATES)
    assert np.allclose(rules.pair_confidence, [expected[pair] for pair in pairs])


def features_of(index: EvidenceIndex, facts: list[Fact], questions: list[Question], runs: int = 2) -> Floats:
    """Return the rates of all candidates of some questions."""
    names = name_words(Vocabulary("entity", NAMES), table(facts), PREDICATES)
    first, objects = ENTITIES * np.arange(len(questions) + 1), np.tile(EVERYONE, len(questions))
    out = np.full((len(objects), len(RATE_FEATURES)), np.nan, dtype=np.float32)
    rates_all(index.events, index.rules, names, *asked(questions), first, objects, out, runs)
    return out


def assert_rates(graph: Graph, questions: list[Question]) -> None:
    timeline, facts = graph
    index, rules = index_on(facts, timeline, EVERYTHING, []), rules_on(facts, [])
    found = features_of(index, facts, questions)
    # at one step those of first ends come before those of second ends, and inverses after the others
    events = sorted(in_rows(facts), key=lambda e: e.time)
    for row, question in enumerate(questions):
        seen = seen_by(question, events, PREDICATES, past_only=True)
        for y in range(ENTITIES):
            expected = rates_of(question, y, seen, rules, NAMES, PREDICATES)
            assert set(expected) == set(RATE_FEATURES)
            wrong = {
                name: (float(value), expected[name])
                for name, value in zip(RATE_FEATURES, found[row * ENTITIES + y], strict=True)
                if not np.isclose(value, expected[name], rtol=1e-3, atol=1e-3)
            }
            assert wrong == {}, (question, y)


def in_rows(facts: list[Fact]) -> list:
    """Return the events in the order of the lists: first ends, then those of inverses, then the other ends."""
    by_fact = [events_of([fact], PREDICATES) for fact in facts]
    return [events[place] for place in (0, 1, 2, 3) for events in by_fact if place < len(events)]


@few
@given(graph=graphs(), skipped=st.integers(0, 12))
def test_every_rate_is_what_its_name_says(graph: Graph, skipped: int) -> None:
    assert_rates(graph, all_questions(graph[0])[skipped::13])


@pytest.mark.parametrize("timeline", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_crowded_graphs_have_the_same_rates(timeline: tuple[int, ...]) -> None:
    assert_rates((timeline, crowd(90, timeline, seed=5)), all_questions(timeline)[::5])


@many
@given(graph=graphs(), data=st.data())
def test_neither_a_question_s_own_facts_nor_later_ones_change_a_rate(graph: Graph, data: st.DataObject) -> None:
    timeline, facts = graph
    question = Question(
        data.draw(st.integers(0, ENTITIES - 1)), data.draw(st.integers(0, 5)), data.draw(st.sampled_from(timeline))
    )
    index = index_on(facts, timeline, EVERYTHING, [])
    more = data.draw(own_facts(question, timeline), "own facts")
    later = [fact for fact in facts if min(t for t in fact[3:] if t >= 0) >= question.time]
    for other in ([*facts, *more], [*more, *facts], [fact for fact in facts if fact not in later]):
        before, after = features_of(index, facts, [question]), features_of(with_facts(index, other), facts, [question])
        changed = ~np.isclose(before, after, rtol=1e-3, atol=1e-3)
        assert [(RATE_FEATURES[c], int(y), before[y, c], after[y, c]) for y, c in np.argwhere(changed)] == []


def test_weights_of_a_version_with_fewer_features_load_in_their_places() -> None:
    index = index_on(crowd(40, DENSE, seed=8), DENSE, EVERYTHING, [(0, 1, 2)])
    rows, before = 1 + 2 * PREDICATES, FEATURES - 100
    of_rules = index.weights - FEATURES * rows
    old = torch.arange(1.0, 1 + before * rows + of_rules)
    found = in_layout(old, index)
    features = found[: FEATURES * rows].view(rows, FEATURES)
    assert torch.equal(features[:, :before].reshape(-1), old[: before * rows])
    assert not features[:, before:].any()
    assert torch.equal(found[FEATURES * rows :], old[before * rows :])
    assert torch.equal(in_layout(found, index), found)  # this version's stay as they are
    assert torch.equal(in_layout(old[1:], index), old[1:])  # what fits no version is left to be refused
