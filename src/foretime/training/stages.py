"""The trainings of a run: of each member, for the first stage itself and, for the second stage, without parts of train.

Each is a training of its own in a folder of its own, so they can be done one after the other or side by side.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from foretime.config import Config
from foretime.data.dataset import Dataset
from foretime.data.facts import Facts
from foretime.rules.rule import RuleTable
from foretime.training.checkpoint import read_progress
from foretime.training.listeners import Listener, OneOfSeveral
from foretime.training.members import member_config
from foretime.training.runs import RunFolder
from foretime.training.second_stage import facts_of_first_stage, parts_of, parts_trained_without
from foretime.training.trainer import Trainer


class Stage(NamedTuple):
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


def stages_of(config: Config) -> list[Stage]:
    """Return all trainings of a run, its own first."""
    parts = (None, *range(parts_trained_without(config.combiner)))
    return [Stage(part, member) for part in parts for member in range(config.training.members)]


def facts_of(stage: Stage, dataset: Dataset, config: Config) -> Facts:
    """Return the facts that a stage trains on."""
    if stage.part is None:
        return facts_of_first_stage(dataset, config)
    return dataset.train.take(parts_of(dataset, config) != stage.part)


def stages_left(run: RunFolder, config: Config) -> list[Stage]:
    """Return the trainings of a run that are still to be done: once its second stage is fitted, none without parts."""
    fitted = run.combiner_file.exists()
    return [
        stage
        for stage in stages_of(config)
        if not (fitted and stage.part is not None) and not _is_finished(stage.folder(run).last_file)
    ]


def _is_finished(checkpoint: Path) -> bool:
    return checkpoint.exists() and read_progress(checkpoint).finished


def train_stage(
    stage: Stage, run: RunFolder, config: Config, dataset: Dataset, rules: RuleTable | None, listener: Listener
) -> None:
    """Train a stage to its end, or go on with it."""
    folder = stage.folder(run)
    folder.path.mkdir(parents=True, exist_ok=True)
    facts = facts_of(stage, dataset, config)
    Trainer(folder, member_config(config, stage.member), dataset, listener, facts, rules).fit()


def train_one_by_one(run: RunFolder, config: Config, dataset: Dataset, listener: Listener) -> None:
    """Train every stage of a run that is not trained yet."""
    rules = run.rules(dataset)
    for stage in stages_left(run, config):
        if stage.part is not None:
            listener.stage(f"first stage without part {stage.part + 1} of {config.combiner.folds}")
        if config.training.members > 1:
            listener.stage(f"member {stage.member + 1} of {config.training.members}")
        train_stage(stage, run, config, dataset, rules, OneOfSeveral(listener, stage.name))
