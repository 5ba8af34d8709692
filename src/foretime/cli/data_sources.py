"""`foretime data get` and `foretime data world`: data to begin with, fetched or generated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def get(
    name: Annotated[str, typer.Argument(help="icews14, icews05-15 or wikidata12k.")],
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
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn

    from foretime.data.catalog import download

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    tasks: dict[str, TaskID] = {}
    console = Console(stderr=True)
    bars = Progress(*columns, console=console, disable=not console.is_terminal)

    def show(file: str, done: int, total: int | None) -> None:
        if file not in tasks:
            bars.start()  # not before there is something to show: bars of nothing are an empty line
            tasks[file] = bars.add_task(file)
        bars.update(tasks[file], completed=done, total=total)

    try:
        target = download(name, folder, source=source, progress=show)
    finally:
        bars.stop()
    typer.echo(target)


def world(
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    events: Annotated[int, typer.Option(help="How many events, 1,000 to 10,000,000.")] = 20_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 0,
    days: Annotated[
        int | None, typer.Option(help="Days of the timeline; by default as the number of events asks.")
    ] = None,
) -> None:
    """Generate a world of states, people and groups, with temporal rules of known confidence planted in it."""
    from foretime.data.synthetic import generate_world

    made = generate_world(events, seed, days=days)
    made.write(out)
    typer.echo(f"{out}: {len(made):,} events, {len(made.entities):,} entities, {made.days:,} days")
    typer.echo(f"{out / 'rules.txt'}: {len(made.rules)} planted rules")
