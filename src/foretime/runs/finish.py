"""The end of a run: the best weights are calibrated on valid, valid is reported, and test is ranked, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.devices import device_text
from foretime.errors import RunError
from foretime.evaluation.calibration import Calibration
from foretime.evaluation.slot_questions import kinds_for
from foretime.evaluation.slots import SLOTS
from foretime.files import write_json
from foretime.reranker.folds import fits_on_valid, fitted_on, halves_of_valid
from foretime.runs.evaluation import calibrate, evaluate_split, softmax_at
from foretime.runs.folder import RunFolder
from foretime.runs.gaps import choose_gap
from foretime.runs.loading import load_model, scorer_of
from foretime.runs.machine import machine, peak_memory_mb
from foretime.runs.protocols import ask
from foretime.runs.reranking import fit_reranker, fit_slots
from foretime.training.callbacks import Callback
from foretime.training.checkpoint import Progress, read_progress
from foretime.training.guidance import RULES_OF_A_FILE


def finish_run(run: RunFolder, config: Config, graph: Graph, callback: Callback, with_test: bool = True) -> None:
    """Fit the re-ranker of a run whose training has finished, if it has one, and write its report."""
    before = run.tested_before()  # a damaged one should be reported before test is ranked
    model = load_model(run, config, graph)
    if config.reranker.use and not run.reranker_file.exists():
        fit_reranker(run, config, graph, model, callback)
    if config.reranker.use and config.reranker.slots and not run.has_slots(graph):
        fit_slots(run, config, graph, model, callback)
    scorer = scorer_of(run, config, graph, model)
    before_valid = run.reranker_without_valid.exists()
    judging = scorer_of(run, config, graph, model, run.reranker_without_valid) if before_valid else scorer
    callback.announce("calibrating on valid")
    chosen = choose_gap(judging, graph, config.evidence)
    if config.evidence.past_only:
        write_json(run.gap_file, chosen.to_dict())
    scorer, judging = scorer.within(chosen.max_gap), judging.within(chosen.max_gap)
    of_valid = calibrate(ask(judging, graph, config.evidence, "valid"), graph, graph.valid)
    calibrations = of_valid
    if run.reranker_to_calibrate.exists():
        half_fitted = scorer_of(run, config, graph, model, run.reranker_to_calibrate).within(chosen.max_gap)
        _, second_half = halves_of_valid(graph, config)
        calibrations = calibrate(ask(half_fitted, graph, config.evidence, "valid"), graph, second_half)
    report = {
        **_facts_of(run, config, graph),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "peak_memory_mb": peak_memory_mb(),
        "machine": {**machine(), "device": device_text(model.device)},
        "calibration": {slot: one.to_dict() for slot, one in calibrations.items()},
        "slot_models": scorer.slots is not None,
        "choice": choice_note(config, before_valid),
    }
    for split in ("valid", "test") if with_test else ("valid",):
        if len(graph.facts(split)):
            callback.announce(f"ranking {split}")
            judge, believed = (judging, of_valid) if split == "valid" else (scorer, calibrations)
            asked = ask(judge, graph, config.evidence, split)
            report[split] = evaluate_split(asked, graph, split, config.training.filter, believed).to_dict()
    report["tested_before"] = before
    report["test_note"] = note_on_test("test" in report, before)
    run.write_report(report)


def _facts_of(run: RunFolder, config: Config, graph: Graph) -> dict[str, Any]:
    """Return what a report says of the run itself."""
    best, last, rules = read_progress(run.best_file), read_progress(run.last_file), run.rules(graph)
    start = run.warm_start()
    return {
        "model": config.model.name,
        "data": graph.name,
        "data_fingerprint": graph.fingerprint(),
        "data_warnings": graph.describe().warnings(),
        "rules": 0 if rules is None else len(rules),
        "evidence": sorted(config.evidence.families) if config.evidence.use else [],
        "ensemble_size": config.training.ensemble_size,
        "reranker": fitted_on(config.reranker) if config.reranker.use else None,
        "epochs": last.epoch,
        "best_epoch": best.best_epoch,
        "training_seconds": round(training_seconds(run), 1),
        **({"warm_start": start} if start else {}),
    }


def is_finished(run: RunFolder, graph: Graph, with_test: bool = True) -> bool:
    """Return whether the run has its re-ranker and a whole report, with test in it if that is wanted."""
    if run.config().reranker.use and not run.reranker_file.exists():
        return False
    try:
        report: Any = run.report()
    except RunError:  # it is not there, or damaged: it has to be written
        return False
    if report.get("slot_models") and not run.has_slots(graph):  # a run of an earlier version had none
        return False
    splits = [split for split in ("valid", "test") if len(graph.facts(split)) and (split == "valid" or with_test)]
    return calibrations_in(report) is not None and all(report.get(name) for name in ("test_note", *splits))


def calibrations_in(report: Any) -> dict[str, Calibration] | None:
    """Return the calibration of each slot that a report has, or nothing if one is missing or impossible.

    A report of an earlier version has one temperature for each slot.
    """
    if not isinstance(report, dict):
        return None
    try:
        if "calibration" not in report:
            found = {slot: softmax_at(slot, report["temperatures"][slot]) for slot in SLOTS}
            return {slot: Calibration.from_dict(one.to_dict()) for slot, one in found.items()}
        calibrations: dict[str, Calibration] = {
            slot: Calibration.from_dict(report["calibration"][slot]) for slot in SLOTS
        }
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None
    # a question of a kind that is missing would have no temperature
    whole = all(len(calibrations[slot].kinds) == len(kinds_for(slot)) for slot in SLOTS)
    return calibrations if whole else None


def note_on_test(ranked: bool, before: list[int]) -> str:
    """Return how often test has been ranked; `before` is after how many epochs, when a run was then given more."""
    earlier = f"after {' and '.join(map(str, before))} epochs, before this run was given more" if before else ""
    if not ranked:
        return f"test was ranked {earlier}, and not since" if before else "test has not been ranked"
    often = f", and {earlier}" if before else ""
    return f"test was ranked {'' if before else 'once, '}by this final configuration{often}"


def note_on_backtests(note: str, backtests: list[dict[str, Any]]) -> str:
    """Return a note on test with the backtests that have ranked facts of it since."""
    count, last = len(backtests), backtests[-1]
    often = "a backtest has" if count == 1 else f"{count} backtests have"
    return f"{note}; {often} ranked facts of it since, the last from {last['first']} to {last['last']}"


def choice_note(config: Config, before_valid: bool = False) -> str:
    """Return what valid has served for; `before_valid`: it was judged by a re-ranker that was not fitted on it."""
    note = "weights of the epoch with the best MRR on valid; probabilities calibrated on valid"
    if before_valid:
        note += " by a re-ranker fitted on its first half; the re-ranker that answers was fitted on all of valid"
    elif fits_on_valid(config.reranker):
        note += "; the re-ranker was fitted on valid, whose figures here are therefore not those of unseen facts"
    return f"{note}; {RULES_OF_A_FILE}" if config.rules.file else note


def training_seconds(run: RunFolder) -> float:
    """Return how long all jobs of a run have trained."""
    found = (progress_of(file) for file in run.path.rglob(run.last_file.name))
    return sum(progress.seconds for progress in found if progress)


def progress_of(file: Path) -> Progress | None:
    """Return what a checkpoint says, nothing if it is not there or damaged."""
    try:
        return read_progress(file)
    except RunError:
        return None
