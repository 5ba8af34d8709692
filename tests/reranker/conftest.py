"""Small runs with two stages, one for each way of fitting the second."""

import pytest
from staged_runs import FITS, Staged, train_watched

from foretime.config import Config, override
from foretime.data.graph import Graph


@pytest.fixture(scope="session")
def staged_config(small_config: Config) -> Config:
    changes = {"evidence.use": True, "model.rank": 4, "training.epochs": 2, "rules.support": 2}
    reranker = {"use": True, "folds": 3, "top": 5, "trees": 12, "leaves": 5, "leaf_candidates": 4}
    return override(small_config, changes | {f"reranker.{name}": value for name, value in reranker.items()})


@pytest.fixture(scope="session")
def staged(small_graph: Graph, staged_config: Config, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Staged]:
    return {
        fit: train_watched(small_graph, override(staged_config, {"reranker.fit": fit}), tmp_path_factory.mktemp(fit))
        for fit in FITS
    }
