"""`foretime bench`."""

from __future__ import annotations

import typer

bench_app = typer.Typer(help="Run declared lists of trainings, and audit a printed figure.", no_args_is_help=True)
