"""Intervals and tests against simpler ways to count the same."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime.evaluation.resampling import adjust, bootstrap, sign_flip_test, sum_by_fact

RANKS = st.lists(st.tuples(st.integers(1, 20), st.integers(0, 4)), min_size=1, max_size=30)


@given(RANKS)
def test_sums_by_fact_are_those_of_a_loop(rows: list[tuple[int, int]]):
    ranks, fact = (np.array(column) for column in zip(*rows, strict=True))
    sums, count = sum_by_fact(ranks.astype(float), fact, ["mrr", "hits@3"])
    for place, number in enumerate(sorted(set(fact.tolist()))):
        own = [rank for rank, other in rows if other == number]
        assert count[place] == len(own)
        assert sums[place] == pytest.approx([sum(1 / r for r in own), sum(r <= 3 for r in own)])


def mrr_interval(ranks: np.ndarray, fact: np.ndarray, **settings: int) -> np.ndarray:
    return bootstrap(*sum_by_fact(ranks, fact, ["mrr"]), **settings)[0]


def test_the_interval_is_that_of_draws_one_by_one_and_narrows_with_more_facts():
    generator, widths = np.random.default_rng(0), []
    for facts in (50, 5000):
        ranks = generator.integers(1, 10, size=2 * facts).astype(float)
        low, high = mrr_interval(ranks, np.tile(np.arange(facts), 2), resamples=300, seed=5)
        again = np.random.default_rng(5)
        drawn = (again.integers(facts, size=facts) for _ in range(300))
        means = [np.mean(1 / ranks[np.concatenate([rows, rows + facts])]) for rows in drawn]
        assert (low, high) == pytest.approx(np.quantile(means, [0.025, 0.975]))
        assert low < np.mean(1 / ranks) < high
        widths.append(high - low)
    assert widths[1] < widths[0] / 3


def test_all_questions_of_a_fact_are_drawn_together():
    generator = np.random.default_rng(1)
    alike = np.repeat(generator.integers(1, 10, size=50), 40).astype(float)  # 50 facts, 40 equal ranks each
    fact = np.repeat(np.arange(50), 40)
    assert np.ptp(mrr_interval(alike, fact)) > 4 * np.ptp(mrr_interval(alike, np.arange(len(alike))))
    # as wide as that of the facts alone, whatever the order of the questions
    order = generator.permutation(len(alike))
    assert mrr_interval(alike, fact) == pytest.approx(mrr_interval(alike[::40], np.arange(50)))
    assert mrr_interval(alike[order], fact[order]) == pytest.approx(mrr_interval(alike, fact))


def test_a_fact_with_more_questions_weighs_more():
    ranks, fact = np.array([1.0, 1.0, 1.0, 2.0]), np.array([0, 0, 0, 1])
    assert {mrr_interval(ranks, fact, resamples=1, seed=seed)[0] for seed in range(30)} == {1.0, 0.875, 0.5}


@pytest.mark.parametrize("values", [[0.5, 0.2, 0.9, -0.1, 0.3, 0.4, 0.0], [1.0, -1.0, 0.5], [0.25] * 9])
def test_the_sign_flip_test_is_the_share_of_all_signs(values: list[float]):
    observed = abs(sum(values))
    every = [
        abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in product((-1, 1), repeat=len(values))
    ]
    exact = np.mean([total >= observed - 1e-9 for total in every])
    assert sign_flip_test(np.array(values), flips=20_000) == pytest.approx(exact, abs=0.012)


def test_no_difference_is_no_evidence():
    assert sign_flip_test(np.zeros(50), flips=100) == 1.0
    assert sign_flip_test(np.empty(0), flips=100) == 1.0


def test_holm_multiplies_by_what_is_left_and_never_falls():
    assert adjust([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjust([0.9, 0.8]) == [1.0, 1.0]
    assert adjust([]) == []
