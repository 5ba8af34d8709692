"""`foretime tune`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from foretime.experiments.tuning import Tried

TOP = 10
"""Trials that are shown."""


def tune(
    config: Annotated[Path, typer.Argument(help="A file with the sections tune and ranges.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where trials go; default: runs/tune-NAME. There they go on too.")
    ] = None,
    trials: Annotated[int | None, typer.Option(help="How many in all; default: the file's.", min=1)] = None,
    seconds: Annotated[float, typer.Option(help="Begin no trial after so many seconds; 0: no limit.", min=0)] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the trials as JSON.")] = False,
) -> None:
    """Choose settings from declared ranges by the MRR on valid; call again to go on."""
    from dataclasses import replace

    from foretime.cli.progress import TerminalProgress
    from foretime.data.graph import read_graph
    from foretime.experiments import tuning

    plan = tuning.read_plan(config)
    for warning in plan.warnings():
        typer.echo(f"warning: {warning}", err=True)
    plan = plan if trials is None else replace(plan, trials=trials)
    folder = out or Path("runs") / f"tune-{config.stem}"
    graph = read_graph(plan.base.data.path, plan.base.data)
    found = tuning.tune(plan, graph, folder, TerminalProgress, lambda text: typer.echo(text, err=True), seconds)
    if as_json:
        typer.echo(json.dumps([own.to_dict() for own in found], ensure_ascii=False, indent=2))
        return
    _print(found, folder)


def _print(found: list[Tried], folder: Path) -> None:
    from rich.table import Table

    from foretime.cli.tables import console, error_console

    table = Table("trial", "state", "valid MRR", "epochs", "s", "settings")
    for own in found[:TOP]:
        settings = "\n".join(
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in own.settings.items()
        )
        mrr = "" if own.valid_mrr is None else f"{own.valid_mrr:.4f}"
        table.add_row(str(own.trial), own.state, mrr, str(own.epochs), f"{own.seconds:.0f}", settings)
    console.print(table)
    console.print(
        f"{len(found)} trials, all in {folder / 'trials.csv'}; test was not ranked", markup=False, soft_wrap=True
    )
    if found and found[0].state == "finished":
        line = f"train the best: foretime train --config {folder / 'best.toml'}"
        error_console.print(line, markup=False, soft_wrap=True)
