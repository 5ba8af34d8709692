"""The time of ranking all test questions against the time of its matrix products alone, in one run.

python -m benchmarks.ranking_speed data/icews14 --out benchmarks/results/ranking_speed.json
"""

from __future__ import annotations

import foretime  # noqa: F401, first of all: it sets the environment before torch is imported

# isort: split
import argparse
import json
import statistics
import time
from pathlib import Path

import torch

from foretime.config import Config, override
from foretime.data.graph import read_graph
from foretime.evaluation import AnswerIndex, model_scorer, questions_of, rank
from foretime.files import write_json
from foretime.runs.machine import machine, peak_memory_mb
from foretime.training.trainer import new_model

BATCH = 256


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rank", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    graph = read_graph(arguments.data)
    config = override(Config(), {"model.name": "tntcomplex", "model.rank": arguments.rank})
    model = new_model(config, graph).eval()
    questions = questions_of(graph.test, len(graph.predicates))
    known = AnswerIndex.of(graph, "exact")
    queries, table = torch.randn(BATCH, 2 * arguments.rank), model.entities.detach()

    def rank_all() -> None:
        rank(model_scorer(model), questions, known, BATCH)

    def products_alone() -> None:
        for begin in range(0, len(questions), BATCH):
            queries[: len(questions) - begin] @ table.T

    rank_all()
    rows = []
    for _ in range(arguments.rounds):
        times = []
        for job in (rank_all, products_alone):
            began = time.perf_counter()
            job()
            times.append(time.perf_counter() - began)
        rows.append((times[0] / times[1], *times))
    ratio, ranking, products = (statistics.median(column) for column in zip(*rows, strict=True))
    result = {
        "data": graph.name,
        "questions": len(questions),
        "rank": arguments.rank,
        "ratio": ratio,
        "ranking_seconds": ranking,
        "products_seconds": products,
        "peak_memory_mb": peak_memory_mb(),
        "machine": machine(),
    }
    print(json.dumps(result, indent=2))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
