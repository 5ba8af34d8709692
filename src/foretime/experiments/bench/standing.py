"""How the runs of a list stand: what is done, what is left, and what is in the way."""

from __future__ import annotations

from typing import Literal, NamedTuple

from foretime.experiments.bench.existing import fingerprint_in, is_another
from foretime.experiments.bench.lists import BenchList, PlannedRun
from foretime.experiments.bench.locks import is_held
from foretime.experiments.bench.rows import Row, data_settings, read_rows
from foretime.runs.folder import RunFolder

State = Literal["done", "over budget", "training", "to resume", "failed", "changed", "another graph", "to do"]
"""`changed`: the result is of another configuration. `to resume`: begun and not finished. `training`: another process
trains it. `another graph`: what is there was trained on another graph of the same name."""
SKIPPED = ("done", "over budget", "another graph")


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


def current_standing(bench: BenchList, planned: PlannedRun) -> Standing:
    """Return the state of one run of a list."""
    return _standing(bench, planned, {row["name"]: row for row in read_rows(bench.results)}.get(planned.name))
