"""The end of a run: the best weights are calibrated on valid, valid is reported, and test is ranked, once."""

from __future__ import annotations

import math
import platform
import resource
import sys
from typing import Any

import numpy as np
import torch

import foretime
from foretime.config import Config
from foretime.data.dataset import Dataset
from foretime.data.facts import Facts
from foretime.data.summary import describe
from foretime.errors import RunError
from foretime.evaluation import FilterName, evaluate, model_scorer
from foretime.evaluation.calibration import expected_calibration_error, fit_temperature, top_confidences
from foretime.evaluation.pieces import PIECES, Piece, candidates
from foretime.models import Model
from foretime.training.checkpoint import load_checkpoint, read_progress
from foretime.training.listeners import Listener
from foretime.training.runs import RunFolder
from foretime.training.trainer import new_model

SCORES_AT_MOST = 20_000_000
"""Scores that are kept at once to fit a temperature: more questions would not move it."""
FACTS_AT_MOST = 2_000


def load_model(run: RunFolder, config: Config, dataset: Dataset) -> Model:
    """Return the run's model with its best weights, or with its last ones if valid has not been ranked yet."""
    file = run.best_file if run.best_file.exists() else run.last_file
    if not file.exists():
        raise RunError(f"{run.path}: nothing is trained yet; go on with foretime train --resume {run.path}")
    model = new_model(config, dataset)  # rules guide a training; scores do not need them
    load_checkpoint(file, model)
    return model.eval()


def is_concluded(run: RunFolder, dataset: Dataset, with_test: bool = True) -> bool:
    """Return whether the run has a whole report, with test in it if that is wanted."""
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
    rules = run.rules(dataset)
    model = new_model(config, dataset)
    progress, last = load_checkpoint(run.best_file, model), read_progress(run.last_file)
    filter_name = config.training.filter
    model.eval()
    listener.stage("calibrating on valid")
    temperatures = calibrate(model, dataset)
    report: dict[str, Any] = {
        "model": config.model.name,
        "data": dataset.name,
        "data_fingerprint": dataset.fingerprint(),
        "data_warnings": describe(dataset).warnings(),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "rules": 0 if rules is None else len(rules),
        "epochs": last.epoch,
        "best_epoch": progress.best_epoch,
        "training_seconds": round(last.seconds, 1),
        "peak_memory_mb": peak_memory_mb(),
        "machine": machine(),
        "temperatures": temperatures,
        "choice": "weights of the epoch with the best MRR on valid; temperatures fitted on valid",
    }
    for split in ("valid", "test") if with_test else ("valid",):
        if len(dataset.split(split)):
            listener.stage(f"ranking {split}")
            report[split] = evaluate_split(model, dataset, split, filter_name, temperatures)
    report["test_note"] = (
        "test was ranked once, by this final configuration" if "test" in report else "test has not been ranked"
    )
    run.write_report(report)


def evaluate_split(
    model: Model, dataset: Dataset, split: str, filter_name: FilterName, temperatures: dict[str, float]
) -> dict[str, Any]:
    """Return the report of a split with its calibration errors, as plain values."""
    result = evaluate(model_scorer(model), dataset, split, filter_name).to_dict()
    result["calibration_error"] = {
        piece: calibration_error(model, dataset, piece, dataset.split(split), temperatures[piece]) for piece in PIECES
    }
    return result


def calibrate(model: Model, dataset: Dataset) -> dict[str, float]:
    """Return the temperature of each piece that may be asked for, fitted on valid."""
    return {
        piece: fit_temperature(candidates(model, dataset, piece, _sample(dataset, piece, dataset.valid)))
        for piece in PIECES
    }


def calibration_error(model: Model, dataset: Dataset, piece: Piece, facts: Facts, temperature: float) -> float:
    """Return the expected calibration error of the best answers for a piece of (a sample of) the facts."""
    asked = candidates(model, dataset, piece, _sample(dataset, piece, facts))
    return expected_calibration_error(*top_confidences(asked, temperature))


def peak_memory_mb() -> float:
    """Return the most memory that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
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


def _sample(dataset: Dataset, piece: Piece, facts: Facts) -> Facts:
    """Return facts drawn at random, as many as their candidates' scores may be kept at once."""
    width = {"predicate": len(dataset.predicates), "time": 10 * len(dataset.timeline)}.get(piece, len(dataset.entities))
    limit = max(1, min(FACTS_AT_MOST, SCORES_AT_MOST // width))
    if len(facts) <= limit:
        return facts
    return facts.take(np.random.default_rng(0).choice(len(facts), limit, replace=False))
