"""The trainings of a run: of each member, for the first stage itself and, for the second stage, without parts of train.

Each is a training of its own in a folder of its own, so they can be done one after the other or side by side.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from foretime.config import Config
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.rules.table import Rules
from foretime.runs.ensemble import member_config
from foretime.runs.folder import RunFolder
from foretime.runs.reranking import facts_of_base_model, parts_of, parts_trained_without
from foretime.training.callbacks import Callback, OneOfSeveral
from foretime.training.checkpoint import read_progress
from foretime.training.trainer import Trainer


class Job(NamedTuple):
    """One training: the part of train that it leaves out for the second stage, if it leaves any, and its member."""

    part: int | None
    member: int

    @property
    def name(self) -> str:
        """What it is called beside others, from 1; the run's own training has no name."""
        named = (("part", self.part), ("member", self.member or None))
        return ", ".join(f"{word} {number + 1}" for word, number in named if number is not None)

    def folder(self, run: RunFolder) -> RunFolder:
        """Return the folder in which it trains."""
        whole = run if self.part is None else run.fold(self.part)
        return whole.member(self.member) if self.member else whole


def jobs_of(config: Config) -> list[Job]:
    """Return all trainings of a run, its own first."""
    parts = (None, *range(parts_trained_without(config.reranker)))
    return [Job(part, member) for part in parts for member in range(config.training.ensemble_size)]


def facts_of(stage: Job, graph: Graph, config: Config) -> Facts:
    """Return the facts that a stage trains on."""
    if stage.part is None:
        return facts_of_base_model(graph, config)
    return graph.train.take(parts_of(graph, config) != stage.part)


def jobs_left(run: RunFolder, config: Config) -> list[Job]:
    """Return the trainings of a run that are still to be done: once its second stage is fitted, none without parts."""
    fitted = run.reranker_file.exists()
    return [
        stage
        for stage in jobs_of(config)
        if not (fitted and stage.part is not None) and not _is_finished(stage.folder(run).last_file)
    ]


def _is_finished(checkpoint: Path) -> bool:
    return checkpoint.exists() and read_progress(checkpoint).finished


def train_job(
    stage: Job, run: RunFolder, config: Config, graph: Graph, rules: Rules | None, callback: Callback
) -> None:
    """Train a stage to its end, or go on with it."""
    folder = stage.folder(run)
    folder.path.mkdir(parents=True, exist_ok=True)
    facts = facts_of(stage, graph, config)
    Trainer(folder, member_config(config, stage.member), graph, callback, facts, rules).fit()


def train_in_sequence(run: RunFolder, config: Config, graph: Graph, callback: Callback) -> None:
    """Train every stage of a run that is not trained yet."""
    rules = run.rules(graph)
    for stage in jobs_left(run, config):
        if stage.part is not None:
            callback.announce(f"first stage without part {stage.part + 1} of {config.reranker.folds}")
        if config.training.ensemble_size > 1:
            callback.announce(f"member {stage.member + 1} of {config.training.ensemble_size}")
        train_job(stage, run, config, graph, rules, OneOfSeveral(callback, stage.name))
