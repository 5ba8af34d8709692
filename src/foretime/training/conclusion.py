"""The end of a run: the best weights are calibrated on valid, valid is reported, and test is ranked, once."""

from __future__ import annotations

import math
import platform
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

import foretime
from foretime.combining.columns import Describer
from foretime.combining.combiner import Combiner
from foretime.combining.scoring import Judge, TwoStages
from foretime.config import Config
from foretime.data.dataset import Dataset
from foretime.data.facts import Facts
from foretime.data.summary import describe
from foretime.errors import RunError
from foretime.evaluation import FilterName, KnownAnswers, evaluate, model_scorer
from foretime.evaluation.calibration import expected_calibration_error, fit_temperature, top_confidences
from foretime.evaluation.pieces import PIECES, Piece, candidates
from foretime.models import Model, WithEvidence
from foretime.training.checkpoint import Progress, read_progress
from foretime.training.guidance import RULES_OF_A_FILE
from foretime.training.listeners import Listener
from foretime.training.members import load_first_stage
from foretime.training.runs import RunFolder
from foretime.training.second_stage import fit_second_stage, fits_on_valid, fitted_on

SCORES_AT_MOST = 20_000_000
"""Scores that are kept at once to fit a temperature: more questions would not move it."""
FACTS_AT_MOST = 2_000
LOOKED_UP_AT_MOST = 400_000
"""Scores that are looked up in the evidence one by one to fit a temperature."""


def load_model(run: RunFolder, config: Config, dataset: Dataset) -> Model:
    """Return the run's model with its best weights, or with its last ones if valid has not been ranked yet."""
    return load_first_stage(run, config, dataset, run.rules(dataset))


def is_concluded(run: RunFolder, dataset: Dataset, with_test: bool = True) -> bool:
    """Return whether the run has its second stage and a whole report, with test in it if that is wanted."""
    if run.config().combiner.use and not run.combiner_file.exists():
        return False
    try:
        report: Any = run.report()
    except RunError:  # it is not there, or damaged: it is to be made
        return False
    splits = [split for split in ("valid", "test") if len(dataset.split(split)) and (split == "valid" or with_test)]
    return temperatures_in(report) is not None and all(report.get(name) for name in ("test_note", *splits))


def temperatures_in(report: Any) -> dict[str, float] | None:
    """Return the temperature of each piece that a report has, or nothing if one is missing or impossible."""
    found = report.get("temperatures") if isinstance(report, dict) else None
    if not isinstance(found, dict) or set(found) != set(PIECES):
        return None
    possible = (isinstance(value, int | float) and 0 < value < math.inf for value in found.values())
    return found if all(possible) else None


def conclude(run: RunFolder, config: Config, dataset: Dataset, listener: Listener, with_test: bool = True) -> None:
    """Write the report of a run whose training has finished."""
    before = run.tested_before()  # one that is damaged should be told before test is ranked
    judge = load_judge(run, config, dataset, listener)
    progress, last = read_progress(run.best_file), read_progress(run.last_file)
    listener.stage("calibrating on valid")
    temperatures = calibrate(judge, dataset)
    rules = run.rules(dataset)
    report: dict[str, Any] = {
        "model": config.model.name,
        "data": dataset.name,
        "data_fingerprint": dataset.fingerprint(),
        "data_warnings": describe(dataset).warnings(),
        "parameters": sum(parameter.numel() for parameter in judge.model.parameters()),
        "rules": 0 if rules is None else len(rules),
        "evidence": sorted(config.evidence.families) if config.evidence.use else [],
        "members": config.training.members,
        "combiner": fitted_on(config.combiner) if config.combiner.use else None,
        "epochs": last.epoch,
        "best_epoch": progress.best_epoch,
        "training_seconds": round(training_seconds(run), 1),
        "peak_memory_mb": peak_memory_mb(),
        "machine": machine(),
        "temperatures": temperatures,
        "choice": choice_note(config),
    }
    for split in ("valid", "test") if with_test else ("valid",):
        if len(dataset.split(split)):
            listener.stage(f"ranking {split}")
            report[split] = evaluate_split(judge, dataset, split, config.training.filter, temperatures)
    report["tested_before"] = before
    report["test_note"] = note_on_test("test" in report, before)
    run.write_report(report)


