"""Quantised counts, so that a re-ranker cannot recognise a fact by its numbers.

A re-ranker is fitted on facts that the index of events holds, and the features of each leave out the fact itself. A
candidate with 57 events in every other question has 56 where it is the answer: trees that know an entity by its exact
counts learn that one less is right, which holds for no new question. The order of magnitude does not reveal this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

EXACT: Final = ("_before", "_after", "_nearest", "name_overlap", "predicate", "_likeness", "_length")
"""Suffixes of features that are no counts: distances in time, overlaps of names or intervals, the predicate's id."""
SHARED_NEIGHBOURS: Final = "shared_neighbours"
"""How sums over shared neighbours begin: they never add facts of the candidate with the subject."""
_SUMS: Final = (SHARED_NEIGHBOURS, "background_shared")
SHARES: Final = ("_share", "_habit")
SMALLEST_SHARE: Final = 2.0**-16


def is_count(feature: str) -> bool:
    """Return whether a feature counts events, or adds them up."""
    return not feature.endswith(EXACT) and not is_share(feature) and not feature.startswith(_SUMS)


def is_share(feature: str) -> bool:
    """Return whether a feature is a share of two counts."""
    return feature.endswith(SHARES)


def quantise(features: Sequence[str], values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the values, (candidates, features), rounded in place where they are counts or shares: 0, 1, 3, 7, 15, …"""
    for place, feature in enumerate(features):
        if is_count(feature):
            values[:, place] = np.exp2(np.rint(np.log2(1 + values[:, place]))) - 1
        elif is_share(feature):
            values[:, place] = np.exp2(np.rint(np.log2(np.maximum(values[:, place], SMALLEST_SHARE))))
    return values
