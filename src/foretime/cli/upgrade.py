"""`foretime upgrade`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import foretime as ft
from foretime.cli.output import say


def upgrade(
    paths: Annotated[list[Path], typer.Argument(help="Configurations (TOML) or folders of runs.", show_default=False)],
) -> None:
    """Rewrite configurations and runs of an earlier version in the names that settings have now."""
    for path in paths:
        for line in ft.upgrade(path):
            say(f"{path}: {line}")
