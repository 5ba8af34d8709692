"""`foretime compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import foretime as ft
from foretime.cli.options import AsJson, Filter, SplitName
from foretime.cli.output import note, print_json, say, show


def compare(
    first: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="The folder of another run on the same graph.", show_default=False)],
    split: Annotated[SplitName, typer.Option(help="Whose facts are asked; valid to choose by.")] = SplitName.valid,
    filter_name: Filter = None,
    top: Annotated[int, typer.Option("--top", "-n", help="How many questions and predicates to list.", min=0)] = 10,
    resamples: Annotated[int, typer.Option(help="Draws of the bootstrap.", min=100)] = 1_000,
    out: Annotated[Path | None, typer.Option(help="Where every question goes with both ranks (.csv).")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs question by question: how much better is the second, and how sure is that."""
    if out is not None and out.suffix != ".csv":
        raise ft.ConfigError(f"{out}: questions are written as .csv; name such a file")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)  # ranking takes its time: not after it
    result = ft.compare(
        first, second, split=split.value, filter=filter_name and filter_name.value, top=top, resamples=resamples
    )
    if out is not None:
        note(f"{result.write_questions(out):,} questions written to {out}")
    if as_json:
        print_json(result.to_dict())
        return
    say(result.title)
    for table in result.tables(top):
        show(table)
    for line in result.notes:
        say(line)
