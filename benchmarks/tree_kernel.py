"""Compares the trees of re-rankers as they are applied here with LightGBM, which fits them: numbers and speed.

    python -m benchmarks.tree_kernel                              on a run of the built-in world, which it trains
    python -m benchmarks.tree_kernel runs/icews14-quick …         on runs: their re-rankers are fitted again

The re-ranker is fitted on the first fold, as in the run, and both apply the same trees to the same candidates. Times are
the best of several, taken in turn, on as many threads; they are given as how many times longer LightGBM takes. Writes the
table of docs/evidence.md.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch

from benchmarks.marks import DOCS, fill
from foretime.config import Config, RerankerConfig
from foretime.data.graph import read_graph
from foretime.data.synthetic import generate_world
from foretime.evaluation import AnswerIndex
from foretime.files import write_json
from foretime.reranker.features.extractor import FeatureExtractor
from foretime.reranker.folds import folds_of
from foretime.reranker.tree_text import read_tree_text
from foretime.reranker.trees import Examples, boost, examples_of
from foretime.runs.folder import RunFolder
from foretime.runs.life import train
from foretime.runs.loading import load_base_model, load_model
from foretime.runs.machine import machine
from foretime.training.settings import changed_config

OUT = Path(__file__).parent / "results" / "tree_kernel.json"
WORLD = {
    "model.name": "rules",
    "evidence.use": True,
    "training.epochs": 3,
    "training.valid_every": 3,
    "reranker.use": True,
    "reranker.slots": False,
}
FILE, EXPLAINED = 100_000, 100


def main() -> None:
    """Fit, compare, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="*")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--repeat", type=int, default=7)
    given = parser.parse_args()
    threads = int(vars(numba.config)["NUMBA_NUM_THREADS"])
    torch.set_num_threads(threads)
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for run in given.runs or [trained_world(Path(scratch))]:
            examples, config = examples_in(run)
            found[run.name] = compared(examples, config, threads, given.repeat)
            print(run.name, json.dumps(found[run.name], indent=2))
    head = machine() | {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}
    write_json(given.out, {"machine": head, "runs": found})
    write_page(found)


def write_page(found: dict[str, dict[str, Any]], page: Path = DOCS / "evidence.md") -> None:
    """Write the table between its marks."""
    lines = [
        "| run | trees | scores apart | contributions apart | one question | 100,000 candidates | one explanation |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, one in found.items():
        times, took = one["lightgbm_takes_times"], one["milliseconds"]
        each = {act: took[act] / (EXPLAINED if act == "explanations" else 1) for act in times}
        cells = [f"{times[act]:.1f} × ({each[act]:,.2f})" for act in times]
        apart = f"{one['scores_apart']:.1g} | {one['contributions_apart']:.1g}"
        lines.append(f"| {name} | {one['trees']} | {apart} | {' | '.join(cells)} |")
    fill(page, {"tree kernel": lines})


def trained_world(folder: Path) -> Path:
    """Return a run of the built-in world with a re-ranker of the usual size."""
    generate_world().write(folder / "data")
    return train(read_graph(folder / "data"), changed_config(Config(), WORLD), folder / "world", with_test=False).path


def examples_in(path: Path) -> tuple[Examples, RerankerConfig]:
    """Return examples as the re-ranker of a run is fitted on, and its settings."""
    run = RunFolder.open(path)
    config, graph, model = run.config(), run.graph(), load_model(run, run.config(), run.graph())
    extractor, inverses = FeatureExtractor.of(graph, model, config.evidence), len(graph.predicates)
    if config.reranker.fit == "valid":
        scored_by, unseen, seen = model, graph.valid, graph.train
    else:
        fold, alone = folds_of(graph, config), config.reranker.fit == "fold"
        scored_by = model if alone else load_base_model(run.fold(0), config, graph, run.rules(graph))
        unseen, seen = graph.train.take(fold == 0), graph.train.take(fold != 0)
    known = AnswerIndex(seen.with_inverses(inverses))
    with_inverses = unseen.with_inverses(inverses)
    found = examples_of(scored_by, extractor, with_inverses, known, config.reranker.top, path)
    return replace(found, features=found.features[:]), config.reranker


def compared(examples: Examples, config: RerankerConfig, threads: int, repeat: int) -> dict[str, Any]:
    """Return how far the numbers are apart, and how many times longer LightGBM takes."""
    booster = boost([examples], config, 0, threads)
    trees = read_tree_text(booster.model_to_string())
    draw = np.random.default_rng(0)
    file = examples.features[draw.integers(len(examples.features), size=FILE)]
    question, explained = file[: config.top], file[:EXPLAINED]
    rows = [explained[row : row + 1] for row in range(EXPLAINED)]
    apart = trees.contributions(explained) - booster.predict(explained, pred_contrib=True, num_threads=threads)
    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "question": (
            lambda: booster.predict(question, num_threads=1),
            lambda: trees.score(question),
        ),
        "file": (lambda: booster.predict(file, num_threads=threads), lambda: trees.score(file)),
        "explanations": (
            lambda: [booster.predict(row, pred_contrib=True, num_threads=1) for row in rows],
            lambda: [trees.contributions(row) for row in rows],
        ),
    }
    times = {name: best_of(repeat, *pair) for name, pair in pairs.items()}
    return {
        "trees": len(trees.arrays.leaves),
        "leaves": len(trees.arrays.value),
        "features": len(trees.names),
        "scores_apart": float(np.abs(trees.score(file) - booster.predict(file, num_threads=threads)).max()),
        "contributions_apart": float(np.abs(apart).max()),
        "candidates": {"question": len(question), "file": FILE, "explanations": EXPLAINED},
        "lightgbm_takes_times": {name: round(theirs / ours, 2) for name, (theirs, ours) in times.items()},
        "milliseconds": {name: round(1000 * ours, 2) for name, (_, ours) in times.items()},
    }


def best_of(repeat: int, *acts: Callable[[], Any]) -> list[float]:
    """Return the shortest time of each act, in seconds; they are done in turn, after each has been done once."""
    for act in acts:
        act()
    found = [float("inf")] * len(acts)
    for _ in range(repeat):
        for place, act in enumerate(acts):
            begin = time.perf_counter()
            act()
            found[place] = min(found[place], time.perf_counter() - begin)
    return found


if __name__ == "__main__":
    main()
