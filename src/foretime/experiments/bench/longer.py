"""A run of a list whose epochs were raised: it goes on where the shorter one ended."""

from __future__ import annotations

import shutil

from foretime.config import override
from foretime.errors import ForetimeError
from foretime.experiments.bench.declared import BenchList, Planned
from foretime.experiments.bench.graphs import fingerprint_in, is_another
from foretime.experiments.bench.process import is_held
from foretime.runs.fingerprint import config_hash
from foretime.runs.folder import RunFolder
from foretime.runs.life import continue_run


def begin_with_shorter(bench: BenchList, planned: Planned) -> None:
    """Put a copy of a run that differs by nothing but its smaller number of epochs in the place of the planned run.

    The longest one is taken. If there is none that can go on, nothing is done, and the planned run begins anew.
    """
    folder, epochs = bench.folder(planned), planned.config.training.epochs
    shorter = [run for run in _runs(bench, planned) if run.config().training.epochs < epochs]
    for run in sorted(shorter, key=lambda run: run.config().training.epochs, reverse=True):
        copy = folder.with_name(f"{folder.name}.copy")
        shutil.rmtree(copy, ignore_errors=True)
        try:
            with run.held():
                shutil.copytree(run.path, copy)
            continue_run(copy, epochs)
        except ForetimeError:  # out of patience, with a second stage, or somebody trains in it
            shutil.rmtree(copy, ignore_errors=True)
            continue
        shutil.rmtree(folder, ignore_errors=True)  # at most what a call has left that could not begin
        copy.rename(folder)
        return


def _runs(bench: BenchList, planned: Planned) -> list[RunFolder]:
    """Return the runs of the same name that nobody trains now and that would be the planned one with its epochs."""
    found = []
    for file in bench.folder(planned).parent.glob(f"{planned.name}-*/config.toml"):
        run = RunFolder(file.parent)
        try:
            same = config_hash(override(run.config(), {"training.epochs": planned.config.training.epochs}))
        except ForetimeError:  # of another version, or damaged
            continue
        other = is_another(fingerprint_in(run), planned.config.data)
        if same == planned.hash and not other and run.last_file.exists() and not is_held(run.path):
            found.append(run)
    return found
