"""Splits of facts into train, valid and test, as pure functions of times, shares and a seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from foretime.data.facts import Ids
from foretime.errors import ConfigError


class Parts(NamedTuple):
    """The rows of each split, in the order of the file."""

    train: Ids
    valid: Ids
    test: Ids


def split_randomly(count: int, valid_share: float, test_share: float, seed: int) -> Parts:
    """Return a split of `count` rows drawn by the seed."""
    valid, test = _sizes(count, valid_share, test_share)
    shuffled = np.random.default_rng(seed).permutation(count)
    return Parts(np.sort(shuffled[valid + test :]), np.sort(shuffled[:valid]), np.sort(shuffled[valid : valid + test]))


def split_chronologically(times: Ids, valid_share: float, test_share: float) -> Parts:
    """Return a split in which train comes before valid, and valid before test.

    All rows of one time go to one split: each cut is moved to the nearest border between two times, the earlier one of
    two that are equally near. Only if there are fewer times than splits is a time cut, in the order of the file.
    """
    valid, test = _sizes(len(times), valid_share, test_share)
    order = np.argsort(times, kind="stable")
    wanted = sorted({len(times) - valid - test, len(times) - test} - {len(times)})
    borders = np.flatnonzero(np.diff(times[order])) + 1
    cuts = _nearest(borders, wanted) if len(borders) >= len(wanted) else wanted
    ends = dict(zip(wanted, cuts, strict=True))
    first, second = (ends.get(want, len(times)) for want in (len(times) - valid - test, len(times) - test))
    return Parts(np.sort(order[:first]), np.sort(order[first:second]), np.sort(order[second:]))


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
