"""The table of the README: for each data set the best clean run of each kind.

It is chosen by the MRR on valid of the first seed, which all have; its figure is a mean over all its seeds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from benchmarks.paper.published import published
from foretime.config import Config, read_config
from foretime.reranker.folds import fits_on_valid

KINDS = {
    "rules, no embeddings": lambda config: config.model.name == "rules",
    "LCGE alone": lambda config: config.model.name == "lcge" and not config.evidence.use,
    "LCGE, evidence, re-ranker": lambda config: config.model.name == "lcge" and config.evidence.use,
}


class Kept(NamedTuple):
    """A kept run: its name, its configuration, and its MRR on valid and on test."""

    name: str
    config: Config
    valid: float
    test: float

    @property
    def data(self) -> str:
        """The name of its data set."""
        return Path(self.config.data.path).name

    @property
    def family(self) -> str:
        """The name that runs with other seeds share."""
        return re.sub(r"-seed\d+$", "", self.name)


def summary_table(kept: dict[str, dict[str, Any]], results: Path) -> str:
    """Return test MRR by data set and kind as a Markdown table; runs that saw valid facts in training are left out."""
    runs = [
        Kept(name, config, report["valid"]["all"]["mrr"], report["test"]["all"]["mrr"])
        for name, report in kept.items()
        if "test" in report and not fits_on_valid((config := read_config(results / name / "config.toml")).reranker)
    ]
    lines = [f"| test MRR | {' | '.join(KINDS)} | printed for LCGE |", "| --- |" + " --- |" * (len(KINDS) + 1)]
    for data in dict.fromkeys(run.data for run in runs):
        of_data = [run for run in runs if run.data == data]
        cells = [_cell(run for run in of_data if kind(run.config)) for kind in KINDS.values()]
        lines.append(f"| {data} | {' | '.join(cells)} | {published().table3[data]['LCGE']['mrr']:.3f} |")
    return "\n".join(lines)


def _cell(runs: Iterable[Kept]) -> str:
    """Return the figure of the family that is best on valid."""
    families: dict[str, list[Kept]] = {}
    for run in runs:
        families.setdefault(run.family, []).append(run)
    if not families:
        return "–"
    best = max(families.values(), key=lambda family: min(family, key=lambda run: run.config.training.seed).valid)
    seeds = f", {len(best)} seeds" if len(best) > 1 else ""
    return f"[{mean(run.test for run in best):.4f}](results/{best[0].name}/config.toml){seeds}"
