from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime.data.splitting import SplitRows, split_rows
from foretime.errors import ConfigError

shares = st.sampled_from([0.0, 0.1, 0.2, 0.45])


def assert_partition(parts: SplitRows, count: int) -> None:
    assert sorted(np.concatenate(parts).tolist()) == list(range(count))
    for part in parts:
        assert part.tolist() == sorted(part.tolist())


@given(st.integers(1, 200), shares, shares, st.integers(0, 5))
def test_a_random_split_puts_every_row_into_one_part(count: int, valid: float, test: float, seed: int) -> None:
    parts = split_rows(np.zeros(count), "random", valid, test, seed)
    assert_partition(parts, count)
    assert len(parts.train) >= 1
    assert abs(len(parts.valid) - count * valid) <= 1
    assert abs(len(parts.test) - count * test) <= 1


def test_a_random_split_is_chosen_by_its_seed() -> None:
    one, same, other = (split_rows(np.zeros(100), "random", 0.1, 0.1, seed).test.tolist() for seed in (1, 1, 2))
    assert one == same != other


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), shares, shares)
def test_a_split_by_time_keeps_time_in_order_and_times_whole(times: list[int], valid: float, test: float) -> None:
    array = np.array(times)
    parts = split_rows(array, "time", valid, test)
    assert_partition(parts, len(times))
    filled = [array[part] for part in parts if len(part)]
    for before, after in pairwise(filled):
        assert before.max() <= after.min()
    wanted = 1 + (valid > 0) + (test > 0)
    if len(set(times)) >= wanted and len(times) >= 3:
        assert len(filled) == wanted
        for before, after in pairwise(filled):
            assert before.max() < after.min()


def test_a_cut_moves_to_the_nearest_border_between_two_times() -> None:
    times = np.array([1] * 7 + [2] * 2 + [3] * 1)
    assert [len(part) for part in split_rows(times, "time", 0.2, 0.2)] == [7, 2, 1]


def test_a_time_is_cut_only_where_there_are_fewer_times_than_splits() -> None:
    parts = split_rows(np.array([5] * 10), "time", 0.2, 0.3)
    assert [part.tolist() for part in parts] == [[0, 1, 2, 3, 4], [5, 6], [7, 8, 9]]


def test_shares_that_leave_nothing_to_train_on_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"valid_share 0.5 and test_share 0.5 leave nothing to train on"):
        split_rows(np.zeros(10), "random", 0.5, 0.5)
