"""What the models of predicate and time reach, beside counting and the base model.

    python -m benchmarks.slots RUN [--split test] [--facts 3000] [--base]

Candidates are all predicates, or all steps of the timeline; other answers that train or valid have are filtered out. The
base model is slow to ask, and is ranked on a sample of 300 facts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch

from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.evaluation import Metrics
from foretime.evaluation.counting import Counting
from foretime.evaluation.slots import Slot, SlotScore, candidates, score_filled
from foretime.files import write_json
from foretime.runs.folder import RunFolder
from foretime.runs.loading import load_scorer

RESULTS = Path(__file__).parent / "results"
BASE_FACTS = 300


def metrics_of(score: SlotScore, graph: Graph, slot: Slot, facts: Facts) -> dict[str, Any]:
    """Return the metrics of the true answers' realistic ranks."""
    ranks = []
    for scores, answer in candidates(score, graph, slot, facts):
        own = scores.gather(1, answer[:, None])
        ranks.append((scores > own).sum(1) + ((scores == own).sum(1) + 1) / 2)
    return Metrics.of(torch.cat(ranks).double().numpy()).to_dict()


def sample(facts: Facts, count: int) -> Facts:
    """Return some facts, drawn by a fixed seed; all of them if `count` is 0."""
    if not count or count >= len(facts):
        return facts
    return facts.take(np.random.default_rng(0).choice(len(facts), count, replace=False))


def main() -> None:
    """Rank, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--split", default="valid", choices=("valid", "test"))
    parser.add_argument("--facts", type=int, default=0, help="how many facts, drawn at random; 0 for all")
    parser.add_argument("--base", action="store_true", help="rank the base model too")
    asked = parser.parse_args()
    folder = RunFolder.open(asked.run)
    graph = folder.graph()
    scorer, counting = load_scorer(folder, folder.config(), graph), Counting(graph)
    found: dict[str, Any] = {"run": folder.path.name, "split": asked.split}
    for slot in ("predicate", "time"):
        facts = sample(graph.facts(asked.split), asked.facts)
        ways = {"model": (scorer.score_slot, facts), "counting": (counting.score_slot, facts)}
        if asked.base:
            few = sample(facts, BASE_FACTS)
            ways["base"] = (lambda name, some: score_filled(scorer.model, graph, name, some), few)
        found[slot] = {name: metrics_of(score, graph, slot, some) for name, (score, some) in ways.items()}
        for name, figures in found[slot].items():
            print(slot, name, {key: round(value, 4) for key, value in figures.items()}, flush=True)
    write_json(RESULTS / f"slots_{graph.name}_{asked.split}.json", found)


if __name__ == "__main__":
    main()
