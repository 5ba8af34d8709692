"""The families of evidence and how their features are numbered: one table that training, ranking and words share."""

from __future__ import annotations

from typing import Final, NamedTuple

OFFSET_EDGES: Final = (1, 2, 4, 7, 14, 30, 90)
"""A distance in steps falls into the first bucket whose edge it does not pass; farther ones into the last."""
OFFSETS: Final = 2 * (len(OFFSET_EDGES) + 1) + 1
"""Features of a distance: the same step, then the buckets before, then the buckets after."""
COUNTS: Final = 8
"""Features of a count: 1, 2, 3–4, 5–8, … 65 and more."""
AFFINITIES: Final = 10
"""Features of an affinity: below 1/8, below 1/4, … 32 and more."""


class Family(NamedTuple):
    """Features of one kind: `first` is the number of the first one."""

    name: str
    first: int
    size: int


PAIR_OFFSET: Final = Family("pair_offset", 0, OFFSETS)
PAIR_COUNT: Final = Family("pair_count", PAIR_OFFSET.first + PAIR_OFFSET.size, COUNTS)
OBJECT_OFFSET: Final = Family("object_offset", PAIR_COUNT.first + PAIR_COUNT.size, OFFSETS)
OBJECT_COUNT: Final = Family("object_count", OBJECT_OFFSET.first + OBJECT_OFFSET.size, COUNTS)
ACTIVE_COUNT: Final = Family("active_count", OBJECT_COUNT.first + OBJECT_COUNT.size, COUNTS)
ACTIVE_OFFSET: Final = Family("active_offset", ACTIVE_COUNT.first + ACTIVE_COUNT.size, OFFSETS)
AFFINITY: Final = Family("affinity", ACTIVE_OFFSET.first + ACTIVE_OFFSET.size, AFFINITIES)
PATH: Final = Family("path", AFFINITY.first + AFFINITY.size, OFFSETS)
FEATURES: Final = PATH.first + PATH.size
"""How many features there are in all."""
PATH_SLOTS: Final = 1 << 14
"""Groundings of path rules that are kept for a question: (candidate, rule) pairs beyond are not looked at."""
RULED: Final = PAIR_OFFSET.size + PAIR_COUNT.size
"""The features of the pair: each has a weight of its own for every pair rule."""


class Reach(NamedTuple):
    """How far evidence is looked for, in steps, and which families are."""

    past_only: bool
    object_window: int
    active_window: int
    path_window: int
    path_events: int
    pair: bool
    object: bool
    active: bool
    affinity: bool
    path: bool
