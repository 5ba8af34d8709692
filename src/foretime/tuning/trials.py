"""One trial: a training whose curve on valid decides whether it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from foretime.config import Config
from foretime.data.dataset import Dataset
from foretime.errors import Interrupted
from foretime.rules.rule import RuleTable
from foretime.training import Listener, RunFolder, complete_config
from foretime.training.checkpoint import read_progress
from foretime.training.guidance import rules_for, wants_rules
from foretime.training.listeners import Listeners
from foretime.training.second_stage import check_second_stage, facts_of_first_stage
from foretime.training.trainer import Trainer


class Judge(Protocol):
    """Hears of every MRR on valid and says whether the trial is given up; a trial of Optuna is one."""

    def report(self, value: float, step: int) -> None:
        """Hear of the MRR after an epoch."""

    def should_prune(self) -> bool:
        """Return whether the trial is given up."""


@dataclass(frozen=True)
class Outcome:
    """What a trial has come to: the best MRR on valid, and whether it was given up on the way."""

    mrr: float
    epochs: int
    seconds: float
    given_up: bool


class CurveListener(Listener):
    """Tells the judge every MRR on valid, and wants to stop when it says so."""

    def __init__(self, judge: Judge) -> None:
        self.given_up = False
        self._judge, self._told = judge, 0

    def epoch(self, record: dict[str, Any]) -> None:
        """Report an epoch that was evaluated."""
        # an epoch whose checkpoint was not written any more is trained again
        if "valid_mrr" in record and record["epoch"] > self._told:
            self._told = record["epoch"]
            self._judge.report(record["valid_mrr"], record["epoch"])
            self.given_up = self.given_up or self._judge.should_prune()

    def stop_wanted(self) -> bool:
        """Whether the trial is given up."""
        return self.given_up


class Trials:
    """Trains the trials of one data set, each in a folder of its own, from which it goes on after an interruption."""

    def __init__(self, dataset: Dataset, folder: Path) -> None:
        self.dataset = dataset
        self._folder = folder
        self._rules: dict[str, RuleTable | None] = {}

    def train(self, config: Config, name: str, judge: Judge, listener: Listener) -> Outcome:
        """Train as configured until the end or until the judge gives it up; test is not looked at."""
        run, curve = self._run(complete_config(config), name, listener), CurveListener(judge)
        for record in run.trace():
            curve.epoch(record)  # what an interrupted trial has reached before
        config = run.config()
        facts, rules = facts_of_first_stage(self.dataset, config), run.rules(self.dataset)
        try:
            Trainer(run, config, self.dataset, Listeners([listener, curve]), facts, rules).fit()
        except Interrupted:
            if not curve.given_up:
                raise
        progress = read_progress(run.last_file)
        best = max((line["valid_mrr"] for line in run.trace() if "valid_mrr" in line), default=0.0)
        epochs = progress.epoch - (0 if progress.finished else 1)
        return Outcome(best, epochs, round(progress.seconds, 1), curve.given_up and not progress.finished)

    def forget(self, name: str) -> None:
        """Remove the graph and the weights of a trial that is over; its configuration and its trace stay."""
        for file in (self._folder / name).glob("*"):
            if file.name not in ("config.toml", "trace.jsonl"):
                file.unlink()

    def _run(self, config: Config, name: str, listener: Listener) -> RunFolder:
        folder = self._folder / name
        if RunFolder(folder).config_file.exists():
            return RunFolder.open(folder)
        check_second_stage(self.dataset, config)
        return RunFolder.create(folder, config, self.dataset, self._rules_for(config, listener))

    def _rules_for(self, config: Config, listener: Listener) -> RuleTable | None:
        """Return the rules of a trial, mined once for all trials that want the same."""
        key = f"{wants_rules(config)} {config.rules.model_dump_json()} {config.evidence.model_dump_json()}"
        if key not in self._rules:
            self._rules[key] = rules_for(config, self.dataset, listener)
        return self._rules[key]
