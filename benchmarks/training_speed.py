"""How much of the machine a training step uses, and how it compares with the loop that the field writes.

    python -m benchmarks.training_speed data/icews14 --out benchmarks/results/training_speed.json

Everything is measured in one run, interleaved, and printed as ratios: seconds on a shared machine mean little. The
machine's own peak is the best of many products of two matrices of the step's own shape. The plain loop has sparse
embeddings, `CrossEntropyLoss`, one row for each question, and Adagrad, eager, as the field's repositories do.
"""

from __future__ import annotations

import foretime  # noqa: F401, first of all: it sets the environment before torch is imported

# isort: split
import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from foretime.config import Config, RulesConfig, override
from foretime.data.graph import Graph, read_graph
from foretime.files import write_json
from foretime.rules.table import Rules
from foretime.runs.folder import RunFolder
from foretime.runs.machine import machine, peak_memory_mb
from foretime.training.callbacks import Callback
from foretime.training.memory import memory_kept
from foretime.training.precision import has_bfloat16
from foretime.training.settings import complete_config
from foretime.training.trainer import Trainer

RULES = 2000
CANDIDATES = 2000


class PlainTNTComplEx(nn.Module):
    """TNTComplEx with sparse embeddings: the baseline to be beaten."""

    def __init__(self, entities: int, predicates: int, times: int, rank: int) -> None:
        super().__init__()
        sizes = (entities, predicates, times, predicates)
        self.tables = nn.ModuleList([nn.Embedding(size, 2 * rank, sparse=True) for size in sizes])
        self.rank = rank
        for table in self.tables:
            table.weight.data *= 1e-2

    def forward(self, question: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the scores of all entities and the factors of the N3 penalty; `question` is (batch, 4)."""
        d = self.rank
        s, p, o, t, r = (self.tables[i](question[:, column]) for i, column in ((0, 0), (1, 1), (0, 2), (2, 3), (3, 1)))
        pt = p[:, :d] * t[:, :d] - p[:, d:] * t[:, d:], p[:, d:] * t[:, :d] + p[:, :d] * t[:, d:]
        full = pt[0] + r[:, :d], pt[1] + r[:, d:]
        query = s[:, :d] * full[0] - s[:, d:] * full[1], s[:, d:] * full[0] + s[:, :d] * full[1]
        table = self.tables[0].weight
        scores = query[0] @ table[:, :d].t() + query[1] @ table[:, d:].t()
        factors = tuple(
            torch.sqrt(re**2 + im**2 + 1e-20)
            for re, im in ((s[:, :d], s[:, d:]), pt, (r[:, :d], r[:, d:]), (o[:, :d], o[:, d:]))
        )
        return scores, factors


class PlainComplEx(nn.Module):
    """ComplEx with sparse embeddings: the commonsense part of a plain LCGE, every question scored on its own."""

    def __init__(self, entities: int, predicates: int, rank: int) -> None:
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(size, 2 * rank, sparse=True) for size in (entities, predicates)])
        self.rank = rank
        for table in self.tables:
            table.weight.data *= 1e-2

    def forward(self, question: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the scores of all entities and the factors of the N3 penalty; `question` is (batch, 4)."""
        d = self.rank
        s, p, o = (self.tables[i](question[:, column]) for i, column in ((0, 0), (1, 1), (0, 2)))
        query = s[:, :d] * p[:, :d] - s[:, d:] * p[:, d:], s[:, d:] * p[:, :d] + s[:, :d] * p[:, d:]
        table = self.tables[0].weight
        scores = query[0] @ table[:, :d].t() + query[1] @ table[:, d:].t()
        return scores, tuple(torch.sqrt(x[:, :d] ** 2 + x[:, d:] ** 2 + 1e-20) for x in (s, p, o))


def plain_step(graph: Graph, rank: int, batch_size: int, commonsense: bool) -> Callable[[], int]:
    """Return a function that does one step of the plain loop and returns its number of questions."""
    questions = graph.train.with_inverses(len(graph.predicates))
    table = torch.from_numpy(
        np.stack([questions.subject, questions.predicate, questions.object, questions.start], axis=1)
    )
    table = table[torch.randperm(len(table))]
    entities, predicates = len(graph.entities), 2 * len(graph.predicates)
    models = nn.ModuleList([PlainTNTComplEx(entities, predicates, len(graph.timeline), rank)])
    if commonsense:
        models.append(PlainComplEx(entities, predicates, rank // 2))
    optimizer = torch.optim.Adagrad(models.parameters(), lr=0.1)
    cross_entropy = nn.CrossEntropyLoss(reduction="mean")
    position = 0

    def step() -> int:
        nonlocal position
        batch = table[position : position + batch_size]
        position = (position + batch_size) % (len(table) - batch_size)
        loss = torch.zeros(())
        for model in models:
            scores, factors = model(batch)
            penalty = sum(torch.sum(torch.abs(factor) ** 3) for factor in factors) / len(batch)
            loss = loss + cross_entropy(scores, batch[:, 2]) + 0.01 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return len(batch)

    return step


class OurStep:
    """One step of our own trainer at a time."""

    def __init__(self, graph: Graph, settings: dict[str, Any], folder: Path, rules: Rules | None) -> None:
        config = complete_config(override(Config(), settings))
        self._trainer = Trainer(RunFolder(folder), config, graph, Callback(), rules=RunFolder(folder).rules(graph))
        self._trainer.model.take_rules(rules)
        self._orders = [pool.order(0, 1) for pool in self._trainer._pools]
        self._step = 0
        self.questions = self._trainer._pools[0].pairs / self._trainer.steps
        part_widths = [2 * part.model.entities.shape[1] for part in self._trainer.model.components()]
        rows = [pool.distinct / self._trainer.steps for pool in self._trainer._pools]
        # three products for each part: scores, and the gradients of the queries and of the entities
        self.products = sum(3 * r * len(graph.entities) * width for r, width in zip(rows, part_widths, strict=True))

    def __call__(self) -> int:
        """Do the next step and return its number of questions."""
        self._trainer._step(self._orders, self._step % self._trainer.steps)
        self._step += 1
        return round(self.questions)


def product_peak(rows: int, entities: int, width: int) -> float:
    """Return the floating-point operations per second of the machine's own product of the step's shape, the best of 3."""
    query, table = torch.randn(rows, width), torch.randn(entities, width)
    best = min(_seconds(lambda: query @ table.T) for _ in range(3))
    return 2 * rows * entities * width / best


def some_rules(graph: Graph, count: int) -> Rules:
    """Return the most confident temporal rules of the graph, `count` of them."""
    from foretime.rules.mining import mine_rules

    rules = mine_rules(graph, RulesConfig(head_coverage=0.01))
    return rules.take(slice(count))


def measure(graph: Graph, rank: int, batch_size: int, rounds: int, folder: Path) -> dict[str, Any]:
    """Return the medians over rounds in which everything is measured once, one after the other."""
    base = {"model.rank": rank, "training.batch_size": batch_size}
    rules = some_rules(graph, RULES)
    guided = {**base, "model.name": "lcge"}
    ours = {
        "tntcomplex": OurStep(graph, {**base, "model.name": "tntcomplex"}, folder, None),
        "lcge": OurStep(graph, guided, folder, None),
        "lcge_with_rules": OurStep(graph, guided, folder, rules),
    }
    if len(graph.entities) > CANDIDATES:
        fewer = {**base, "model.name": "tntcomplex", "training.candidates": CANDIDATES}
        ours["tntcomplex_with_candidates"] = OurStep(graph, fewer, folder, None)
    if has_bfloat16():
        rounded = {**base, "model.name": "tntcomplex", "training.precision": "bfloat16"}
        ours["tntcomplex_in_bfloat16"] = OurStep(graph, rounded, folder, None)
    plain = {
        "tntcomplex": plain_step(graph, rank, batch_size, commonsense=False),
        "lcge": plain_step(graph, rank, batch_size, commonsense=True),
    }
    for warm in (*plain.values(), *ours.values()):
        warm()
    rows: list[dict[str, float]] = []
    for _ in range(rounds):
        given_back = _seconds(ours["tntcomplex"])
        with memory_kept():
            ours["tntcomplex"]()  # takes what the next ones keep
            seconds = {name: _seconds(step) for name, step in ours.items()}
        peak = product_peak(batch_size, len(graph.entities), 2 * rank)
        row = {"peak_gflops": peak / 1e9}
        for name, step in plain.items():
            plain_speed = batch_size / _seconds(step)
            speed = ours[name].questions / seconds[name]
            row |= {
                f"{name}_share_of_peak": ours[name].products / seconds[name] / peak,
                f"{name}_questions_per_s": speed,
                f"{name}_plain_questions_per_s": plain_speed,
                f"{name}_speed_up": speed / plain_speed,
            }
        row["memory_kept_speed_up"] = given_back / seconds["tntcomplex"]
        row["rules_cost"] = seconds["lcge_with_rules"] / seconds["lcge"] - 1
        if "tntcomplex_with_candidates" in seconds:
            row["candidates_speed_up"] = seconds["tntcomplex"] / seconds["tntcomplex_with_candidates"]
        if "tntcomplex_in_bfloat16" in seconds:
            row["bfloat16_speed_up"] = seconds["tntcomplex"] / seconds["tntcomplex_in_bfloat16"]
        rows.append(row)
    medians = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    return medians | {"rules": len(rules), "candidates": CANDIDATES}


def _seconds(step: Callable[[], object]) -> float:
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rank", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    graph = read_graph(arguments.data)
    with tempfile.TemporaryDirectory() as folder:
        result = measure(graph, arguments.rank, arguments.batch_size, arguments.rounds, Path(folder))
    result |= {"data": graph.name, "rank": arguments.rank, "batch_size": arguments.batch_size}
    result |= {"rounds": arguments.rounds, "peak_memory_mb": peak_memory_mb(), "machine": machine()}
    print(json.dumps(result, indent=2))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
