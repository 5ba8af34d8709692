"""The end of a run: the best weights are calibrated on valid, valid is reported, and test is ranked, once."""

from __future__ import annotations

import math
import platform
import resource
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import foretime
from foretime.config import Config
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.errors import RunError
from foretime.evaluation import AnswerIndex, Evaluation, FilterName, evaluate, model_scorer
from foretime.evaluation.calibration import expected_calibration_error, fit_temperature, top_confidences
from foretime.evaluation.slots import SLOTS, Slot, candidates
from foretime.evidence.module import WithEvidence
from foretime.models import Model
from foretime.reranker.features.extractor import Describer
from foretime.reranker.scorer import RerankedModel, Scorer
from foretime.reranker.trees import Reranker
from foretime.runs.ensemble import load_base_model
from foretime.runs.folder import RunFolder
from foretime.runs.reranking import fit_reranker, fits_on_valid, fitted_on
from foretime.training.callbacks import Callback
from foretime.training.checkpoint import Progress, read_progress
from foretime.training.guidance import RULES_OF_A_FILE

SCORES_AT_MOST = 20_000_000
"""Scores that are kept at once to fit a temperature: more questions would not move it."""
FACTS_AT_MOST = 2_000
LOOKED_UP_AT_MOST = 400_000
"""Scores that are looked up in the evidence one by one to fit a temperature."""


def load_model(run: RunFolder, config: Config, graph: Graph) -> Model:
    """Return the run's model with its best weights, or with its last ones if valid has not been ranked yet."""
    return load_base_model(run, config, graph, run.rules(graph))


def is_finished(run: RunFolder, graph: Graph, with_test: bool = True) -> bool:
    """Return whether the run has its second stage and a whole report, with test in it if that is wanted."""
    if run.config().reranker.use and not run.reranker_file.exists():
        return False
    try:
        report: Any = run.report()
    except RunError:  # it is not there, or damaged: it is to be made
        return False
    splits = [split for split in ("valid", "test") if len(graph.facts(split)) and (split == "valid" or with_test)]
    return temperatures_in(report) is not None and all(report.get(name) for name in ("test_note", *splits))


def temperatures_in(report: Any) -> dict[str, float] | None:
    """Return the temperature of each slot that a report has, or nothing if one is missing or impossible."""
    found = report.get("temperatures") if isinstance(report, dict) else None
    if not isinstance(found, dict) or set(found) != set(SLOTS):
        return None
    possible = (isinstance(value, int | float) and 0 < value < math.inf for value in found.values())
    return found if all(possible) else None


def finish_run(run: RunFolder, config: Config, graph: Graph, callback: Callback, with_test: bool = True) -> None:
    """Write the report of a run whose training has finished."""
    before = run.tested_before()  # one that is damaged should be told before test is ranked
    scorer = load_scorer(run, config, graph, callback)
    progress, last = read_progress(run.best_file), read_progress(run.last_file)
    callback.announce("calibrating on valid")
    temperatures = calibrate(scorer, graph)
    rules = run.rules(graph)
    report: dict[str, Any] = {
        "model": config.model.name,
        "data": graph.name,
        "data_fingerprint": graph.fingerprint(),
        "data_warnings": graph.describe().warnings(),
        "parameters": sum(parameter.numel() for parameter in scorer.model.parameters()),
        "rules": 0 if rules is None else len(rules),
        "evidence": sorted(config.evidence.families) if config.evidence.use else [],
        "members": config.training.ensemble_size,
        "reranker": fitted_on(config.reranker) if config.reranker.use else None,
        "epochs": last.epoch,
        "best_epoch": progress.best_epoch,
        "training_seconds": round(training_seconds(run), 1),
        "peak_memory_mb": peak_memory_mb(),
        "machine": machine(),
        "temperatures": temperatures,
        "choice": choice_note(config),
    }
    for split in ("valid", "test") if with_test else ("valid",):
        if len(graph.facts(split)):
            callback.announce(f"ranking {split}")
            report[split] = evaluate_split(scorer, graph, split, config.training.filter, temperatures).to_dict()
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
    if fits_on_valid(config.reranker):
        note += "; the reranker was fitted on valid, whose figures here are therefore not those of unseen facts"
    if config.rules.file:
        note += f"; {RULES_OF_A_FILE}"
    return note


def load_scorer(run: RunFolder, config: Config, graph: Graph, callback: Callback | None = None) -> Scorer:
    """Return the run's model with its best weights and, if the run has one, its second stage.

    With a callback a second stage that is not there yet is fitted.
    """
    model = load_model(run, config, graph)
    if not config.reranker.use or (callback is None and not run.reranker_file.exists()):
        return Scorer(model)
    describer = Describer.of(graph, model, config.evidence)
    if run.reranker_file.exists():
        reranker = Reranker.load(run.reranker_file, describer.profile_names())
    else:
        reranker = fit_reranker(run, config, graph, model, describer, callback or Callback())
    known = AnswerIndex(graph.train.with_inverses(len(graph.predicates)))
    return Scorer(model, RerankedModel(model, reranker, describer, known))


def evaluate_split(
    scorer: Scorer, graph: Graph, split: str, filter_name: FilterName, temperatures: dict[str, float]
) -> Evaluation:
    """Return the evaluation of a split with its calibration errors, and that of the base model under a re-ranker."""
    errors: dict[str, float] = {
        slot: calibration_error(scorer, graph, slot, graph.facts(split), temperatures[slot]) for slot in SLOTS
    }
    base = evaluate(model_scorer(scorer.model), graph, split, filter_name) if scorer.stages is not None else None
    return replace(evaluate(scorer.score, graph, split, filter_name), calibration_error=errors, base_model=base)


def calibrate(scorer: Scorer, graph: Graph) -> dict[str, float]:
    """Return the temperature of each slot that may be asked for, fitted on valid."""
    return {
        slot: fit_temperature(
            candidates(scorer.model, graph, slot, _sample(scorer, graph, slot, graph.valid), scorer.score)
        )
        for slot in SLOTS
    }


def calibration_error(scorer: Scorer, graph: Graph, slot: Slot, facts: Facts, temperature: float) -> float:
    """Return the expected calibration error of the best answers for a slot of (a sample of) the facts."""
    asked = candidates(scorer.model, graph, slot, _sample(scorer, graph, slot, facts), scorer.score)
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


def _sample(scorer: Scorer, graph: Graph, slot: Slot, facts: Facts) -> Facts:
    """Return facts drawn at random, as many as their candidates' scores may be kept at once.

    Evidence is looked up anew for each predicate and each time, so there are fewer of those.
    """
    width = {"predicate": len(graph.predicates), "time": 10 * len(graph.timeline)}.get(slot, len(graph.entities))
    looked_up = isinstance(scorer.model, WithEvidence) and slot in ("predicate", "time")
    limit = max(1, min(FACTS_AT_MOST, (LOOKED_UP_AT_MOST if looked_up else SCORES_AT_MOST) // width))
    if len(facts) <= limit:
        return facts
    return facts.take(np.random.default_rng(0).choice(len(facts), limit, replace=False))
