"""Trees that score the candidates of an open slot: fitted so that scores are log-probabilities, saved as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.config import RerankerConfig
from foretime.data.facts import Ids
from foretime.errors import RunError
from foretime.files import write_text
from foretime.reranker.features.extractor import Features
from foretime.reranker.trees import read_booster

if TYPE_CHECKING:
    from lightgbm import Booster

HEADER = "foretime slot {slot} 1"
"""How the file of a slot's trees begins; the number goes up whenever features change their meaning."""
LEAVES = 15
LEARNING_RATE = 0.07
"""Fewer leaves and smaller steps than the re-ranker has: there are fewer questions, and more features are alike."""


class SlotExamples(NamedTuple):
    """Candidates of questions: features, which one is right, and how many candidates each question has."""

    features: Features
    right: NDArray[np.int8]
    sizes: Ids


@dataclass(frozen=True)
class SlotTrees:
    """Fitted trees of one slot."""

    slot: str
    booster: Booster

    def score(self, features: Features) -> NDArray[np.float64]:
        """Return the score of each candidate, (candidates,)."""
        return np.asarray(self.booster.predict(features), dtype=np.float64)

    def contributions(self, features: Features) -> NDArray[np.float64]:
        """Return what each feature adds to the score of each candidate, (candidates, features + 1), the base last."""
        return np.asarray(self.booster.predict(features, pred_contrib=True), dtype=np.float64)

    def save(self, path: Path) -> None:
        """Write the trees as text."""
        write_text(path, f"{HEADER.format(slot=self.slot)}\n{self.booster.model_to_string()}")

    @classmethod
    def load(cls, path: Path, slot: str, features: tuple[str, ...]) -> SlotTrees:
        """Return the trees in a file; raise `RunError` unless they have these features."""
        try:
            head, _, body = path.read_text(encoding="utf-8").partition("\n")
        except ValueError as error:
            raise RunError(f"{path}: damaged: {error}; {_remedy(path)}") from None
        if not re.fullmatch(re.escape(HEADER.format(slot=slot)), head):
            raise RunError(f"{path}: begins with {head[:40]!r}: fitted by another version; {_remedy(path)}")
        booster = read_booster(path, body)
        if tuple(booster.feature_name()) != features:
            raise RunError(f"{path}: fitted by another version, on other features; {_remedy(path)}")
        return cls(slot, booster)


def _remedy(path: Path) -> str:
    return f"delete it, and foretime train --resume {path.parent} fits it again"


def fit_trees(
    slot: str, names: tuple[str, ...], examples: SlotExamples, config: RerankerConfig, seed: int, threads: int
) -> SlotTrees:
    """Return the trees under whose softmax the right candidates are most likely."""
    import lightgbm

    data = lightgbm.Dataset(examples.features, label=examples.right, feature_name=list(names))
    settings: dict[str, Any] = {
        "objective": softmax_objective(examples.right, examples.sizes),
        "num_leaves": min(LEAVES, config.leaves),
        "learning_rate": LEARNING_RATE,
        "min_data_in_leaf": config.leaf_candidates,
        "min_sum_hessian_in_leaf": 1.0,
        "feature_fraction": config.feature_share,
        "max_bin": 127,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": threads,
        "verbosity": -1,
    }
    return SlotTrees(slot, lightgbm.train(settings, data, num_boost_round=config.trees))


def softmax_objective(right: NDArray[np.int8], sizes: Ids) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Return the gradient of −ln softmax(score) of the right candidates, and the diagonal of its Hessian."""
    first = np.cumsum(sizes) - sizes

    def gradient(scores: NDArray[np.float64], _: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        weight = np.exp(scores - np.repeat(np.maximum.reduceat(scores, first), sizes))
        probability = weight / np.repeat(np.add.reduceat(weight, first), sizes)
        return probability - right, np.maximum(probability * (1 - probability), 1e-6)

    return gradient
