"""Boosted trees as arrays, and what must be true of them before anything follows a child or reads a leaf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Ids

DEEPEST = 1_000
"""How many nodes may stand one below the other."""
MOST_LEAVES = 2**30


class TreeArrays(NamedTuple):
    """All trees one after the other, each with one node fewer than leaves; the first node of a tree is its root.

    A child is the number of a node or, below 0, `~` the number of a leaf, both counted within the tree.
    """

    leaves: NDArray[np.int32]
    """How many leaves each tree has, (trees,)."""
    feature: NDArray[np.int32]
    """The feature that each node asks about, (nodes,)."""
    threshold: NDArray[np.float64]
    """Above which it goes to the second child, (nodes,); infinity if only missing values do."""
    missing_right: NDArray[np.uint8]
    """Whether a missing value goes to the second child, (nodes,)."""
    child: NDArray[np.int32]
    """The children, (nodes, 2)."""
    value: NDArray[np.float64]
    """What each leaf adds to the score, (leaves,)."""
    examples: NDArray[np.int32]
    """How many examples of the fitting fell into it, (leaves,)."""
    missing: NDArray[np.uint8]
    """What is missing in each feature, (features,): nothing, zero and NaN, NaN; see `tree_kernel`."""

    @property
    def first_node(self) -> Ids:
        """The number of the first node of each tree, (trees,)."""
        nodes = self.leaves.astype(np.int64) - 1
        return np.cumsum(nodes) - nodes

    @property
    def first_leaf(self) -> Ids:
        """The number of the first leaf of each tree, (trees,)."""
        return np.cumsum(self.leaves, dtype=np.int64) - self.leaves

    @property
    def tree(self) -> Ids:
        """The tree of each node, (nodes,)."""
        return np.repeat(np.arange(len(self.leaves)), self.leaves - 1)

    @property
    def root(self) -> Ids:
        """The root of each tree, counted over all trees, (trees,)."""
        return np.where(self.leaves > 1, self.first_node, ~self.first_leaf)

    @property
    def child_of_all(self) -> Ids:
        """The children, counted over all trees, (nodes, 2)."""
        tree = self.tree
        node, leaf = self.first_node[tree, None], self.first_leaf[tree, None]
        return np.where(self.child >= 0, self.child + node, self.child - leaf)


_LAYOUT: dict[str, tuple[type[np.generic], int]] = {
    "leaves": (np.int32, 1),
    "feature": (np.int32, 1),
    "threshold": (np.float64, 1),
    "missing_right": (np.uint8, 1),
    "child": (np.int32, 2),
    "value": (np.float64, 1),
    "examples": (np.int32, 1),
    "missing": (np.uint8, 1),
}
"""The type and the number of dimensions of each array."""
_Faults = Iterable[tuple[Any, str]]


def arrays_of(found: Mapping[str, NDArray[Any]], features: int) -> TreeArrays:
    """Return the arrays of trees over so many features; raise `ValueError`, saying what is wrong, if they are none."""
    for name, (dtype, dimensions) in _LAYOUT.items():
        if name not in found:
            raise ValueError(f"it lacks {name}")
        array = found[name]
        if (array.dtype, array.ndim) != (np.dtype(dtype), dimensions):
            raise ValueError(f"{name} has {array.ndim} dimensions of {array.dtype}")
    if unknown := sorted(found.keys() - _LAYOUT):
        raise ValueError(f"it has {unknown[0]!r}, which no trees have")
    arrays = TreeArrays(**{name: np.array(found[name], order="C") for name in _LAYOUT})
    for faults in (_sizes, _values, _children):  # each looks at what those before have found to be right
        for is_wrong, fault in faults(arrays, features):
            if is_wrong:
                raise ValueError(fault)
    if len(levels(arrays)) > DEEPEST:
        raise ValueError(f"a tree is deeper than {DEEPEST:,} nodes")
    return arrays


def _sizes(arrays: TreeArrays, features: int) -> _Faults:
    trees, leaves = len(arrays.leaves), len(arrays.value)
    yield trees == 0, "it has no trees"
    yield arrays.leaves.min() < 1, "a tree has no leaf"
    yield leaves > MOST_LEAVES, f"it has more than {MOST_LEAVES:,} leaves"
    yield arrays.leaves.sum(dtype=np.int64) != leaves, f"its trees do not have {leaves:,} leaves together"
    yield len(arrays.examples) != leaves, f"it has {len(arrays.examples):,} counts of {leaves:,} leaves"
    yield arrays.child.shape[1] != 2, f"a node has {arrays.child.shape[1]} children"
    for name in ("feature", "threshold", "missing_right", "child"):
        found = len(getattr(arrays, name))
        yield found != leaves - trees, f"{name} has {found:,} values for {leaves - trees:,} nodes"
    yield len(arrays.missing) != features, f"missing has {len(arrays.missing):,} values for {features:,} features"


def _values(arrays: TreeArrays, features: int) -> _Faults:
    feature = arrays.feature
    yield np.any((feature < 0) | (feature >= features)), f"a node asks about none of its {features:,} features"
    yield not np.all(arrays.threshold > -np.inf), "a threshold is no number"
    yield not np.all(np.isfinite(arrays.value)), "the value of a leaf is not finite"
    yield np.any(arrays.examples < 1), "a leaf is of no examples"
    yield np.any(arrays.missing_right > 1), "missing_right has a value that is neither 0 nor 1"
    yield np.any(arrays.missing > 2), "missing has a value that is not 0, 1 or 2"


def _children(arrays: TreeArrays, _: int) -> _Faults:
    tree, child = arrays.tree, arrays.child
    leaves, own = arrays.leaves[tree, None], np.arange(len(tree)) - arrays.first_node[tree]
    yield np.any((child < -leaves) | (child >= leaves - 1)), "a child is out of its tree"
    yield np.any((child >= 0) & (child <= own[:, None])), "a child comes before its parent"
    all_ = arrays.child_of_all
    reached = np.bincount(np.where(all_ >= 0, all_, len(tree) + ~all_).ravel())
    yield reached.max(initial=0) > 1, "a child has two parents"  # so that another one has none


def levels(arrays: TreeArrays) -> list[Ids]:
    """Return the nodes at each depth, counted over all trees, from the roots down to the first that is too deep."""
    child = arrays.child_of_all
    found: list[Ids] = []
    here = arrays.root[arrays.leaves > 1]
    while len(here) and len(found) <= DEEPEST:
        found.append(here)
        below = child[here].ravel()
        here = below[below >= 0]
    return found


def counts_of(arrays: TreeArrays) -> Ids:
    """Return how many examples of the fitting came by each node and leaf, at their numbers over all trees.

    Those of the leaves stand at the end in reverse, where their numbers, below 0, find them.
    """
    child = arrays.child_of_all
    counts = np.concatenate([np.zeros(len(child), dtype=np.int64), arrays.examples[::-1]])
    for here in reversed(levels(arrays)):
        counts[here] = counts[child[here]].sum(1)
    return counts
