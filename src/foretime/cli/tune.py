"""`foretime tune`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import foretime as ft
from foretime.cli.options import MOST_SECONDS

TOP = 10
"""Trials that are shown."""


def tune(
    config: Annotated[Path, typer.Argument(help="A file with the sections tune and ranges.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where trials go and are resumed; default: runs/tune-NAME.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="How many in all; default: the file's.", min=1, max=100_000)
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Begin no trial after so many seconds; 0: no limit.", min=0, max=MOST_SECONDS)
    ] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the trials as JSON.")] = False,
) -> None:
    """Choose settings from declared ranges by the MRR on valid; call again to resume."""
    from foretime.cli.progress import TerminalProgress

    found = ft.tune(
        config,
        folder=out,
        trials=trials,
        seconds=seconds,
        callback=TerminalProgress(),
        report=lambda text: typer.echo(text, err=True),
    )
    if as_json:
        typer.echo(json.dumps(found.to_dicts(), ensure_ascii=False, indent=2))
        return
    typer.echo(found.table(TOP).to_text())
    typer.echo(f"{len(found)} trials, all in {found.folder / 'trials.csv'}; test was not ranked")
    if found.best is not None:
        typer.echo(f"train the best: foretime train --config {found.folder / 'best.toml'}", err=True)
