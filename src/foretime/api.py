"""Training from Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foretime.config import Config, read_config
from foretime.data.graph import Graph, read_graph
from foretime.runs.folder import RunFolder
from foretime.runs.life import train as _train
from foretime.training.callbacks import Callback
from foretime.training.settings import changed_config


def train(
    graph: Graph | Any,
    folder: Path | str,
    config: Config | Path | str | None = None,
    settings: Mapping[str, Any] | None = None,
    callback: Callback | None = None,
    jobs: int = 1,
) -> RunFolder:
    """Train a model on a graph in a new run folder, and return the run, its report written.

    `graph` is a loaded graph, or anything that `load` reads. `config` is a configuration or its TOML file; `settings`
    replace some of its values by their dotted names: `{"model.name": "tntcomplex", "training.epochs": 20}`.
    `jobs` is how many trainings are done side by side, where the run has several.
    """
    base = config if isinstance(config, Config) else read_config(config) if config is not None else Config()
    source = {"data.path": str(graph)} if isinstance(graph, str | Path) else {}
    final = changed_config(base, {**(settings or {}), **source}, "train: ")
    graph = graph if isinstance(graph, Graph) else read_graph(graph, final.data)
    return _train(graph, final, folder, callback, jobs=jobs)