def note_on_test(ranked: bool, before: list[int]) -> str:
    """Return how often test has been ranked; `before` is after how many epochs, when a run was then given more."""
    earlier = f"after {' and '.join(map(str, before))} epochs, before this run was given more" if before else ""
    if not ranked:
        return f"test was ranked {earlier}, and not since" if before else "test has not been ranked"
    often = f", and {earlier}" if before else ""
    return f"test was ranked {'' if before else 'once, '}by this final configuration{often}"


def training_seconds(run: RunFolder) -> float:
    """Return how long the first stages of a run have trained: all members of its own, and of those without a part."""
    found = (progress_of(file) for file in run.path.rglob(run.last_file.name))
    return sum(progress.seconds for progress in found if progress)


def progress_of(file: Path) -> Progress | None:
    """Return what a checkpoint says, nothing if it is not there or damaged."""
    try:
        return read_progress(file)
    except RunError:
        return None


def choice_note(config: Config) -> str:
    """Return what valid has served for."""
    note = "weights of the epoch with the best MRR on valid; temperatures fitted on valid"
    if fits_on_valid(config.combiner):
        note += "; the combiner was fitted on valid, whose figures here are therefore not those of unseen facts"
    if config.rules.file:
        note += f"; {RULES_OF_A_FILE}"
    return note


def load_judge(run: RunFolder, config: Config, dataset: Dataset, listener: Listener | None = None) -> Judge:
    """Return the run's model with its best weights and, if the run has one, its second stage.

    With a listener a second stage that is not there yet is fitted.
    """
    model = load_model(run, config, dataset)
    if not config.combiner.use or (listener is None and not run.combiner_file.exists()):
        return Judge(model)
    describer = Describer.of(dataset, model, config.evidence)
    if run.combiner_file.exists():
        combiner = Combiner.load(run.combiner_file, describer.profile_names())
    else:
        combiner = fit_second_stage(run, config, dataset, model, describer, listener or Listener())
    known = KnownAnswers(dataset.train.with_inverses(len(dataset.predicates)))
    return Judge(model, TwoStages(model, combiner, describer, known))


def evaluate_split(
    judge: Judge, dataset: Dataset, split: str, filter_name: FilterName, temperatures: dict[str, float]
) -> dict[str, Any]:
    """Return the report of a split with its calibration errors, as plain values; both stages, if there are two."""
    result = evaluate(judge.score, dataset, split, filter_name).to_dict()
    result["calibration_error"] = {
        piece: calibration_error(judge, dataset, piece, dataset.split(split), temperatures[piece]) for piece in PIECES
    }
    if judge.stages is not None:
        first = evaluate(model_scorer(judge.model), dataset, split, filter_name).to_dict()
        result["first_stage"] = {name: first[name] for name in ("all", "mrr_interval", "kinds")}
    return result


def calibrate(judge: Judge, dataset: Dataset) -> dict[str, float]:
    """Return the temperature of each piece that may be asked for, fitted on valid."""
    return {
        piece: fit_temperature(
            candidates(judge.model, dataset, piece, _sample(judge, dataset, piece, dataset.valid), judge.score)
        )
        for piece in PIECES
    }


def calibration_error(judge: Judge, dataset: Dataset, piece: Piece, facts: Facts, temperature: float) -> float:
    """Return the expected calibration error of the best answers for a piece of (a sample of) the facts."""
    asked = candidates(judge.model, dataset, piece, _sample(judge, dataset, piece, facts), judge.score)
    return expected_calibration_error(*top_confidences(asked, temperature))


def peak_memory_mb() -> float:
    """Return the most memory that this process has held so far, or the largest of those that have trained for it."""
    peak = max(resource.getrusage(whose).ru_maxrss for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def machine() -> dict[str, Any]:
    """Return what the figures were made with."""
    return {
        "foretime": foretime.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "processor": platform.machine(),
    }


def _sample(judge: Judge, dataset: Dataset, piece: Piece, facts: Facts) -> Facts:
    """Return facts drawn at random, as many as their candidates' scores may be kept at once.

    Evidence is looked up anew for each predicate and each time, so there are fewer of those.
    """
    width = {"predicate": len(dataset.predicates), "time": 10 * len(dataset.timeline)}.get(piece, len(dataset.entities))
    looked_up = isinstance(judge.model, WithEvidence) and piece in ("predicate", "time")
    limit = max(1, min(FACTS_AT_MOST, (LOOKED_UP_AT_MOST if looked_up else SCORES_AT_MOST) // width))
    if len(facts) <= limit:
        return facts
    return facts.take(np.random.default_rng(0).choice(len(facts), limit, replace=False))
