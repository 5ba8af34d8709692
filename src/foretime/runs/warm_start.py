"""A warm start: a run on a graph that has grown begins with the weights of an earlier run, matched by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foretime.config import Config, DataConfig
from foretime.data.facts import Facts, concatenate
from foretime.data.graph import Graph
from foretime.data.growth import GrownGraph, grow, join_events
from foretime.data.matching import EarlierIds, are_among
from foretime.errors import ConfigError, DataError, RunError, told_as
from foretime.evaluation.protocols import in_order
from foretime.files import make_folder, sha256_of, write_json
from foretime.reranker.folds import facts_of_base_model, folds_of
from foretime.rules.table import Rules
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import Job, jobs_of, member_config
from foretime.runs.updates import UpdateLog
from foretime.training.carrying import take_weights
from foretime.training.checkpoint import Progress, save_checkpoint
from foretime.training.settings import changed_config
from foretime.training.trainer import (
    build_optimizer,
    check_checkpoint,
    load_weights,
    new_model,
    weights_file,
    with_evidence_of_train,
)

BORDERS = ("data.valid_from", "data.test_from")


class WarmStart:
    """A trained run, read once: when another one is created with its weights."""

    def __init__(self, path: Path | str) -> None:
        self.run = RunFolder.open(path)
        self.config, self.graph = self.run.config(), self.run.graph()

    def to_dict(self) -> dict[str, Any]:
        """Return the path of the run, and the sha256 of the weights that are taken."""
        file = self.run.best_file if self.run.best_file.exists() else self.run.last_file
        with told_as(RunError, file):
            digest = sha256_of(file) if file.exists() else ""
        return {"path": str(self.run.path), "fingerprint": digest, "data_fingerprint": self.graph.fingerprint()}

    def changed_config(self, changes: dict[str, Any], own_graph: bool) -> Config:
        """Return the settings of the run with some replaced; raise `ConfigError` for those that cannot be.

        On the `own_graph` of the run only the borders between the splits can.
        """
        name = changes.get("model.name", self.config.model.name)
        if name != self.config.model.name:
            raise self._another_model(name)
        fixed = [key for key in changes if key.startswith("data.") and key not in BORDERS]
        if own_graph and fixed:
            raise ConfigError(f"{fixed[0]}: the graph of {self.run.path} is read already; name a graph to read")
        return changed_config(self.config, changes)

    def grown_graph(self, data: DataConfig) -> Graph:
        """Return the graph of the run with its updates, split as it was split.

        Splits in the order of time are cut anew at the given times or, without any, with the same shares, so that the
        borders move on. Where they are not in order, what was added is training facts.
        """
        events = join_events(events for _, events in UpdateLog(self.run.path, self.graph.timeline).read())
        grown = grow(self.graph, events)
        if data.valid_from is not None or data.test_from is not None:
            return grown.split(valid_from=data.valid_from, test_from=data.test_from)
        if not in_order(self.graph):
            return _with_updates_in_train(grown)
        whole = len(self.graph.facts())
        return grown.split(len(self.graph.valid) / whole, len(self.graph.test) / whole, by="time")

    def check(self, config: Config, graph: Graph) -> None:
        """Raise `ConfigError` if a run cannot begin with these weights, or would be measured on what they have seen."""
        place, own = self.run.path, self.config.model
        if config.model.name != own.name:
            raise self._another_model(config.model.name)
        rank, rank_before = (model.options.get("rank") for model in (config.model, own))
        if rank != rank_before and own.name != "rules":
            raise ConfigError(f"{place} has rank {rank_before}, not {rank}; leave model.rank as it was")
        ids = EarlierIds.of(graph, self.graph)
        seen = self._seen(concatenate([graph.valid, graph.test]), Job(None, 0), ids, apart_from=graph.train)
        if seen:
            raise ConfigError(
                f"{seen:,} facts of valid and test were training facts of {place}, whose weights have seen them; keep "
                "its splits, or split by time with a later --valid-from"
            )
        left_out = _left_out(Job(None, 0), config, graph)
        if left_out is not None and self._seen(left_out, Job(None, 0), ids):
            raise ConfigError(
                f"the re-ranker would be fitted on a fold of train that {place} has learned from; use "
                "--set reranker.fit=refit, which fits it by another model"
            )

    def write(self, run: RunFolder, config: Config, graph: Graph, rules: Rules | None) -> None:
        """Write the first checkpoint of every job that the earlier run has weights for, and what they came from.

        A model for a fold begins anew if the earlier one has seen facts of that fold.
        """
        make_folder(run.path)
        ids, rules_before = EarlierIds.of(graph, self.graph), self.run.rules(self.graph)
        for job in jobs_of(config):
            if not self._has(job) or (job.fold is not None and self._seen(_left_out(job, config, graph), job, ids)):
                continue
            own, theirs = (
                with_evidence_of_train(member_config(one, job.member)) for one in (config, self.config)
            )  # fmt: skip
            check_checkpoint(weights_file(job.folder(self.run)), theirs, self.graph)
            before = load_weights(job.folder(self.run), new_model(theirs, self.graph, rules_before))
            model = new_model(own, graph, rules)
            take_weights(model, before, own, ids)
            folder = job.folder(run)
            make_folder(folder.path)
            save_checkpoint(folder.last_file, model, build_optimizer(own.training, model), Progress())
        write_json(run.warm_start_file, self.to_dict())

    def _another_model(self, name: str) -> ConfigError:
        return ConfigError(
            f"{self.run.path} is a run of {self.config.model.name}, not of {name}; name a run of that model"
        )

    def _has(self, job: Job) -> bool:
        if job == Job(None, 0):
            return True  # without weights it is an error that says so
        return job in jobs_of(self.config) and job.folder(self.run).best_file.exists()

    def _seen(self, facts: Facts | None, job: Job, ids: EarlierIds, apart_from: Facts | None = None) -> int:
        """Return how many of the facts the earlier model of a job has learned from, but for those in others."""
        if facts is None:
            return 0
        if apart_from is not None:
            facts = facts.take(~are_among(facts, apart_from))
        return int(are_among(ids.earlier(facts), _learned_from(job, self.config, self.graph)).sum())


def drop_earlier_start(run: RunFolder, config: Config) -> None:
    """Remove first checkpoints of a run whose making was interrupted: it has no configuration yet."""
    for file in (run.warm_start_file, *(job.folder(run).last_file for job in jobs_of(config))):
        file.unlink(missing_ok=True)


def _learned_from(job: Job, config: Config, graph: Graph) -> Facts:
    if job.fold is None:
        return facts_of_base_model(graph, config)
    return graph.train.take(folds_of(graph, config) != job.fold)


def _left_out(job: Job, config: Config, graph: Graph) -> Facts | None:
    """Return the facts of train that a job must not have seen, because the re-ranker is fitted on them."""
    own = config.reranker.use and config.reranker.fit == "fold"
    if job.fold is None and not own:
        return None
    return graph.train.take(folds_of(graph, config) == (job.fold or 0))


def _with_updates_in_train(grown: GrownGraph) -> Graph:
    made = (grown.name, grown.entities, grown.predicates, grown.timeline)
    if not len(grown.seen):
        raise DataError("there are no training facts")
    facts = (grown.seen, grown.valid, grown.test)
    return Graph(*made, *facts, notes=grown.notes, background=grown.background, attributes=grown.attributes)
