"""Runs to compare: the small one, and a worse one on the same graph."""

from pathlib import Path

import pytest

from foretime.config import Config, override
from foretime.data.graph import Graph


@pytest.fixture(scope="session")
def worse_run(small_graph: Graph, small_config: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from foretime.runs.life import train

    config = override(small_config, {"model.name": "complex", "training.epochs": 2})
    return train(small_graph, config, tmp_path_factory.mktemp("runs") / "worse").path
