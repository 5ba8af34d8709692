"""Boosted trees over named features, as they are applied: the score of a candidate, and what each feature adds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from foretime.errors import RunError
from foretime.reranker.features.extractor import RUNS, Features
from foretime.reranker.tree_arrays import TreeArrays, counts_of, levels

if TYPE_CHECKING:
    from foretime.reranker.tree_kernel import Nodes

FEW = 512
"""Up to how many candidates are scored by one thread: waiting for another would cost more than it saves."""


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Fitted trees, and the names of their features; the arrays have been checked."""

    names: tuple[str, ...]
    arrays: TreeArrays

    def score(self, features: Features) -> NDArray[np.float64]:
        """Return the score of each candidate, (candidates,)."""
        from foretime.reranker.tree_kernel import score_rows  # numba is slow to load

        rows, out = self._rows(features), np.zeros(len(features))
        score_rows(self._nodes, rows, out, _runs(rows))
        return out

    def contributions(self, features: Features) -> NDArray[np.float64]:
        """Return what each feature adds to the score of each candidate, (candidates, features + 1), the base last."""
        from foretime.reranker.tree_kernel import take_apart_rows

        rows, out = self._rows(features), np.zeros((len(features), len(self.names) + 1))
        take_apart_rows(self._nodes, self._subsets, rows, out, _runs(rows))
        out[:, -1] = self._expected
        return out

    def _rows(self, features: Features) -> Features:
        if features.shape[1] != len(self.names):
            raise RunError(
                f"the trees have {len(self.names)} features, and candidates {features.shape[1]}: fitted by another "
                "version, or the configuration was changed; delete the files of the trees, and `foretime train "
                "--resume` fits them again"
            )
        return np.ascontiguousarray(features)  # a kernel is compiled anew for each layout

    @cached_property
    def _nodes(self) -> Nodes:
        from foretime.reranker.tree_kernel import Nodes

        arrays, child = self.arrays, self.arrays.child_of_all
        nodes = len(child)
        above = np.full(nodes + len(arrays.value), -1, dtype=np.int32)
        above[child.ravel()] = np.arange(2 * nodes)
        return Nodes(
            arrays.root.astype(np.int32),
            arrays.missing,
            arrays.feature,
            arrays.threshold,
            arrays.missing_right.astype(np.bool_),
            child.astype(np.int32),
            self._counts[child] / self._counts[:nodes, None],
            above[:nodes],
            above[nodes:][::-1].copy(),  # the number of a leaf is below 0, and counts from the end
            arrays.value,
        )

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        return counts_of(self.arrays)

    @cached_property
    def _subsets(self) -> NDArray[np.float64]:
        """How much each subset of k features weighs in a Shapley value among m: k! (m − k − 1)! / m! at (m − 1, k)."""
        most = max(1, min(len(levels(self.arrays)), len(self.names)))
        found = np.zeros((most, most))
        for m in range(1, most + 1):
            found[m - 1, 0] = 1 / m
            for k in range(1, m):
                found[m - 1, k] = found[m - 1, k - 1] * k / (m - k)
        return found

    @cached_property
    def _expected(self) -> float:
        """The mean score over what the trees were fitted on."""
        arrays = self.arrays
        share = arrays.examples / np.repeat(self._counts[arrays.root], arrays.leaves)
        # one after the other, as LightGBM adds: `np.sum` would add in another order, with other last digits
        trees = np.split(share * arrays.value, arrays.first_leaf[1:])
        return float(np.cumsum([np.cumsum(tree)[-1] for tree in trees])[-1])


def _runs(rows: Features) -> int:
    return 1 if len(rows) <= FEW else RUNS
