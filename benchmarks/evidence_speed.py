"""What evidence costs: a training step of each family against a step of the embeddings at rank 200, in one run.

    python -m benchmarks.evidence_speed icews14 --out benchmarks/results/evidence_speed_icews14.json

The steps are those of real training batches, forward and backward, without the optimiser. Figures are ratios to the
embeddings, measured in turns, so that a slow moment of the machine meets all alike.
"""

from __future__ import annotations

import foretime  # noqa: F401, first of all: it sets the environment before torch is imported

# isort: split
import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch

from foretime.config import DataConfig, EvidenceConfig, ModelConfig, RulesConfig
from foretime.data.graph import read_graph
from foretime.evidence.families import FAMILY_NAMES
from foretime.evidence.index import EvidenceIndex, build_index
from foretime.evidence.module import EvidenceComponent
from foretime.files import write_json
from foretime.models import Model, build_model
from foretime.rules.mining import mine_rules
from foretime.runs.finish import peak_memory_mb
from foretime.training.batches import Batch, QuestionPool, step_rows
from foretime.training.memory import memory_kept
from foretime.training.objective import cross_entropy
from foretime.training.trainer import sizes_of


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    graph = read_graph(arguments.graph, DataConfig())
    rules = mine_rules(graph, RulesConfig())
    before = peak_memory_mb()
    indices = {name: build_index(graph, EvidenceConfig(families=[name]), rules) for name in FAMILY_NAMES}
    indices["all families"] = build_index(graph, EvidenceConfig(), rules)
    models: dict[str, Model] = {name: EvidenceComponent(found) for name, found in indices.items()}
    embeddings = ModelConfig(name="tntcomplex", rank=200)
    models["embeddings"] = build_model(embeddings, sizes_of(graph), torch.Generator().manual_seed(0))
    pool = QuestionPool(graph.train.with_inverses(len(graph.predicates)).events(), True)
    steps = max(1, pool.pairs // 1000)
    order = pool.order(0, 1)
    batches = [pool.batch(step_rows(order, step, steps), steps) for step in range(arguments.steps + 1)]
    seconds = {name: [step_seconds(model, batches[0])] for name, model in models.items()}  # the first one compiles
    with memory_kept():  # as in training
        for batch in batches[1:]:
            for name, model in models.items():
                seconds[name].append(step_seconds(model, batch))
    median = {name: float(np.median(values[1:])) for name, values in seconds.items()}
    result = {
        "graph": graph.name,
        "questions_in_a_step": int(np.mean([len(batch.queries.subject) for batch in batches])),
        "share_of_an_embedding_step": {name: round(value / median["embeddings"], 3) for name, value in median.items()},
        "index_mb": round(index_bytes(indices["all families"]) / 1e6, 1),
        "weights": indices["all families"].weights,
        "peak_memory_mb": {"graph and rules": before, "whole benchmark": peak_memory_mb()},
    }
    print(json.dumps(result, indent=2))
    if arguments.out:
        write_json(arguments.out, result)


def step_seconds(model: Model, batch: Batch) -> float:
    """Return how long forward and backward of one training step take."""
    began = time.perf_counter()
    if isinstance(model, EvidenceComponent):
        loss = model.loss(batch.queries, batch.row, batch.objects)
    else:
        loss = cross_entropy(model.score_objects(batch.queries), batch.row, batch.objects)
    loss.backward()
    model.zero_grad(set_to_none=True)
    return time.perf_counter() - began


def index_bytes(index: EvidenceIndex) -> int:
    """Return how much memory the index holds."""
    return sum(column.nbytes for column in index.events if isinstance(column, np.ndarray))


if __name__ == "__main__":
    main()
