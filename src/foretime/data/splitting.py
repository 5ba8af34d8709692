"""Splits of facts into train, valid and test, as pure functions of times, shares and a seed."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from foretime.data.facts import Ids
from foretime.errors import ConfigError

SPLITS = ("train", "valid", "test")
SplitBy = Literal["random", "time", "quantile"]


class SplitRows(NamedTuple):
    """The rows of each split, in the order of the file."""

    train: Ids
    valid: Ids
    test: Ids


def split_rows(times: Ids, by: SplitBy, valid_share: float, test_share: float, seed: int = 0) -> SplitRows:
    """Return a split of rows that is drawn by the seed or, by `time`, has train before valid and valid before test.

    By `quantile`, train, valid and test are cut as the Temporal Graph Benchmark does it (see `quantile_rows`).

    By time, all rows of one time go to one split: each cut is moved to the nearest border between two times, the
    earlier one of two that are equally near. Only if there are fewer times than splits is a time cut, in the order of
    the file. Raises `ConfigError` for shares that leave nothing to train on.
    """
    count = len(times)
    valid, test = _sizes(count, valid_share, test_share)
    if by == "random":
        order = np.random.default_rng(seed).permutation(count)
        part = np.zeros(count, dtype=np.int8)
        part[order[:valid]], part[order[valid:][:test]] = 1, 2
        return SplitRows(*(np.flatnonzero(part == number) for number in range(len(SPLITS))))
    if by == "quantile":
        return quantile_rows(times, valid_share, test_share)
    if by != "time":
        raise ConfigError(f"a split by {by!r} cannot be made; use random, time or quantile")
    order = np.argsort(times, kind="stable")
    wanted = sorted({count - valid - test, count - test} - {count})
    borders = np.flatnonzero(np.diff(times[order])) + 1
    cuts = _nearest(borders, wanted) if len(borders) >= len(wanted) else wanted
    ends = dict(zip(wanted, cuts, strict=True))
    first, second = (ends.get(want, count) for want in (count - valid - test, count - test))
    return SplitRows(*(np.sort(part) for part in (order[:first], order[first:second], order[second:])))


def quantile_rows(times: Ids, valid_share: float, test_share: float) -> SplitRows:
    """Return the rows up to one quantile of the times, up to a second one, and after it.

    The quantiles are those of the Temporal Graph Benchmark, which counts each fact twice, with its inverse: train ends
    with the quantile 1 - valid_share - test_share, and valid with the quantile 1 - test_share.
    """
    shares = [1 - valid_share - test_share, 1 - test_share]
    valid_after, test_after = np.quantile(np.repeat(times, 2), shares)
    return SplitRows(
        np.flatnonzero(times <= valid_after),
        np.flatnonzero((times > valid_after) & (times <= test_after)),
        np.flatnonzero(times > test_after),
    )


def _nearest(borders: Ids, wanted: list[int]) -> list[int]:
    """Return for each wanted cut the nearest border, rising, with enough borders left for those that follow."""
    cuts: list[int] = []
    lowest = 0
    for number, want in enumerate(wanted):
        free = borders[lowest : len(borders) - (len(wanted) - number - 1)]
        chosen = int(np.argmin(np.abs(free - want)))
        cuts.append(int(free[chosen]))
        lowest += chosen + 1
    return cuts


def _sizes(count: int, valid_share: float, test_share: float) -> tuple[int, int]:
    """Return the rows of valid and of test: by their shares, but one at least where three rows are there."""
    if valid_share + test_share >= 1.0:
        raise ConfigError(f"valid_share {valid_share:g} and test_share {test_share:g} leave nothing to train on")
    least = 1 if count >= 3 else 0
    valid = max(round(count * valid_share), least) if valid_share else 0
    test = max(round(count * test_share), least) if test_share else 0
    valid = max(min(valid, count - 1), 0)  # train keeps one row, whatever rounding did
    return valid, max(min(test, count - 1 - valid), 0)
