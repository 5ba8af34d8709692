"""`foretime data`: get, import, generate, describe, check, search and split graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import foretime as ft
from foretime.cli.importing import import_
from foretime.cli.options import LARGEST_SEED, MOST_COUNT, READING, AsJson, takes
from foretime.cli.output import note, print_json, say, show

data_app = typer.Typer(help="Get, import, describe, check, search and split graphs.", no_args_is_help=True)
data_app.command("import")(import_)

Source = Annotated[
    str,
    typer.Argument(metavar="GRAPH", help="A folder of splits, a file of events, or a database.", show_default=False),
]


def _write_bad_rows(graph: ft.Graph) -> dict[str, str]:
    """Write the rows that were skipped into the current folder, say so, and return the file by its word."""
    if not graph.bad_rows:
        return {}
    path = graph.bad_rows.write(f"{graph.name}.bad_rows.jsonl")
    note(f"{graph.bad_rows.note}; they are in {path}")
    return {"bad_rows_file": str(path)}


def _say_warnings(summary: ft.Summary) -> None:
    if summary.looks_like_years:
        say("hint: if the times are years, --granularity year names them so")
    for warning in summary.warnings():
        say(f"warning: {warning}")


@data_app.command()
@takes(READING)
def describe(graph: Source, as_json: AsJson = False, *, reading: dict[str, Any]) -> None:
    """Say what a graph holds: facts, names, times, and how they are spread."""
    loaded = ft.load(graph, **reading)
    summary, written = loaded.describe(), _write_bad_rows(loaded)
    if as_json:
        print_json(summary.to_dict() | written)
        return
    show(ft.Table(("graph", summary.name), tuple(summary.rows())))
    show(
        ft.Table(
            ("most frequent predicates", "facts"), tuple(summary.frequent_predicates.items()), formats={"facts": ","}
        )
    )
    _say_warnings(summary)


@data_app.command()
@takes(READING)
def check(
    graph: Source,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if there are warnings.")] = False,
    as_json: AsJson = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Check every row of a graph. Bad rows are listed and exit with 2; warnings are only printed."""
    loaded = ft.load(graph, **reading)
    summary, written = loaded.describe(), _write_bad_rows(loaded)
    warnings = summary.warnings()
    if as_json:
        counts = {"name": summary.name, "facts": summary.facts, "background": summary.background}
        print_json(counts | {"bad_rows": summary.bad_rows, "warnings": warnings} | written)
    else:
        _say_warnings(summary)
        say(summary.verdict)
    if strict and warnings:
        raise typer.Exit(1)


@data_app.command()
@takes(READING)
def search(
    graph: Source,
    words: Annotated[list[str], typer.Argument(help="Words, or parts of them, in any order.", show_default=False)],
    predicates: Annotated[bool, typer.Option("--predicates", help="Search among predicates, not entities.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many names.", min=1, max=MOST_COUNT)] = 20,
    as_json: AsJson = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Find names by words or parts of words in them, whatever their case and accents, best first.

    The graph may be the folder of a run. Aliases of entities are searched too.
    """
    kind: Literal["entity", "predicate"] = "predicate" if predicates else "entity"
    found = ft.load(graph, **reading).search(" ".join(words), kind=kind, limit=limit)
    if as_json:
        print_json(list(found))
    elif len(found):
        show(found)
    else:
        say(f"no {kind} has {' '.join(words)!r} in its name")


@data_app.command()
@takes(READING)
def split(
    file: Annotated[Path, typer.Argument(help="A file of events.", show_default=False)],
    out: Annotated[Path, typer.Argument(help="The folder to write.", show_default=False)],
    by: Annotated[
        Literal["random", "time", "quantile"] | None,
        typer.Option(
            help="Draw facts by the seed, cut by time, or cut at quantiles of the times, as TGB does.",
            show_default="random",
        ),
    ] = None,
    valid: Annotated[float, typer.Option(help="The share of facts for valid.", max=1.0)] = 0.1,
    test: Annotated[float, typer.Option(help="The share of facts for test.", max=1.0)] = 0.1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same split.", max=LARGEST_SEED)] = 0,
    *,
    reading: dict[str, Any],
) -> None:
    """Split a file into train, valid and test, every row as it was written.

    A split by time keeps all facts of one time step together, as far as there are enough steps. With --valid-from and
    --test-from it is cut at these times.
    """
    written = ft.split_file(file, out, by=by, valid_share=valid, test_share=test, seed=seed, **reading)
    for path, count in written.items():
        say(f"{path}: {count:,} {'bad rows' if path.suffix == '.jsonl' and path.stem == 'bad_rows' else 'facts'}")


@data_app.command()
def get(
    name: Annotated[
        str,
        typer.Argument(
            help="icews14, icews05-15, wikidata12k; for forecasts icews14-a, icews14-b, icews05-15-forecast, yago."
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Option(help="Where data sets are kept; FORETIME_DATA or ./data by default.", show_default=False),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(help="A mirror with the files as SOURCE/NAME/train.txt; FORETIME_SOURCE does the same."),
    ] = None,
) -> None:
    """Fetch a public data set, checked by checksum; an interrupted download is resumed."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn

    from foretime.cli.output import error_console

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    tasks: dict[str, TaskID] = {}
    bars = Progress(*columns, console=error_console, disable=not error_console.is_terminal)

    def progress(file: str, done: int, total: int | None) -> None:
        if file not in tasks:
            bars.start()  # not before there is something to show: bars of nothing are an empty line
            tasks[file] = bars.add_task(file)
        bars.update(tasks[file], completed=done, total=total)

    try:
        typer.echo(ft.download(name, folder, source=source, progress=progress))
    finally:
        bars.stop()


@data_app.command()
def world(
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    events: Annotated[int, typer.Option(help="How many events, 1,000 to 10,000,000.", max=MOST_COUNT)] = 20_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.", max=LARGEST_SEED)] = 0,
    days: Annotated[
        int | None, typer.Option(help="Days of the timeline; by default chosen by the number of events.", max=100_000)
    ] = None,
) -> None:
    """Generate a world of states, people and groups, with temporal rules of known confidence planted in it."""
    made = ft.generate_world(events, seed=seed, days=days)
    made.write(out)
    say(f"{out}: {len(made):,} events, {len(made.entities):,} entities, {made.days:,} days")
    say(f"{out / 'rules.txt'}: {len(made.rules)} planted rules")
