"""Small runs with a re-ranker, one for each way of fitting it, with a record of what each model was shown."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from foretime.config import Config, RerankerConfig
from foretime.data.facts import Facts
from foretime.data.graph import Graph, read_graph
from foretime.runs import jobs, reranking
from foretime.runs.folder import RunFolder
from foretime.runs.life import train

Row = tuple[int, ...]
FITS: tuple[str, ...] = get_args(RerankerConfig.model_fields["fit"].annotation)


def rows_of(facts: Facts) -> list[Row]:
    return list(zip(*(column.tolist() for column in facts.columns()), strict=True))


@dataclass
class Reranked:
    """A trained run: what each base model has trained on, and what examples were made of: (unseen, seen) each."""

    run: RunFolder
    trained: list[set[Row]] = field(default_factory=list)
    asked: list[tuple[set[Row], set[Row]]] = field(default_factory=list)


def train_watched(graph: Graph, config: Config, folder: Path) -> Reranked:
    found = Reranked(RunFolder(folder / "run"))

    class Watched(jobs.Trainer):
        def __init__(self, run, config, graph, callback, facts=None, *others):
            found.trained.append(set(rows_of(facts)))
            super().__init__(run, config, graph, callback, facts, *others)

    def watched(*arguments):
        *_, unseen, seen = arguments
        found.asked.append((set(rows_of(unseen)), set(rows_of(seen))))
        return examples(*arguments)

    examples = reranking._examples
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "Trainer", Watched)
        patch.setattr(reranking, "_examples", watched)
        train(graph, config, found.run.path)
    return found


def interval_graph(path: Path) -> Graph:
    """Six lands that head and join each other, some without a known end."""
    draw, rows = np.random.default_rng(1), {}
    for _ in range(200):
        subject, host, start = draw.integers(6), draw.integers(6), draw.integers(1990, 2010)
        end = (start, start + 4, "####-##-##")[draw.integers(3)]
        rows[f"land {subject}\t{'heads' if subject % 2 else 'joins'}\tland {host}\t{start}\t{end}"] = None
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return read_graph(path, Config().data.model_copy(update={"granularity": "year"}))
