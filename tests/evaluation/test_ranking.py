"""Ranks against a definition written as plain loops, and what must hold for any ranking."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from foretime.config import ModelConfig
from foretime.data.facts import Facts
from foretime.errors import ForetimeError
from foretime.evaluation import AnswerIndex, rank
from foretime.evaluation.ranks import questions_at_once, score_questions
from foretime.models import Sizes, build_model

ENTITIES = 5
SCORES = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=ENTITIES, max_size=ENTITIES)
FACT = st.tuples(st.integers(0, 2), st.just(0), st.integers(0, ENTITIES - 1), st.integers(0, 1))


def table(rows: list[tuple[int, ...]]) -> Facts:
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    return Facts(*columns, columns[-1]) if len(columns) == 4 else Facts(*columns)


def rank_one(scores: list[float], answer: int, known: list[int]) -> tuple[float, float, float]:
    index = AnswerIndex(table([(0, 0, other, 0) for other in [answer, *known]]))
    ranks = rank(lambda _: torch.tensor([scores]), table([(0, 0, answer, 0)]), index)
    return ranks.optimistic[0], ranks.realistic[0], ranks.pessimistic[0]


@given(scores=SCORES, answer=st.integers(0, 4), known=st.lists(st.integers(0, 4), max_size=3))
def test_ranks_count_the_competitors_that_are_not_filtered_out(scores, answer, known):
    competitors = [scores[o] for o in range(ENTITIES) if o != answer and o not in known]
    higher = sum(score > scores[answer] for score in competitors)
    equal = sum(score == scores[answer] for score in competitors)
    assert rank_one(scores, answer, known) == (1 + higher, 1 + higher + equal / 2, 1 + higher + equal)


@given(scores=SCORES, answer=st.integers(0, 4), competitor=st.integers(0, 4), rise=st.floats(0.1, 10))
def test_a_better_competitor_never_improves_a_rank(scores, answer, competitor, rise):
    raised = [score + rise if o == competitor and o != answer else score for o, score in enumerate(scores)]
    assert rank_one(raised, answer, [])[1] >= rank_one(scores, answer, [])[1]


@pytest.mark.parametrize(
    ("scores", "known", "ranks"),
    [([3, 2, 1, 0, 0], [], (3, 3, 3)), ([3, 2, 1, 0, 0], [0], (2, 2, 2)), ([0] * ENTITIES, [], (1, 3, 5))],
)
def test_ranks_that_can_be_read_off(scores, known, ranks):
    assert rank_one([float(score) for score in scores], 2, known) == ranks


@settings(max_examples=20)
@given(facts=st.lists(FACT, min_size=1, max_size=20), size=st.integers(1, 7))
def test_the_batch_size_changes_nothing(facts, size):
    scores = torch.randn(3, ENTITIES, generator=torch.Generator().manual_seed(3)).round(decimals=1)
    questions = table(facts)

    def scorer(part: Facts) -> torch.Tensor:
        return scores[torch.from_numpy(part.subject)]

    index = AnswerIndex(questions)
    assert np.array_equal(rank(scorer, questions, index, size).realistic, rank(scorer, questions, index).realistic)


@pytest.mark.parametrize("place", range(ENTITIES))
def test_a_score_that_is_not_a_number_is_an_error_whoever_has_it(place):
    scores = [0.0] * ENTITIES
    scores[place] = float("nan")
    with pytest.raises(ForetimeError, match=r"not numbers: lower training.learning_rate"):
        rank_one(scores, answer=0, known=[])


@pytest.mark.parametrize(
    ("start", "end", "steps"), [(2, 2, [2]), (0, 3, [0, 3]), (-1, 3, [3]), (1, -1, [1]), (3, 0, [0, 3])]
)
def test_a_fact_is_scored_by_the_mean_over_its_known_ends(start, end, steps):
    sizes = Sizes(entities=ENTITIES, predicates=2, times=4)
    model = build_model(ModelConfig(name="lcge", rank=3, init_scale=1.0), sizes, torch.Generator().manual_seed(4))
    scores = score_questions(model, table([(1, 0, 2, start, end), (1, 0, 2, 1, 1)]))[0]
    at_steps = [score_questions(model, table([(1, 0, 2, step)]))[0] for step in steps]
    torch.testing.assert_close(scores, torch.stack(at_steps).mean(0))


@pytest.mark.parametrize(("candidates", "together"), [(7_000, 256), (65_536, 256), (1_000_000, 16), (100_000_000, 1)])
def test_fewer_questions_are_scored_at_once_where_each_has_more_candidates(candidates: int, together: int):
    assert questions_at_once(candidates) == together
