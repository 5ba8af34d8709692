"""Running a list: one run after the other; what is done is skipped, what was stopped is resumed."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from foretime.errors import ConfigError, ForetimeError, Interrupted
from foretime.experiments.bench.existing import begin_with_shorter, fingerprint_in, is_another
from foretime.experiments.bench.lists import BenchList, PlannedRun
from foretime.experiments.bench.process import is_held, only_here, train_in_process
from foretime.experiments.bench.provenance import Provenance, provenance_of
from foretime.experiments.bench.rows import Ending, Row, data_settings, graph_name, read_rows, row_of, write_row
from foretime.files import make_folder
from foretime.runs.fingerprint import seedless_hash
from foretime.runs.finish import training_seconds
from foretime.runs.folder import RunFolder

State = Literal["done", "over budget", "training", "to resume", "failed", "changed", "another graph", "to do"]
"""`changed`: the result is of another configuration. `to resume`: begun and not finished. `training`: another process
trains it. `another graph`: what is there was trained on another graph of the same name."""
SKIPPED = ("done", "over budget", "another graph")
ReportLine: TypeAlias = Callable[[str], None]


class Standing(NamedTuple):
    """The state of one run of a list, its result if there is one of this configuration, and the seconds spent."""

    planned: PlannedRun
    state: State
    row: Row | None
    seconds: float = 0.0
    attempt: Row | None = None
    """An unfinished run of this configuration beside a finished result of another one."""


def standings(bench: BenchList) -> tuple[Standing, ...]:
    """Return the state of every run of a list."""
    rows = {row["name"]: row for row in read_rows(bench.results)}
    found = [_standing(bench, planned, rows.get(planned.name)) for planned in bench.planned]
    return tuple(own._replace(state="training") if is_held(bench.folder(own.planned)) else own for own in found)


def _standing(bench: BenchList, planned: PlannedRun, row: Row | None) -> Standing:
    if _is_of_another_graph(bench, planned, row):
        return Standing(planned, "another graph", row)
    known = next((found for found in (row, row and row.get("attempt")) if found and _is_of(found, planned)), None)
    if known is None:
        begun = RunFolder(bench.folder(planned)).config_file.exists()
        return Standing(planned, "to resume" if begun else "changed" if row else "to do", None)
    own, attempt = (row, None) if known is row else (None, known)
    states: dict[str, State] = {"finished": "done", "failed": "failed"}
    state = states.get(known["status"], "to resume")
    if known["status"] == "over budget" and 0 < bench.seconds_per_run < known["seconds"] + 0.1:
        state = "over budget"
    return Standing(planned, state, own, known["seconds"], attempt)


def _is_of(found: Row, planned: PlannedRun) -> bool:
    return bool(found["config_hash"] == planned.hash)


def _is_of_another_graph(bench: BenchList, planned: PlannedRun, row: Row | None) -> bool:
    """Return whether the result or the folder of a planned run is of another graph, where the graph can be read."""
    same = row is not None and _is_of(row, planned)
    # other settings of [data] make another graph of the same files
    read_alike = row is not None and (same or row.get("data_settings") == data_settings(planned.config))
    known = row.get("data_fingerprint") if row and read_alike else None
    if not known or not same:
        begun = fingerprint_in(RunFolder(bench.folder(planned)))
        if is_another(begun, planned.config.data):
            return True
    return is_another(known, planned.config.data)


def run_list(bench: BenchList, report: ReportLine = lambda text: None) -> list[Row]:
    """Do what is left of a list within its budget, and return the results of this call.

    What another process is training is skipped: two calls share the runs of one list.
    """
    began, results = time.monotonic(), []
    _check_places(bench)
    for number, planned in enumerate(bench.planned, start=1):
        title = f"{number} of {len(bench.planned)}: {planned.name}"
        state = _current(bench, planned).state
        if state in SKIPPED:
            report(f"{title}: {state}, skipped{_remedy(bench, planned) if state == 'another graph' else ''}")
            continue
        left = bench.seconds_in_all - (time.monotonic() - began)
        if bench.seconds_in_all and left <= 0:
            report(f"{title}: the {bench.seconds_in_all:g} seconds in all are over; call again to resume")
            break
        with only_here(bench.folder(planned)) as lock:
            standing = _current(bench, planned)  # another process may have finished it
            if lock is None or standing.state in SKIPPED:
                report(f"{title}: {'another process trains it' if lock is None else standing.state}, skipped")
                continue
            report(f"{title}: {standing.state}")
            ending, row = _run(bench, standing, lock, left, report)
        results.append(row)
        report(f"{title}: {summary(row)}")
        if ending.status == "interrupted":
            raise Interrupted(f"stopped; resume with foretime bench run {bench.path}")
    return results


def _check_places(bench: BenchList) -> None:
    """Raise `ConfigError` where results or runs cannot be written, before anything is trained."""
    for key, folder in (("results", bench.results.parent), ("runs", bench.runs)):
        try:
            make_folder(folder)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise ConfigError(
                f"{bench.path}: {key}: cannot write in {folder}: {error.strerror}; name another place in [bench]"
            ) from None
    if bench.results.is_dir():
        raise ConfigError(f"{bench.path}: results = {bench.results}: is a folder; name a file in it")


def _remedy(bench: BenchList, planned: PlannedRun) -> str:
    folder = bench.folder(planned)
    there = f"its line in {bench.results}" + (f" and its folder {folder}" if folder.exists() else "")
    return f": what is there was trained on another graph of this name; rename the run, or remove {there}"


def _current(bench: BenchList, planned: PlannedRun) -> Standing:
    return _standing(bench, planned, {row["name"]: row for row in read_rows(bench.results)}.get(planned.name))


def _run(bench: BenchList, standing: Standing, lock: int, left_in_all: float, report: ReportLine) -> tuple[Ending, Row]:
    """Train one run and write its result; return how the training ended, and the result."""
    planned, folder = standing.planned, bench.folder(standing.planned)
    if not RunFolder(folder).config_file.exists():
        begin_with_shorter(bench, planned)
    made = provenance_of(folder)
    before = _spent(standing.seconds, folder)
    limit = _limit(bench, before, left_in_all)
    ending = train_in_process(planned.config, folder, lock, limit, report)
    total = replace(ending, seconds=before + ending.seconds)
    if ending.status == "over budget" and limit < (_limit(replace(bench, seconds_in_all=0.0), before, 0.0) or math.inf):
        total = replace(total, status="interrupted")  # the time of this call is over, not that of the run
    row = _result(planned, folder, total, made)
    write_row(bench.results, row)
    return ending, row


def _spent(known: float, folder: Path) -> float:
    """Return the seconds that a run has taken so far: as known or, if a call was killed, by its checkpoints."""
    return max(known, training_seconds(RunFolder(folder)))


def _limit(bench: BenchList, before: float, left_in_all: float) -> float:
    """Return how many seconds a run has, 0 for as many as it takes."""
    budgets = ((bench.seconds_per_run, bench.seconds_per_run - before), (bench.seconds_in_all, left_in_all))
    return min((max(left, 1e-3) for budget, left in budgets if budget), default=0.0)


def _result(planned: PlannedRun, folder: Path, ending: Ending, made: Provenance) -> Row:
    run, config = RunFolder(folder), planned.config
    if run.config_file.exists():
        try:
            return row_of(planned.name, run, ending, planned.variant, made)
        except ForetimeError as error:  # its files are damaged, or of another version
            if ending.status == "finished":
                ending = replace(ending, status="failed", note=str(error))
    return {
        "name": planned.name, "model": config.model.name, "variant": planned.variant,
        "data": graph_name(Path(config.data.location).resolve().name.split(".")[0]),
        "seed": config.training.seed, "config_hash": planned.hash,
        "seedless_hash": seedless_hash(config), "status": ending.status, "note": ending.note,
        "commit": made.commit, "epochs": 0, "seconds": round(ending.seconds, 1), "curve": [], "valid": None,
        "test": None,
    }  # fmt: skip


def summary(row: Row) -> str:
    """Return a result in one line."""
    parts = [row["status"]]
    if row["epochs"]:
        parts.append(f"{row['epochs']} of {row['planned_epochs']} epochs")
    parts += [f"{split} MRR {row[split]['mrr']:.4f}" for split in ("valid", "test") if row[split]]
    if not row["valid"] and row["curve"]:
        parts.append(f"valid MRR {best_on_valid(row):.4f} so far")
    parts.append(f"{row['seconds']:.0f} s")
    return ", ".join(parts) + (f" ({row['note']})" if row.get("note") else "")


def best_on_valid(row: Row) -> float | None:
    """Return the MRR on valid of a result, or the best so far."""
    return row["valid"]["mrr"] if row["valid"] else max((point[2] for point in row["curve"]), default=None)
