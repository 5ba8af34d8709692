"""`foretime bench run`, `status`, `page` and `add`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foretime.errors import DataError

if TYPE_CHECKING:
    from foretime.experiments.bench.declared import BenchList
    from foretime.experiments.bench.rows import Row
    from foretime.experiments.bench.running import Standing

bench_app = typer.Typer(
    help="Run declared lists of trainings, and set them beside published figures.", no_args_is_help=True
)

RunList = Annotated[Path, typer.Argument(metavar="LIST", help="A list of runs in TOML.", show_default=False)]
Only = Annotated[list[str] | None, typer.Option(help="Only runs of this name, as icews14-*; again and again.")]
PerRun = Annotated[
    float | None, typer.Option("--seconds-per-run", help="The budget of each run; default: the list's.", min=0)
]
InAll = Annotated[
    float | None, typer.Option("--seconds-in-all", help="The budget of this call; default: the list's.", min=0)
]
Threads = Annotated[int | None, typer.Option(help="The threads of each run; default: the list's.", min=1)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]


@bench_app.command()
def run(
    runs: RunList,
    only: Only = None,
    seconds_per_run: PerRun = None,
    seconds_in_all: InAll = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Train what is left of a list, one run after the other; call again to go on."""
    from foretime.experiments.bench.running import run_list, standings

    bench = _read(runs, only, seconds_per_run, seconds_in_all, threads)
    run_list(bench, lambda text: typer.echo(text, err=True))
    found = standings(bench)
    _report(bench, found, as_json)
    if any(standing.state in ("failed", "another graph") for standing in found):
        raise typer.Exit(1)


@bench_app.command()
def status(runs: RunList, only: Only = None, as_json: AsJson = False) -> None:
    """Say how each run of a list stands."""
    from foretime.experiments.bench.running import standings

    bench = _read(runs, only)
    _report(bench, standings(bench), as_json)


@bench_app.command()
def page(
    results: Annotated[Path, typer.Argument(help="A file of results.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the page goes.")] = Path("docs/benchmarks.md"),
    plot: Annotated[bool, typer.Option(help="Draw MRR against training time beside the page.")] = True,
) -> None:
    """Write the page that sets results beside the figures that the paper prints."""
    from foretime.experiments.bench.page import write_page
    from foretime.experiments.bench.rows import read_rows

    if not results.is_file():
        raise DataError(f"{results}: no such file of results; foretime bench run makes one")
    for file in write_page(out, read_rows(results), str(results), plot):
        typer.echo(f"written to {file}", err=True)


@bench_app.command()
def add(
    results: Annotated[Path, typer.Argument(help="A file of results.", show_default=False)],
    runs: Annotated[list[Path], typer.Argument(help="Folders of finished runs.", show_default=False)],
    name: Annotated[
        str, typer.Option(help="What the runs are called, before their seeds; default: as the folder.")
    ] = "",
    variant: Annotated[str, typer.Option(help="What they are of their model, as -TIS.")] = "",
) -> None:
    """Put finished runs that no list has made among the results."""
    from foretime.experiments.bench.rows import add_finished
    from foretime.experiments.bench.running import summary
    from foretime.runs.folder import RunFolder

    for row, old in add_finished(results, [RunFolder.open(folder) for folder in runs], name, variant):
        instead = f"; in the place of one with the configuration {old['config_hash']}" if old else ""
        typer.echo(f"{row['name']}: {summary(row)}{instead}", err=True)


def _read(
    runs: Path,
    only: list[str] | None,
    per_run: float | None = None,
    in_all: float | None = None,
    threads: int | None = None,
) -> BenchList:
    from dataclasses import replace

    from foretime.experiments.bench.declared import read_list

    bench = read_list(runs, only, threads)
    return replace(
        bench,
        seconds_per_run=bench.seconds_per_run if per_run is None else per_run,
        seconds_in_all=bench.seconds_in_all if in_all is None else in_all,
    )


def _report(bench: BenchList, found: list[Standing], as_json: bool) -> None:
    if as_json:
        values = [{"name": s.planned.name, "state": s.state, "result": s.row, "attempt": s.attempt} for s in found]
        typer.echo(json.dumps(values, ensure_ascii=False, indent=2))
        return
    from rich.markup import escape
    from rich.table import Table

    from foretime.cli.tables import console

    table = Table("run", "state", "epochs", "valid MRR", "test MRR", "s")
    for standing in found:
        row = standing.row
        best = _best_on_valid(row) if row else None
        table.add_row(
            escape(standing.planned.name),
            standing.state,
            f"{row['epochs']}" if row else "",
            "" if best is None else f"{best:.4f}",
            f"{row['test']['mrr']:.4f}" if row and row["test"] else "",
            f"{standing.seconds:,.0f}" if row or standing.attempt else "",
        )
    console.print(table)
    done = sum(standing.state == "done" for standing in found)
    console.print(f"{done} of {len(found)} runs are done; results in {bench.results}", markup=False, soft_wrap=True)


def _best_on_valid(row: Row) -> float | None:
    """Return the MRR on valid of a result, or the best so far."""
    return row["valid"]["mrr"] if row["valid"] else max((point[2] for point in row["curve"]), default=None)
