import numpy as np
import pytest

from foretime.data.facts import UNKNOWN, Facts
from foretime.evaluation.interval_overlap import aeiou, best_intervals, giou, overlap


def steps(start: int, end: int) -> set[int]:
    return set(range(start, end + 1))


@pytest.mark.parametrize(
    ("true", "said", "wanted_giou", "wanted_aeiou"),
    [
        ((2, 5), (2, 5), 1.0, 1.0),  # equal
        ((3, 3), (3, 3), 1.0, 1.0),  # one step
        ((2, 5), (4, 7), (1 + 2 / 6) / 2, 2 / 6),  # 2 of 6 steps in common
        ((0, 9), (4, 5), (1 + 2 / 10) / 2, 2 / 10),  # one within the other
        ((0, 1), (2, 3), 1 / 2, 1 / 4),  # side by side: no gap, no step in common
        ((0, 0), (9, 9), (1 - 8 / 10) / 2, 1 / 10),  # 8 steps between
    ],
)
def test_overlaps_are_those_counted_by_hand(true, said, wanted_giou, wanted_aeiou):
    pairs = [np.array([end]) for end in (*true, *said)]
    assert giou(*pairs) == pytest.approx([wanted_giou])
    assert aeiou(*pairs) == pytest.approx([wanted_aeiou])


def test_overlaps_are_those_of_sets_of_steps():
    generator = np.random.default_rng(0)
    for _ in range(200):
        (a, b), (c, d) = (sorted(generator.integers(0, 12, 2).tolist()) for _ in range(2))
        one, other = steps(a, b), steps(c, d)
        hull = steps(min(a, c), max(b, d))
        gap = hull - one - other
        pairs = [np.array([end]) for end in (a, b, c, d)]
        assert aeiou(*pairs)[0] == pytest.approx(max(1, len(one & other)) / len(hull))
        wanted = (1 + len(one & other) / len(one | other) - len(gap) / len(hull)) / 2
        assert giou(*pairs)[0] == pytest.approx(wanted)


def test_facts_with_an_unknown_end_are_left_out_and_reversed_ones_are_read_from_their_earlier_end():
    nobody = np.zeros(3, dtype=np.int64)
    facts = Facts(nobody, nobody, nobody, np.array([2, UNKNOWN, 5]), np.array([5, 4, 2]))
    found = overlap(facts, np.array([2, 0, 2]), np.array([5, 0, 3]))
    assert found == (2, pytest.approx((1 + 0.75) / 2), pytest.approx((1 + 0.5) / 2))
    assert overlap(facts.take(slice(1, 2)), np.array([0]), np.array([0])).facts == 0


def test_the_best_interval_is_the_best_of_all():
    generator = np.random.default_rng(1)
    for shares in generator.dirichlet(np.full(8, 0.3), size=20):

        def expected(start: int, end: int, shares=shares) -> float:
            return sum(share / len(steps(min(start, t), max(end, t))) for t, share in enumerate(shares))

        best = max(expected(start, end) for start in range(8) for end in range(start, 8))
        (start,), (end,) = best_intervals(shares[None])
        assert expected(start, end) == pytest.approx(best)
