"""Small runs with a re-ranker, one for each way of fitting it."""

import pytest
from reranked_runs import FITS, Reranked, train_watched

from foretime.config import Config, override
from foretime.data.graph import Graph


@pytest.fixture(scope="session")
def reranked_config(small_config: Config) -> Config:
    changes = {"evidence.use": True, "model.rank": 4, "training.epochs": 2, "rules.support": 2}
    reranker = {"use": True, "folds": 3, "top": 5, "trees": 12, "leaves": 5, "leaf_candidates": 4}
    return override(small_config, changes | {f"reranker.{name}": value for name, value in reranker.items()})


@pytest.fixture(scope="session")
def reranked(
    small_graph: Graph, reranked_config: Config, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Reranked]:
    return {
        fit: train_watched(small_graph, override(reranked_config, {"reranker.fit": fit}), tmp_path_factory.mktemp(fit))
        for fit in FITS
    }
