"""The filters against a definition written as plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime.data.facts import UNKNOWN, Facts
from foretime.evaluation.filters import AnswerIndex, facts_by_step, facts_of_questions, questions_of

END = st.integers(min_value=UNKNOWN, max_value=4)
FACT = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3), END, END).filter(
    lambda fact: fact[3] != UNKNOWN or fact[4] != UNKNOWN
)
FACTS = st.lists(FACT, min_size=1, max_size=30)


def table(rows: list[tuple[int, ...]]) -> Facts:
    return Facts(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))


def holds_at(fact: tuple[int, ...], step: int) -> bool:
    start = -999 if fact[3] == UNKNOWN else fact[3]
    end = 999 if fact[4] == UNKNOWN else fact[4]
    return min(start, end) <= step <= max(start, end)


def brute_force(known: list[tuple[int, ...]], question: tuple[int, ...], name: str) -> set[int]:
    same = [fact for fact in known if fact[:2] == question[:2] and fact[2] != question[2]]
    if name == "exact":
        return {fact[2] for fact in same if fact[3:] == question[3:]}
    times = [end for end in question[3:] if end != UNKNOWN]
    return {fact[2] for fact in same if any(holds_at(fact, time) for time in times)}


@pytest.mark.parametrize("name", ["exact", "valid-at"])
@given(known=FACTS, asked=FACTS)
def test_filtered_answers_are_those_of_the_definition_each_once(name, known, asked):
    question, answer = AnswerIndex(table(known), name).filtered(table(asked))
    pairs = list(zip(question.tolist(), answer.tolist(), strict=True))
    assert len(pairs) == len(set(pairs))
    wanted = [brute_force(known, one, name) for one in asked]
    assert set(pairs) == {(row, found) for row, answers in enumerate(wanted) for found in answers}


@given(FACTS)
def test_points_ask_once_for_every_step_of_an_interval(rows):
    expected = []
    for s, p, o, start, end in rows:
        known = [step for step in (start, end) if step != UNKNOWN]
        expected += [(s, p, o, step, step) for step in range(min(known), max(known) + 1)]
    found = facts_by_step(table(rows))
    assert list(zip(*(column.tolist() for column in found.columns()), strict=True)) == expected


def test_an_answer_true_in_may_is_a_fair_competitor_in_june():
    may, june = 4, 5
    index = AnswerIndex(table([(0, 0, 1, may, may), (0, 0, 2, june, june)]))
    assert index.filtered(table([(0, 0, 2, june, june)])).answer.tolist() == []
    assert index.filtered(table([(0, 0, 2, may, may)])).answer.tolist() == [1]


def test_each_fact_asks_two_questions():
    questions = questions_of(table([(0, 1, 2, 3, 3)]), predicates=2)
    assert questions.subject.tolist() == [0, 2]
    assert questions.predicate.tolist() == [1, 3]
    assert questions.object.tolist() == [2, 0]


@pytest.mark.parametrize("name", ["exact", "valid-at", "points"])
@given(FACTS)
def test_the_fact_of_every_question_is_found(name, rows):
    facts = table(rows)
    questions, fact = questions_of(facts, 2, name), facts_of_questions(facts, name)
    assert len(fact) == len(questions)
    for row, (subject, predicate, object_, step) in enumerate(
        zip(questions.subject, questions.predicate, questions.object, questions.start, strict=True)
    ):
        s, p, o, *ends = rows[fact[row]]
        assert (subject, predicate, object_) == ((s, p, o) if predicate < 2 else (o, p + 2, s))
        assert name != "points" or holds_at((s, p, o, *ends), step)


def test_questions_beyond_all_indexed_facts_have_no_filtered_answers():
    index = AnswerIndex(table([(0, 1, 0, 0, 0), (1, 0, 2, 0, 0)]))
    # subject 0 with predicate 2 must not be read as subject 1 with predicate 0
    assert len(index.filtered(table([(0, 2, 0, 0, 0), (0, 1, 2, 9, 9), (5, 1, 2, 0, 0)])).answer) == 0
