"""One trial: a training whose curve on valid decides whether it is pruned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.errors import Interrupted
from foretime.reranker.folds import check_reranker, facts_of_base_model
from foretime.rules.table import Rules
from foretime.runs.folder import RunFolder
from foretime.training.callbacks import Callback, Callbacks
from foretime.training.checkpoint import Progress, read_progress
from foretime.training.guidance import rules_for, wants_rules
from foretime.training.settings import complete_config
from foretime.training.trainer import Trainer


class Pruner(Protocol):
    """Is given every MRR on valid and decides whether the trial is pruned; a trial of Optuna is one."""

    def report(self, value: float, step: int) -> None:
        """Take the MRR after an epoch."""

    def should_prune(self) -> bool:
        """Return whether the trial is pruned."""


@dataclass(frozen=True)
class TrialOutcome:
    """What a trial has reached: the best MRR on valid, and whether it was pruned on the way."""

    mrr: float
    epochs: int
    seconds: float
    pruned: bool


class PruningCallback(Callback):
    """Reports every MRR on valid to the pruner, and stops the training when it says so."""

    def __init__(self, pruner: Pruner) -> None:
        self.pruned = False
        self._pruner = pruner

    def epoch(self, record: dict[str, Any]) -> None:
        """Report an epoch that was evaluated."""
        if "valid_mrr" in record:
            self._pruner.report(record["valid_mrr"], record["epoch"])
            self.pruned = self.pruned or self._pruner.should_prune()

    def stop_wanted(self) -> bool:
        """Whether the trial is pruned."""
        return self.pruned


class TrialTrainer:
    """Trains trials on one graph, each in a folder of its own from which it is resumed."""

    def __init__(self, graph: Graph, folder: Path) -> None:
        self.graph = graph
        self._folder = folder
        self._rules: dict[str, Rules | None] = {}

    def train(self, config: Config, name: str, pruner: Pruner, callback: Callback) -> TrialOutcome:
        """Train as configured to the end or until the trial is pruned; test is not ranked."""
        run, curve = self._run(complete_config(config), name, callback), PruningCallback(pruner)
        for record in _checkpointed(run):
            curve.epoch(record)  # what an interrupted trial reached before
        if not curve.pruned:
            self._fit(run, curve, callback)
        progress = read_progress(run.last_file)
        best = max((line["valid_mrr"] for line in run.trace() if "valid_mrr" in line), default=0.0)
        pruned = curve.pruned and not progress.finished
        return TrialOutcome(best, progress.epochs_done, round(progress.seconds, 1), pruned)

    def forget(self, name: str) -> None:
        """Remove the graph and the weights of a trial that is over; its configuration and its trace stay."""
        for file in (self._folder / name).glob("*"):
            if file.name not in ("config.toml", "trace.jsonl"):
                file.unlink()

    def _fit(self, run: RunFolder, curve: PruningCallback, callback: Callback) -> None:
        """Train to the end or until the trial is pruned."""
        config = run.config()
        facts, rules = facts_of_base_model(self.graph, config), run.rules(self.graph)
        try:
            Trainer(run, config, self.graph, Callbacks([callback, curve]), facts, rules).fit()
        except Interrupted:
            if not curve.pruned:
                raise

    def _run(self, config: Config, name: str, callback: Callback) -> RunFolder:
        """Return the folder of a trial: one that can be resumed, or a new one."""
        run = RunFolder(self._folder / name)
        if run.last_file.exists():
            return RunFolder.open(run.path)
        check_reranker(self.graph, config)
        rules = self._rules_for(config, callback)
        # a trial that is over keeps only its configuration and its trace: no rules, no graph
        run.config_file.unlink(missing_ok=True)
        return RunFolder.create(run.path, config, self.graph, rules)

    def _rules_for(self, config: Config, callback: Callback) -> Rules | None:
        """Return the rules of a trial, mined once for all trials that have the same settings."""
        key = f"{wants_rules(config)} {config.rules.model_dump_json()} {config.evidence.model_dump_json()}"
        if key not in self._rules:
            self._rules[key] = rules_for(config, self.graph, callback)
        return self._rules[key]


def _checkpointed(run: RunFolder) -> list[dict[str, Any]]:
    """Return the trace up to the checkpoint, to which the trace is cut: later epochs are trained again."""
    progress = read_progress(run.last_file) if run.last_file.exists() else Progress()
    run.rewind_trace(progress.epochs_done + 1)
    return run.trace()
