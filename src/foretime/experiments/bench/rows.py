"""Results: one line of JSON for each run, with everything that a table about it needs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foretime import __version__
from foretime.config import Config, override
from foretime.errors import ConfigError, DataError, RunError
from foretime.experiments.bench.curve import curve_of, has_converged, last_gain
from foretime.experiments.bench.lists import NAME, VARIANT
from foretime.experiments.bench.provenance import Provenance, commit_in
from foretime.experiments.bench.shape import Status, fault_in
from foretime.files import hold, make_folder, parse_json, read_bytes, write_text
from foretime.reranker.folds import fitted_on
from foretime.runs.fingerprint import config_hash, seedless_hash
from foretime.runs.finish import is_finished, progress_of, training_seconds
from foretime.runs.folder import RunFolder
from foretime.training.guidance import wants_rules

Row = dict[str, Any]


@dataclass(frozen=True)
class Ending:
    """How a run ended this time, and how long it has taken in all."""

    status: Status
    seconds: float
    note: str | None = None


def read_rows(path: Path) -> list[Row]:
    """Return the results in a file, none if there is no such file yet."""
    if not path.exists():
        return []
    rows = []
    try:
        lines = read_bytes(path).splitlines()  # UTF-8, as JSON is
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        fault = fault_in(line)
        if fault:
            raise DataError(f"{path}:{number}: not a result of foretime bench ({fault}); fix the line or remove it")
        rows.append(parse_json(line))
    return rows


def write_row(path: Path, row: Row) -> None:
    """Replace the result of the same name, or append it.

    An unfinished run does not replace a finished result but becomes its `attempt`: half a run of a new configuration is
    no result yet, and a failure should not take away what is known. `earlier` has the hashes of the other
    configurations that were ranked on test under the same name.
    """
    make_folder(path.parent)
    with hold(path.parent):  # parallel calls write to one file
        rows = read_rows(path)
        places = [place for place, other in enumerate(rows) if other["name"] == row["name"]]
        if places and row["status"] != "finished" and rows[places[0]]["status"] == "finished":
            rows[places[0]]["attempt"] = {name: row[name] for name in ("config_hash", "status", "seconds", "note")}
        elif places:
            rows[places[0]] = {**row, "earlier": _earlier(rows[places[0]], row)}
        else:
            rows.append(row)
        lines = [json.dumps(line, ensure_ascii=False) for line in rows]
        for line, own in zip(lines, rows, strict=True):
            if fault := fault_in(line.encode()):
                raise DataError(f"{path}: {own['name']} would be no result of foretime bench ({fault}); not written")
        write_text(path, "".join(line + "\n" for line in lines))


def _earlier(before: Row, row: Row) -> list[str]:
    """Return the hashes of the other configurations that were ranked on test under the name of a result."""
    own = [before["config_hash"]] if before["test"] else []
    graphs = {found for found in (before.get("data_fingerprint"), row.get("data_fingerprint")) if found}
    past = [*before.get("earlier", []), *own] if len(graphs) < 2 else []  # the test facts of another graph are others
    ranked = [*past, *row.get("earlier", [])]
    return [known for known in dict.fromkeys(ranked) if known != row["config_hash"]]


def row_of(name: str, run: RunFolder, ending: Ending, variant: str = "", made: Provenance | None = None) -> Row:
    """Return the result of a run as it stands; what it has not reached yet is empty."""
    config, graph, curve = run.config(), run.graph(), curve_of(run.trace())
    report = run.report() if is_finished(run, graph) else {}
    progress = progress_of(run.last_file)
    epochs = report.get("epochs") or (progress.epochs_done if progress else 0)
    status: Status = "finished" if report else ending.status  # a run stopped after the last figure has finished
    done = status == "finished"
    out_of_patience = done and epochs < config.training.epochs
    shorter = run.tested_before()
    return {
        "name": name,
        "model": config.model.name,
        "variant": variant,
        "data": graph_name(graph.name),
        "data_settings": data_settings(config),
        "data_fingerprint": graph.fingerprint(),
        "seed": config.training.seed,
        "config_hash": config_hash(config),
        "seedless_hash": seedless_hash(config),
        "status": status,
        "note": ending.note,
        "version": report.get("machine", {}).get("foretime", __version__),
        "commit": made.commit if made else None,
        "finished_by": made.finished_by if made else None,
        "machine": {**report.get("machine", {}), **({"processor": made.processor} if made else {})},
        "rank": config.model.options.get("rank"),
        "ensemble_size": config.training.ensemble_size,
        "boundary_relations": config.training.boundary_relations if graph.has_intervals else None,
        "precision": config.training.precision,
        "candidates": config.training.candidates if config.training.candidates < len(graph.entities) else 0,
        "filter": config.training.filter,
        "valid_limit": config.training.valid_limit,
        "evidence": config.evidence.use,
        "reranker": fitted_on(config.reranker) if config.reranker.use else None,
        "parameters": report.get("parameters"),
        "rules": report.get("rules"),
        "guided": wants_rules(config),
        "tested_before": shorter,
        "earlier": [config_hash(override(config, {"training.epochs": epochs})) for epochs in shorter],
        "epochs": epochs,
        "planned_epochs": config.training.epochs,
        "best_epoch": progress.best_epoch if progress else 0,
        "training_seconds": round(training_seconds(run), 1),
        "seconds": round(ending.seconds, 1),
        "peak_memory_mb": report.get("peak_memory_mb"),
        "converged": has_converged(curve, out_of_patience) if done else None,
        "last_gain": last_gain(curve),
        "curve": [list(point) for point in curve],
        "valid": _metrics(report.get("valid")),
        "test": _metrics(report.get("test")),
    }


def graph_name(name: str) -> str:
    """Return the name of a graph as tables and files can have it."""
    return re.sub(r"[/\\|]", "-", name) or "graph"


def data_settings(config: Config) -> dict[str, Any]:
    """Return how a graph is read, where that is not the default; not where it lies."""
    return config.data.model_dump(exclude_defaults=True, exclude={"path"}, mode="json")


def row_of_finished(run: RunFolder, name: str = "", variant: str = "") -> Row:
    """Return the result of a finished run; its commit is known only if a list has begun it."""
    config = run.config()
    if not is_finished(run, run.graph()):
        raise RunError(f"{run.path}: the run is not finished; resume it with foretime train --resume {run.path}")
    ending = Ending("finished", training_seconds(run))
    called = f"{name or run.path.resolve().name + variant}-{config.training.seed}"
    return {**row_of(called, run, ending, variant), "commit": commit_in(run.path)}


def add_finished(path: Path, runs: list[RunFolder], name: str = "", variant: str = "") -> list[tuple[Row, Row | None]]:
    """Add runs to the results; return each with the result of another configuration that it has replaced."""
    if not re.fullmatch(VARIANT, variant):
        raise ConfigError(f"--variant {variant!r}: a variant is made of letters, digits, + and -, as -TIS")
    if not re.fullmatch(NAME, name):
        raise ConfigError(f"--name {name!r}: a name is made of letters, digits, spaces and . + - _")
    rows = [row_of_finished(run, name, variant) for run in runs]
    names = [row["name"] for row in rows]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"two runs would be called {', '.join(twice)}; add one of them with another --name")
    before = {row["name"]: row for row in read_rows(path)}
    for row in rows:
        write_row(path, row)
    olds = (before.get(row["name"]) for row in rows)
    return [
        (row, old if old and old["config_hash"] != row["config_hash"] else None)
        for row, old in zip(rows, olds, strict=True)
    ]


def _metrics(split: dict[str, Any] | None) -> dict[str, Any] | None:
    if not split:
        return None
    return {**split["all"], **{name: split[name] for name in ("mrr_interval", "objects", "subjects") if name in split}}
