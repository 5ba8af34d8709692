"""Small runs with two stages, one for each way of fitting the second, with a record of what each stage was shown."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from foretime.config import Config, RerankerConfig
from foretime.data.facts import Facts
from foretime.data.graph import Graph, read_graph
from foretime.runs import jobs as stages
from foretime.runs import reranking as second_stage
from foretime.runs.folder import RunFolder
from foretime.runs.life import train

Row = tuple[int, ...]
FITS: tuple[str, ...] = get_args(RerankerConfig.model_fields["fit"].annotation)


def rows_of(facts: Facts) -> list[Row]:
    return list(zip(*(column.tolist() for column in facts.columns()), strict=True))


@dataclass
class Staged:
    """A trained run: what each first stage has trained on, and what examples were made of: (asked, known) each."""

    run: RunFolder
    trained: list[set[Row]] = field(default_factory=list)
    asked: list[tuple[set[Row], set[Row]]] = field(default_factory=list)


def train_watched(graph: Graph, config: Config, folder: Path) -> Staged:
    staged = Staged(RunFolder(folder / "run"))

    class Watched(stages.Trainer):
        def __init__(self, run, config, graph, callback, facts=None, rules=None):
            staged.trained.append(set(rows_of(facts)))
            super().__init__(run, config, graph, callback, facts, rules)

    def watched(model, describer, graph, config, facts, seen):
        staged.asked.append((set(rows_of(facts)), set(rows_of(seen))))
        return examples(model, describer, graph, config, facts, seen)

    examples = second_stage._examples
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "Trainer", Watched)
        patch.setattr(second_stage, "_examples", watched)
        train(graph, config, staged.run.path)
    return staged


def interval_graph(path: Path) -> Graph:
    """Six lands that head and join each other, some without a known end."""
    draw, rows = np.random.default_rng(1), {}
    for _ in range(200):
        subject, host, start = draw.integers(6), draw.integers(6), draw.integers(1990, 2010)
        end = (start, start + 4, "####-##-##")[draw.integers(3)]
        rows[f"land {subject}\t{'heads' if subject % 2 else 'joins'}\tland {host}\t{start}\t{end}"] = None
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return read_graph(path, Config().data.model_copy(update={"granularity": "year"}))
