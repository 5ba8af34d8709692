"""Counts told roughly, so that a reranker cannot know a fact by its numbers.

A reranker is fitted on facts that the index of events holds, and each is described without itself. A candidate that has
57 events with others in every other question has 56 where it is the answer: trees that know an entity by its exact
counts learn that one less is right, which holds for no new question. The order of magnitude does not tell this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

EXACT: Final = ("_before", "_after", "_nearest", "name_overlap", "predicate", "_likeness", "_length")
"""How columns end that say no count: distances in time, what names or intervals share, the number of the predicate."""
COMPANY: Final = "shared_neighbours"
"""How sums over the company of a subject begin: they never add facts of the candidate with the subject."""
SHARES: Final = ("_share", "_habit")
SMALLEST_SHARE: Final = 2.0**-16


def is_count(column: str) -> bool:
    """Return whether a column counts events, or adds them up."""
    return not column.endswith(EXACT) and not is_share(column) and not column.startswith(COMPANY)


def is_share(column: str) -> bool:
    """Return whether a column is a share of two counts."""
    return column.endswith(SHARES)


def tell_roughly(columns: Sequence[str], values: NDArray[np.float32]) -> None:
    """Round the counts and shares among columns, (candidates, columns), in place: counts to 0, 1, 3, 7, 15, …"""
    for place, column in enumerate(columns):
        if is_count(column):
            values[:, place] = np.exp2(np.rint(np.log2(1 + values[:, place]))) - 1
        elif is_share(column):
            values[:, place] = np.exp2(np.rint(np.log2(np.maximum(values[:, place], SMALLEST_SHARE))))
