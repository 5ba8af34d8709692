"""Trees that score the candidates of an open slot: fitted so that scores are log-probabilities, saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.config import RerankerConfig
from foretime.data.facts import Ids
from foretime.reranker.boosted_trees import BoostedTrees
from foretime.reranker.features.extractor import Features
from foretime.reranker.tree_arrays import DEEPEST
from foretime.reranker.tree_files import of_another_version, read_trees, write_trees
from foretime.reranker.tree_text import read_tree_text

WHAT = "foretime slot {slot} 1"
"""What the file of a slot's trees says it is; the number goes up whenever features change their meaning."""
LEAVES = 15
"""Fewer leaves than the re-ranker has: there are fewer questions, and more features are alike."""
BOOSTING: Mapping[str, float] = {
    "learning_rate": 0.15,
    "max_delta_step": 1.0,
    "lambda_l2": 1.0,
    "min_sum_hessian_in_leaf": 0.3,
}
"""How far a tree may go: the Hessian of a candidate that is still unlikely is close to 0, and without a largest step
the first trees would go so far that the later ones have to go back."""


class SlotExamples(NamedTuple):
    """Candidates of questions: their features, an array for each batch, which is right, and how many each has."""

    features: list[Features]
    right: NDArray[np.int8]
    sizes: Ids


def save_trees(path: Path, slot: str, trees: BoostedTrees) -> None:
    """Write the trees of a slot."""
    write_trees(path, WHAT.format(slot=slot), trees)


def load_trees(path: Path, slot: str, features: tuple[str, ...]) -> BoostedTrees:
    """Return the trees of a slot in a file; raise `RunError` if they have others than these features.

    Trees of an earlier version may have fewer of them.
    """
    trees, _ = read_trees(path, WHAT.format(slot=slot))
    if not set(trees.names) <= set(features):
        raise of_another_version(path, "has other features", "features other than those of candidates now")
    return trees


def fit_trees(
    names: tuple[str, ...],
    examples: SlotExamples,
    config: RerankerConfig,
    seed: int,
    threads: int,
    boosting: Mapping[str, float] = BOOSTING,
) -> BoostedTrees:
    """Return the trees under whose softmax the right candidates are most likely."""
    import lightgbm

    data = lightgbm.Dataset(examples.features, label=examples.right, feature_name=list(names))
    settings: dict[str, Any] = {
        "objective": softmax_objective(examples.right, examples.sizes),
        "num_leaves": min(LEAVES, config.leaves),
        "max_depth": DEEPEST,
        "min_data_in_leaf": config.leaf_candidates,
        "feature_fraction": config.feature_share,
        "max_bin": 127,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": threads,
        "verbosity": -1,
        **boosting,
    }
    return read_tree_text(lightgbm.train(settings, data, num_boost_round=config.trees).model_to_string())


def softmax_objective(right: NDArray[np.int8], sizes: Ids) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Return the gradient of −ln softmax(score) of the right candidates, and the diagonal of its Hessian."""
    first = np.cumsum(sizes) - sizes

    def gradient(scores: NDArray[np.float64], _: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        weight = np.exp(scores - np.repeat(np.maximum.reduceat(scores, first), sizes))
        probability = weight / np.repeat(np.add.reduceat(weight, first), sizes)
        return probability - right, np.maximum(probability * (1 - probability), 1e-6)

    return gradient
