"""How much memory it takes to fit the re-ranker of a large graph out of fold.

    python -m benchmarks.reranker_memory ../shared/data/icews05-15 --folds 5

The settings are those of the preset `quick` for such a graph, with so many folds left out. The features of a sample of
each fold are extracted, and written again until there are as many candidates as the folds have: what is binned takes
the same memory as those of all its facts. The base model is the evidence alone, trained on a sample too. Peaks
are of this process, with the graph, the evidence and all libraries in it.
"""

from __future__ import annotations

import foretime  # noqa: F401, first of all: it sets the environment before torch is imported

# isort: split
import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from foretime.config import Config
from foretime.data.graph import Graph, read_graph
from foretime.evaluation import AnswerIndex
from foretime.files import write_json
from foretime.models import Model
from foretime.reranker.feature_file import FeatureFile
from foretime.reranker.features.extractor import FeatureExtractor
from foretime.reranker.folds import folds_of
from foretime.reranker.trees import Examples, examples_of, fit
from foretime.runs.life import create_run
from foretime.runs.machine import machine, peak_memory_mb
from foretime.runs.presets import preset_config
from foretime.training.callbacks import Callback
from foretime.training.trainer import Trainer

TRAINED, EXTRACTED = 2_000, 400
"""Facts that the base model is trained on, and of each fold those whose features are extracted."""


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--folds", type=int, default=5, help="folds of train that the re-ranker is fitted on")
    parser.add_argument("--trees", type=int, default=20, help="how many trees are fitted")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/reranker_memory.json"))
    arguments = parser.parse_args()
    found = measure(arguments.graph, arguments.folds, arguments.trees)
    print(json.dumps(found, indent=2))
    write_json(arguments.out, found)


def measure(path: Path, folds: int, trees: int) -> dict[str, Any]:
    """Return the sizes of the examples, and the peaks of memory after each step."""
    graph = read_graph(path)
    fixed = {"evidence.epochs": 1, "training.threads": 1, "reranker.trees": trees}
    config = preset_config("quick", graph, fixed)
    peaks = {}
    with tempfile.TemporaryDirectory() as folder:
        model = trained(graph, config, Path(folder))
        peaks["trained"] = peak_memory_mb()
        began = time.process_time()
        examples = [of_fold(number, model, graph, config, Path(folder)) for number in range(folds)]
        peaks["with the features"] = peak_memory_mb()
        extracted = time.process_time()
        fit(examples, config.reranker, 0, 1)
        peaks["with the trees"] = peak_memory_mb()
        fitted = time.process_time()
    candidates, features = (sum(len(some.right) for some in examples), len(examples[0].names))
    return {
        "graph": graph.name,
        "folds": f"{folds} of {config.reranker.folds}",
        "candidates": candidates,
        "features": features,
        "features_mb": round(candidates * features * 4 / 1e6, 1),
        "trees": trees,
        "peak_memory_mb": peaks,
        "processor_seconds": {"features": round(extracted - began, 1), "trees": round(fitted - extracted, 1)},
        "machine": machine(),
    }


def trained(graph: Graph, config: Config, folder: Path) -> Model:
    """Return the evidence as a model, trained on a sample of the facts."""
    run = create_run(graph, config, folder / "run")
    some = np.random.default_rng(0).choice(len(graph.train), TRAINED, replace=False)
    quiet = config.model_copy(update={"training": config.training.model_copy(update={"valid_limit": 100})})
    trainer = Trainer(run, quiet, graph, Callback(), graph.train.take(some))
    trainer.fit()
    return trainer.model.eval()


def of_fold(number: int, model: Model, graph: Graph, config: Config, folder: Path) -> Examples:
    """Return as many examples as a fold has, those of a sample of it again and again."""
    fold, predicates = folds_of(graph, config), len(graph.predicates)
    extractor = FeatureExtractor.of(graph, model, config.evidence)
    seen = AnswerIndex(graph.train.take(fold != number).with_inverses(predicates))
    unseen = graph.train.take(np.flatnonzero(fold == number)[:EXTRACTED]).with_inverses(predicates)
    few = examples_of(model, extractor, unseen, seen, config.reranker.top, folder)
    times = int((fold == number).sum()) // EXTRACTED
    features, rows = FeatureFile(folder), few.features[:]
    for _ in range(times):
        features.append(rows)
    return Examples(few.names, features, np.tile(few.right, times), np.tile(few.sizes, times))


if __name__ == "__main__":
    main()
