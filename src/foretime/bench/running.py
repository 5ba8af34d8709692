"""Running a list: one run after the other, what is done is skipped, what was stopped goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from foretime.bench.declared import BenchList, Planned
from foretime.bench.process import train_in_process
from foretime.bench.provenance import Provenance, provenance
from foretime.bench.rows import Ending, Row, read_rows, row_of, write_row
from foretime.errors import Interrupted
from foretime.training import RunFolder

State = Literal["done", "over budget", "to go on", "failed", "changed", "to do"]
"""`changed`: there is a result, of another configuration. `to go on`: it has begun and was not finished."""


class Standing(NamedTuple):
    """One run of a list, how it stands, and its result if there is one of this configuration."""

    planned: Planned
    state: State
    row: Row | None


def standings(bench: BenchList) -> list[Standing]:
    """Return how each run of a list stands."""
    rows = {row["name"]: row for row in read_rows(bench.results)}
    return [_standing(bench, planned, rows.get(planned.name)) for planned in bench.planned]


def _standing(bench: BenchList, planned: Planned, row: Row | None) -> Standing:
    begun = RunFolder(bench.folder(planned)).config_file.exists()
    if row is None or row["config_hash"] != planned.hash:
        return Standing(planned, "to go on" if begun else "changed" if row else "to do", None)
    if row["status"] == "finished":
        return Standing(planned, "done", row)
    if row["status"] == "over budget" and 0 < bench.seconds_per_run < row["seconds"] + 0.1:
        return Standing(planned, "over budget", row)
    return Standing(planned, "failed" if row["status"] == "failed" else "to go on", row)


def run_list(bench: BenchList, tell: Callable[[str], None] = lambda text: None) -> list[Row]:
    """Do what is left of a list within its budget, and return the results of this call."""
    began, made, results = time.monotonic(), provenance(), []
    for number, planned in enumerate(bench.planned, start=1):
        standing = standings(replace(bench, planned=(planned,)))[0]
        title = f"{number} of {len(bench.planned)}: {planned.name}"
        if standing.state in ("done", "over budget"):
            tell(f"{title}: {standing.state}, skipped")
            continue
        left = bench.seconds_in_all - (time.monotonic() - began)
        if bench.seconds_in_all and left <= 0:
            tell(f"{title}: the {bench.seconds_in_all:g} seconds in all are over; call again to go on")
            break
        tell(f"{title}: {standing.state}")
        row = _run(bench, standing, left if bench.seconds_in_all else 0.0, made)
        results.append(row)
        tell(f"{title}: {summary(row)}")
        if row["status"] == "interrupted":
            raise Interrupted(f"stopped; go on with foretime bench run {bench.path}")
    return results


def _run(bench: BenchList, standing: Standing, left_in_all: float, made: Provenance) -> Row:
    """Train one run, write its result and return it."""
    planned, folder = standing.planned, bench.folder(standing.planned)
    before = standing.row["seconds"] if standing.row else 0.0
    limits = [
        limit for limit in (bench.seconds_per_run - before if bench.seconds_per_run else 0.0, left_in_all) if limit
    ]
    ending = train_in_process(planned.config, folder, max(min(limits), 1e-3) if limits else 0.0)
    whole = replace(ending, seconds=before + ending.seconds)
    row = _result(planned, folder, whole, made)
    write_row(bench.results, row)
    return row


def _result(planned: Planned, folder: Path, ending: Ending, made: Provenance) -> Row:
    run = RunFolder(folder)
    if run.config_file.exists():
        return row_of(planned.name, run, ending, planned.variant, made)
    # it did not come as far as having a folder
    config = planned.config
    return {
        "name": planned.name, "model": config.model.name, "variant": planned.variant, "data": config.data.path,
        "seed": config.training.seed, "config_hash": planned.hash, "status": ending.status, "note": ending.note,
        "commit": made.commit, "epochs": 0, "seconds": round(ending.seconds, 1), "curve": [], "valid": None,
        "test": None,
    }  # fmt: skip


def summary(row: Row) -> str:
    """Return a result in one line."""
    parts = [row["status"]]
    if row["epochs"]:
        parts.append(f"{row['epochs']} of {row['planned_epochs']} epochs")
    for split in ("valid", "test"):
        if row[split]:
            parts.append(f"{split} MRR {row[split]['mrr']:.4f}")
    if not row["valid"] and row["curve"]:
        parts.append(f"valid MRR {max(point[2] for point in row['curve']):.4f} so far")
    parts.append(f"{row['seconds']:.0f} s")
    return ", ".join(parts) + (f" ({row['note']})" if row.get("note") else "")
