"""`foretime runs`: what is in the folders of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import foretime as ft
from foretime.cli.options import AsJson
from foretime.cli.output import note, print_json, say

runs_app = typer.Typer(help="Check the folders of runs.", no_args_is_help=True)


@runs_app.callback()
def _runs() -> None: ...


@runs_app.command()
def verify(
    paths: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Folders of runs, or with runs in them.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Check that every file of some runs is as it was written; a problem exits with 1.

    Of a run that is not finished, what is there is checked.
    """
    checks = [ft.verify_run(run) for path in paths for run in ft.run_folders(path)]
    if not checks:
        raise ft.RunError(f"{paths[0]}: holds no run; name the folder of a run, or one with runs in it")
    if as_json:
        print_json([check.to_dict() for check in checks])
    else:
        for check in checks:
            for problem in check.problems:
                say(problem)
    broken = sum(bool(check.problems) for check in checks)
    unfinished = sum(not check.finished for check in checks)
    note(
        f"{len(checks)} run{'s' * (len(checks) > 1)} checked, {broken} with problems"
        + (f"; {unfinished} not finished" if unfinished else "")
    )
    if broken:
        raise typer.Exit(1)
