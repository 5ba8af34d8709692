"""The one rule by which a contribution is split over what it consists of.

A tree of the re-ranker reads the base score as one number; an explanation says which of the rules behind that number
the contribution belongs to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Split(NamedTuple):
    """The share of each summand, and what is left over: together they are the amount."""

    shares: list[float]
    rest: float


def split(amount: float, sizes: Sequence[float]) -> Split:
    """Return an amount split over summands of some sizes.

    If the amount and the sum of the sizes have the same sign, and the amount is not larger, all shares are in
    proportion, those of the other sign too. Otherwise only summands with the sign of the amount have a share, in
    proportion, and none more than its own size. So no share is ever larger than its summand; what is left over
    belongs to none of them.
    """
    total = math.fsum(sizes)
    if amount * total > 0 and abs(amount) <= abs(total):
        shares = [size * (amount / total) for size in sizes]
        return Split(shares, amount - math.fsum(shares))
    same = [size if size * amount > 0 else 0.0 for size in sizes]
    most = math.fsum(same)
    scale = min(1.0, amount / most) if most else 0.0
    shares = [size * scale for size in same]
    return Split(shares, amount - math.fsum(shares))
