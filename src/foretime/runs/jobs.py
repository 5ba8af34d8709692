"""The jobs of a run, one training each: of every ensemble member and, for the re-ranker, of models without a fold.

Each trains in a folder of its own, so jobs can be done one after the other or in parallel.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from foretime.config import Config
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.files import make_folder
from foretime.reranker.folds import facts_of_base_model, folds_left_out, folds_of
from foretime.rules.table import Rules
from foretime.runs.folder import RunFolder
from foretime.runs.origin import origin_of
from foretime.training.callbacks import Callback, NamedJob
from foretime.training.checkpoint import read_progress
from foretime.training.distributed.team import ALONE, Team, team_of_launcher
from foretime.training.settings import evidence_penalties
from foretime.training.trainer import Trainer

SEEDS_APART = 1000
"""How far the seeds of two members lie apart: runs whose seeds are neighbours have no member in common."""


class Job(NamedTuple):
    """One training: the fold of train that it leaves out for the re-ranker, if any, and its ensemble member."""

    fold: int | None
    member: int

    @property
    def name(self) -> str:
        """What it is called beside others, counted from 1; the run's own training has no name."""
        named = (("fold", self.fold), ("member", self.member or None))
        return ", ".join(f"{word} {number + 1}" for word, number in named if number is not None)

    def folder(self, run: RunFolder) -> RunFolder:
        """Return the folder in which it trains."""
        whole = run if self.fold is None else run.fold(self.fold)
        return whole.member(self.member) if self.member else whole


def jobs_of(config: Config) -> list[Job]:
    """Return all jobs of a run, its own training first."""
    folds = (None, *range(folds_left_out(config.reranker)))
    return [Job(fold, member) for fold in folds for member in range(config.training.ensemble_size)]


def jobs_left(run: RunFolder, config: Config) -> list[Job]:
    """Return the jobs of a run that are still to be done: once its re-ranker is fitted, none without folds."""
    fitted = run.reranker_file.exists()
    return [
        job
        for job in jobs_of(config)
        if not (fitted and job.fold is not None) and not _is_finished(job.folder(run).last_file)
    ]


def _is_finished(checkpoint: Path) -> bool:
    return checkpoint.exists() and read_progress(checkpoint).finished


def member_config(config: Config, number: int) -> Config:
    """Return the configuration of a member: the first has the run's own, the others another seed and no evidence."""
    if number == 0:
        return config
    without = evidence_penalties(config)
    return config.model_copy(
        update={
            "evidence": config.evidence.model_copy(update={"use": False}),
            "penalties": {name: weight for name, weight in config.penalties.items() if name not in without},
            "training": config.training.model_copy(update={"seed": config.training.seed + SEEDS_APART * number}),
        }
    )


def train_job(
    job: Job,
    run: RunFolder,
    config: Config,
    graph: Graph,
    rules: Rules | None,
    callback: Callback,
    team: Team = ALONE,
) -> None:
    """Train a job to its end, or resume it."""
    folder = job.folder(run)
    make_folder(folder.path)
    facts, origin = _facts_of(job, graph, config), origin_of(run, config, graph, *job)
    Trainer(folder, member_config(config, job.member), graph, callback, facts, rules, origin, team).fit()


def train_alone(callback: Callback, run: str, job: tuple[int | None, int], threads: int, device: str) -> None:
    """Train a job of a run in a process that does nothing else: with so many threads, on the named device."""
    folder = RunFolder.find(run, device)
    graph, config = folder.graph(), folder.config()
    config = config.model_copy(update={"training": config.training.model_copy(update={"threads": threads})})
    train_job(Job(*job), folder, config, graph, folder.rules(graph), callback)


def _facts_of(job: Job, graph: Graph, config: Config) -> Facts:
    if job.fold is None:
        return facts_of_base_model(graph, config)
    return graph.train.take(folds_of(graph, config) != job.fold)


def train_in_sequence(run: RunFolder, config: Config, graph: Graph, callback: Callback) -> None:
    """Do every job of a run that is not done yet, with the other processes of a launcher if there are any."""
    rules, team = run.rules(graph), team_of_launcher()
    for job in jobs_left(run, config):
        if job.fold is not None:
            callback.announce(f"base model without fold {job.fold + 1} of {config.reranker.folds}")
        if config.training.ensemble_size > 1:
            callback.announce(f"member {job.member + 1} of {config.training.ensemble_size}")
        team.told({"run": str(run.path.resolve()), "job": job, "device": run.device})
        train_job(job, run, config, graph, rules, NamedJob(callback, job.name), team)
    team.dismiss()
