"""A benchmark: a list of runs is trained, and what has come of it is one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foretime.evaluation.metrics import METRICS
from foretime.experiments.bench.lists import BenchList, read_list
from foretime.experiments.bench.rows import add_finished
from foretime.experiments.bench.running import best_on_valid, run_list, summary
from foretime.experiments.bench.standing import Standing, standings
from foretime.runs.executor import open_executor
from foretime.runs.folder import RunFolder
from foretime.tables import Table, Tabular


@dataclass(frozen=True, repr=False)
class BenchResults(Tabular):
    """The state of every run of a list and what it has reached on valid and test.

    `file` is the file of results, one line of JSON for each run; `standings` has the runs in the order of the list.
    """

    file: Path
    standings: tuple[Standing, ...]

    @property
    def failed(self) -> list[str]:
        """The names of runs that have failed, or that would be mixed up with another graph."""
        return [own.planned.name for own in self.standings if own.state in ("failed", "another graph")]

    def table(self) -> Table:
        """Return one row for each run: its state, MRR on valid, and the figures on test."""
        records = []
        for standing in self.standings:
            row = standing.row or {"test": None, "valid": None, "curve": []}
            figures = {f"test_{name}": row["test"].get(name) if row["test"] else None for name in METRICS}
            records.append(
                {"run": standing.planned.name, "state": standing.state, "epochs": row.get("epochs")}
                | {"valid_mrr": best_on_valid(row), **figures}
                | {"seconds": standing.seconds if standing.row or standing.attempt else None}
            )
        done = sum(standing.state == "done" for standing in self.standings)
        formats = {"valid_mrr": ".4f", "seconds": ",.0f"} | {f"test_{name}": ".4f" for name in METRICS}
        return Table.of(records, f"{done} of {len(records)} runs are done; results in {self.file}", formats)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return everything as plain values for JSON: every run with its state, its result and its attempt."""
        return [
            {"name": own.planned.name, "state": own.state, "result": own.row, "attempt": own.attempt}
            for own in self.standings
        ]


def run_benchmark(
    list_file: Path | str,
    *,
    only: Sequence[str] | None = None,
    seconds_per_run: float | None = None,
    seconds_in_all: float | None = None,
    threads: int | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    report: Callable[[str], None] | None = None,
) -> BenchResults:
    """Train what is left of a list of runs and return how all of them stand.

    Each run is trained in a process of its own. Runs that are done are skipped, and what was stopped is resumed, so the
    same call can be repeated until everything is done.

    Parameters:
        list_file: The list in TOML (docs/benchmarking.md).
        only: Patterns of names, such as `icews14-*`; other runs are left out.
        seconds_per_run: The budget of each run over all calls, 0 for none; None: that of the list.
        seconds_in_all: The budget of this call, 0 for none; None: that of the list.
        threads: The threads of each run; None: those of the list.
        jobs: How many runs are trained in parallel.
        cluster: The Ray cluster that trains them, as `auto` (docs/cluster.md); then a `jobs` of 1 is as many as fit.
        report: Called with every line of progress, such as `print`.

    Raises `ConfigError` for a list or a configuration that is wrong, `DataError` for a damaged file of results, and
    `Interrupted` when a training was stopped by Ctrl-C. A run that fails raises nothing: its state says so.

    Example:
        results = foretime.run_benchmark("list.toml", only=["icews14-*"], report=print)
        results.to_frame().sort_values("test_mrr")
    """
    bench = read_list(list_file, only, seconds_per_run=seconds_per_run, seconds_in_all=seconds_in_all, threads=threads)
    run_list(bench, report or (lambda text: None), open_executor(jobs, cluster))
    return _results(bench)


def benchmark_status(list_file: Path | str, *, only: Sequence[str] | None = None) -> BenchResults:
    """Return how the runs of a list stand, and train nothing.

    Parameters:
        list_file: The list in TOML.
        only: Patterns of names, such as `icews14-*`; other runs are left out.

    Raises `ConfigError` for a list or a configuration that is wrong, and `DataError` for a damaged file of results.

    Example:
        print(foretime.benchmark_status("list.toml"))
    """
    return _results(read_list(list_file, only))


def add_to_benchmark(
    results_file: Path | str, runs: Sequence[Path | str], *, name: str = "", variant: str = ""
) -> list[str]:
    """Add finished runs that no list has trained to a file of results, and return a line about each.

    Parameters:
        results_file: The file of results, created if it is not there.
        runs: Folders of finished runs.
        name: What the runs are called before their seeds; empty: the name of the folder and the variant.
        variant: What they are of their model, such as `-TIS`.

    Raises `RunError` for a run that is not finished, and `ConfigError` for a name that two runs would have.

    Example:
        foretime.add_to_benchmark("results/bench.jsonl", ["runs/icews14-lcge"])
    """
    lines = []
    for row, old in add_finished(Path(results_file), [RunFolder.open(run) for run in runs], name, variant):
        instead = f"; replaces a result of the configuration {old['config_hash']}" if old else ""
        lines.append(f"{row['name']}: {summary(row)}{instead}")
    return lines


def _results(bench: BenchList) -> BenchResults:
    return BenchResults(bench.results, standings(bench))
