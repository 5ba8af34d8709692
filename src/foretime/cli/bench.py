"""`foretime bench run`, `status` and `add`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import foretime as ft
from foretime.cli.options import MOST_JOBS, MOST_SECONDS, MOST_THREADS, Cluster

if TYPE_CHECKING:
    from foretime import BenchResults

bench_app = typer.Typer(help="Train declared lists of runs, and compare what they reach.", no_args_is_help=True)

RunList = Annotated[Path, typer.Argument(metavar="LIST", help="A list of runs in TOML.", show_default=False)]
Only = Annotated[list[str] | None, typer.Option(help="Only runs of this name, as icews14-*; may be repeated.")]
PerRun = Annotated[
    float | None,
    typer.Option("--seconds-per-run", help="The budget of each run; default: the list's.", min=0, max=MOST_SECONDS),
]
InAll = Annotated[
    float | None,
    typer.Option("--seconds-in-all", help="The budget of this call; default: the list's.", min=0, max=MOST_SECONDS),
]
Threads = Annotated[
    int | None, typer.Option(help="The threads of each run; default: the list's.", min=1, max=MOST_THREADS)
]
Markdown = Annotated[Path | None, typer.Option(help="Write the table to this file, in Markdown.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]


@bench_app.command()
def run(  # noqa: PLR0913, each is a flag
    runs: RunList,
    only: Only = None,
    seconds_per_run: PerRun = None,
    seconds_in_all: InAll = None,
    threads: Threads = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Runs in parallel.", max=MOST_JOBS)] = 1,
    cluster: Cluster = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Train what is left of a list; call again to resume."""
    results = ft.run_benchmark(
        runs,
        only=only,
        seconds_per_run=seconds_per_run,
        seconds_in_all=seconds_in_all,
        threads=threads,
        jobs=jobs,
        cluster=cluster,
        report=lambda text: typer.echo(text, err=True),
    )
    _print(results, markdown, as_json)
    if results.failed:
        raise typer.Exit(1)


@bench_app.command()
def status(runs: RunList, only: Only = None, markdown: Markdown = None, as_json: AsJson = False) -> None:
    """Show how each run of a list stands."""
    _print(ft.benchmark_status(runs, only=only), markdown, as_json)


@bench_app.command()
def add(
    results: Annotated[Path, typer.Argument(help="A file of results.", show_default=False)],
    runs: Annotated[list[Path], typer.Argument(help="Folders of finished runs.", show_default=False)],
    name: Annotated[
        str, typer.Option(help="What the runs are called, before their seeds; default: as the folder.")
    ] = "",
    variant: Annotated[str, typer.Option(help="What they are of their model, as -TIS.")] = "",
) -> None:
    """Add finished runs that no list has trained to the results."""
    for line in ft.add_to_benchmark(results, runs, name=name, variant=variant):
        typer.echo(line, err=True)


def _print(results: BenchResults, markdown: Path | None, as_json: bool) -> None:
    if markdown is not None:
        markdown.parent.mkdir(parents=True, exist_ok=True)
        markdown.write_text(results.table().to_markdown(), encoding="utf-8")
    typer.echo(json.dumps(results.to_dicts(), ensure_ascii=False, indent=2) if as_json else str(results))
