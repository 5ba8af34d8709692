"""Intervals and tests against simpler ways to count the same."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime.evaluation.resampling import adjust, bootstrap, contributions, pair_up, sign_flip_test

RANKS = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(0, 4)), min_size=1, max_size=30)


@given(RANKS)
def test_sums_by_fact_are_those_of_a_loop(rows: list[tuple[int, int, int]]):
    first, second, fact = (np.array(column) for column in zip(*rows, strict=True))
    paired = pair_up(first.astype(float), second.astype(float), fact)
    for place, number in enumerate(sorted(set(fact.tolist()))):
        own = [row for row in rows if row[2] == number]
        assert paired.questions[place] == len(own)
        assert paired.first[place] == pytest.approx(
            [sum(1 / a for a, _, _ in own), *(sum(a <= k for a, _, _ in own) for k in (1, 3, 10))]
        )
        assert paired.second[place, 0] == pytest.approx(sum(1 / b for _, b, _ in own))
    assert paired.means()[0] == pytest.approx(contributions(first.astype(float)).mean(0))


def test_the_interval_of_a_difference_is_that_of_paired_draws():
    generator = np.random.default_rng(3)
    first = generator.integers(1, 50, size=400).astype(float)
    second = np.maximum(1, first - (generator.random(400) < 0.3))
    fact = np.tile(np.arange(200), 2)
    found = bootstrap(pair_up(first, second, fact), resamples=300, seed=5)
    again, draws = np.random.default_rng(5), []
    for _ in range(300):
        drawn = again.integers(200, size=200)
        both = np.concatenate([drawn, drawn + 200])
        draws.append(np.mean(1 / second[both]) - np.mean(1 / first[both]))
    assert found.difference[0] == pytest.approx(np.quantile(draws, [0.025, 0.975]))
    # the same questions are hard for both, so the difference is far surer than either figure
    assert np.ptp(found.difference[0]) < np.ptp(found.first[0]) / 2


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
