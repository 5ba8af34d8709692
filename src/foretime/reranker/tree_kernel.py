"""Boosted trees over rows of features, compiled by numba: the score of each row, and what each feature adds to it.

Sums of leaves are taken in the order in which LightGBM takes them, so that they have the same last digits.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Final

import numpy as np
from numba import njit

from foretime.evidence.threads import in_runs

inlined = njit(inline="always")
"""For the parts of one kernel: a call with this many arrays would cost more than what it does."""
NONE: Final = 0
ZERO: Final = 1
NAN: Final = 2
"""What counts as missing in a feature: nothing, so that NaN is read as 0; zero and NaN; NaN."""
NEAR_ZERO: Final = float(np.float32(1e-35))
"""Up to what size a value is read as 0."""
BLOCK: Final = 64
"""How many rows go down one tree before the next: its nodes stay near, and no row waits for another."""

Nodes = namedtuple(
    "Nodes",
    ("root", "missing", "feature", "threshold", "missing_right", "child", "share", "above", "above_leaf", "value"),
)
"""All trees one after the other. `root` is that of each tree, `missing` what is missing in each feature.

Of each node: its feature; the threshold, above which a value goes right; whether a missing one does; its two children,
(nodes, 2); the share of what it was fitted on that went to each; and what is above it: twice the number of the parent,
and 1 more for its right child. A child (and a root) below 0 is `~` a leaf. Of each leaf: what is above it, and its
value.
"""


@inlined
def _read(row, missing, values):
    """Write the features of a row as the trees read them: what is missing is NaN."""
    for j in range(len(values)):
        value = np.float64(row[j])
        if abs(value) <= NEAR_ZERO:
            value = np.nan if missing[j] == ZERO else 0.0
        elif value != value and missing[j] == NONE:
            value = 0.0
        values[j] = value


@inlined
def _find_leaves(feature, threshold, missing_right, child, root, values, at, moving):
    """Write the leaf of each row as `~` its number; `moving` is scratch.

    All rows go down one step after the other, so that the processor need not wait for one to know where the next goes.
    """
    for i in range(len(at)):
        at[i], moving[i] = root, i
    count = len(at) if root >= 0 else 0
    while count > 0:
        left = 0
        for k in range(count):
            i = moving[k]
            node = at[i]
            value = values[i, feature[node]]
            right = (value > threshold[node]) | ((value != value) & missing_right[node])
            node = child[node, np.int64(right)]
            at[i], moving[left] = node, i
            left += node >= 0
        count = left


@in_runs
def score_rows(nodes, rows, out, runs, run):
    """Add the value of the leaf of each tree that a row falls into to `out`, (rows,)."""
    begin, end = len(rows) * run // runs, len(rows) * (run + 1) // runs
    # a field of a named tuple costs more than a step down a tree, so each is taken out once
    missing, leaf_value = nodes.missing, nodes.value
    feature, threshold, missing_right, child = nodes.feature, nodes.threshold, nodes.missing_right, nodes.child
    values = np.empty((BLOCK, len(missing)))
    at, moving = np.empty(BLOCK, dtype=np.int32), np.empty(BLOCK, dtype=np.int32)
    for first in range(begin, end, BLOCK):
        count = min(BLOCK, end - first)
        for i in range(count):
            _read(rows[first + i], missing, values[i])
        for root in nodes.root:
            _find_leaves(feature, threshold, missing_right, child, root, values, at[:count], moving)
            for i in range(count):
                out[first + i] += leaf_value[~at[i]]


@in_runs
def take_apart_rows(nodes, subsets, rows, out, runs, run):
    """Add what each feature adds to the score of a row to `out`, (rows, features).

    `subsets` is how much a subset of each size weighs among so many features, up to the most that a way to a leaf has.

    The way to a leaf is kept by its features: between which values a row must lie to go there (`low`, `high`), whether
    it does if the value is missing, and which share does where the feature is not known.
    """
    begin, end, most = len(rows) * run // runs, len(rows) * (run + 1) // runs, len(subsets)
    missing, leaf_value, above_leaf = nodes.missing, nodes.value, nodes.above_leaf
    feature, threshold, missing_right = nodes.feature, nodes.threshold, nodes.missing_right
    node_share, above = nodes.share, nodes.above
    values, on_way = np.empty((BLOCK, len(missing))), np.empty(most, dtype=np.int32)
    low, high, share, sums = np.empty(most), np.empty(most), np.empty(most), np.empty(most + 1)
    if_missing, leads = np.empty(most, dtype=np.bool_), np.empty(most, dtype=np.bool_)
    for first in range(begin, end, BLOCK):
        count = min(BLOCK, end - first)
        for i in range(count):
            _read(rows[first + i], missing, values[i])
        for leaf in range(len(leaf_value)):
            size = _find_way(
                feature, threshold, missing_right, node_share, above, above_leaf[leaf],
                on_way, low, high, if_missing, share,
            )  # fmt: skip
            for i in range(count):
                apart = _lead(values, i, size, on_way, low, high, if_missing, share, leads) * leaf_value[leaf]
                _add_leaf(apart, size, on_way, share, leads, subsets, sums, out, first + i)


@inlined
def _find_way(
    feature, threshold, missing_right, node_share, above, up, on_way, low, high, if_missing, share
):  # fmt: skip
    """Write the way to a leaf; return how many features it has."""
    size = 0
    while up >= 0:
        node, right = up >> 1, up & 1
        place = 0
        while place < size and on_way[place] != feature[node]:
            place += 1
        if place == size:
            on_way[place], if_missing[place], share[place] = feature[node], True, 1.0
            low[place], high[place] = np.nan, np.inf  # no value is below NaN, or at it
            size += 1
        if right and not threshold[node] <= low[place]:
            low[place] = threshold[node]
        if not right and threshold[node] < high[place]:
            high[place] = threshold[node]
        if_missing[place] &= missing_right[node] == right
        share[place] *= node_share[node, right]
        up = above[node]
    return size


@inlined
def _lead(values, i, size, on_way, low, high, if_missing, share, leads):
    """Write which features lead a row to the leaf; return the product of the shares of the others."""
    apart = 1.0
    for j in range(size):
        value = values[i, on_way[j]]
        here = ((value != value) & if_missing[j]) | ((value == value) & ~((value <= low[j]) | (value > high[j])))
        apart *= 1.0 if here else share[j]
        leads[j] = here
    return apart


@inlined
def _add_leaf(apart, size, on_way, share, leads, subsets, sums, out, row):
    """Add what each feature adds to the score of a row by one leaf: its Shapley value.

    A subset of the features is known, and by the others a row goes to the leaf by their shares. If a known feature
    leads elsewhere, nothing of it does: only subsets of the features that lead here count. `sums[k]` are those of size
    k, each the product of the shares of the others that lead here: the coefficients of ∏ (x + share).
    """
    count, sums[0] = 0, 1.0
    for j in range(size):
        if leads[j]:
            count += 1
            sums[count] = sums[count - 1]
            for k in range(count - 1, 0, -1):
                sums[k] = sums[k - 1] + share[j] * sums[k]
            sums[0] *= share[j]
    elsewhere = 0.0
    if count < size:
        for k in range(count + 1):
            elsewhere += subsets[size - 1, k] * sums[k]
    for j in range(size):
        if leads[j]:
            without, total = 0.0, 0.0
            for k in range(count, 0, -1):  # the coefficients without this factor
                without = sums[k] - share[j] * without
                total += subsets[size - 1, k - 1] * without
            out[row, on_way[j]] += apart * total * (1.0 - share[j])
        else:
            out[row, on_way[j]] -= apart * elsewhere
