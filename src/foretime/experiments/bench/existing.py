"""What the run folders of a list hold already: the graph of a run, and a shorter run that can be continued."""

from __future__ import annotations

import shutil
from functools import cache

from foretime.config import DataConfig, override
from foretime.data.graph import read_graph
from foretime.errors import ForetimeError
from foretime.experiments.bench.lists import BenchList, PlannedRun
from foretime.experiments.bench.locks import is_held
from foretime.runs.fingerprint import config_hash
from foretime.runs.folder import RunFolder
from foretime.runs.life import plan_epochs


def fingerprint_in(run: RunFolder) -> str | None:
    """Return the fingerprint of the graph of a run, if it has begun and can be read."""
    try:
        return run.graph().fingerprint() if run.config_file.exists() else None
    except ForetimeError:
        return None


def is_another(known: str | None, data: DataConfig) -> bool:
    """Return whether a known fingerprint differs from that of the graph that `[data]` names, if both are known."""
    found = _fingerprint(data.model_dump_json()) if known else None
    return found is not None and found != known


@cache
def _fingerprint(data: str) -> str | None:
    """Return the fingerprint of the graph of a section, or None if it cannot be read: training will say why."""
    section = DataConfig.model_validate_json(data)
    try:
        return read_graph(section.path, section).fingerprint()
    except ForetimeError:
        return None


def begin_with_shorter(bench: BenchList, planned: PlannedRun) -> None:
    """Begin a planned run as a copy of the longest one that differs only by its smaller number of epochs.

    Where no such run can be continued nothing is done, and the planned run is trained from the beginning.
    """
    folder = bench.folder(planned)
    copy = folder.with_name(f"{folder.name}.copy")
    for run in _shorter(bench, planned):
        shutil.rmtree(copy, ignore_errors=True)
        try:
            with run.held():
                shutil.copytree(run.path, copy)
            plan_epochs(copy, planned.config.training.epochs)
        except ForetimeError:  # out of patience, with a re-ranker, or being trained
            shutil.rmtree(copy, ignore_errors=True)
            continue
        shutil.rmtree(folder, ignore_errors=True)  # at most what a failed call has left
        copy.rename(folder)
        return


def _shorter(bench: BenchList, planned: PlannedRun) -> list[RunFolder]:
    """Return the runs that would be the planned one if they had its epochs, the longest first."""
    epochs, found = planned.config.training.epochs, {}
    for file in bench.runs.glob(f"{planned.name}-*/config.toml"):
        run = RunFolder(file.parent)
        try:
            config = run.config()
            same = config_hash(override(config, {"training.epochs": epochs})) == planned.hash
        except ForetimeError:  # of another version, or damaged
            continue
        if not same or config.training.epochs >= epochs or is_another(fingerprint_in(run), planned.config.data):
            continue
        if run.last_file.exists() and not is_held(run.path):
            found[run] = config.training.epochs
    return sorted(found, key=lambda run: found[run], reverse=True)
