"""What commands print: tables for people on the standard output, words about the work on the standard error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column
from rich.table import Table as RichTable

import foretime as ft

console = Console(highlight=False)
error_console = Console(stderr=True, highlight=False)


def show(table: ft.Table) -> None:
    """Print a table, its columns aligned as its values are; nothing if it has no rows."""
    if len(table) == 0:
        return
    shown = table.filled()
    columns = [
        Column(escape(head), justify="right" if right else "left", no_wrap=right)
        for head, right in zip(shown.heads(), shown.numeric(), strict=True)
    ]
    printed = RichTable(*columns, title=escape(table.title) or None, title_justify="left")
    for row in shown.cells():
        printed.add_row(*map(escape, row))
    if console.measure(printed, options=console.options.update(max_width=1_000)).maximum > console.width:
        printed.padding = (0, 1, 0, 0)  # room for the words
    console.print(printed)


def say(text: str) -> None:
    """Print a line of the result."""
    console.print(text, markup=False, soft_wrap=True)


def note(text: str) -> None:
    """Print a line about the work, beside the result."""
    error_console.print(text, markup=False, soft_wrap=True)


def open_run(path: Path, device: str | None = None) -> ft.Run:
    """Return a run, and say it if its answers are not those of a finished one."""
    run = ft.open_run(path, device=device)
    if run.note:
        note(run.note)
    if run.update_note:
        note(run.update_note)
    return run


def print_json(content: Any) -> None:
    """Print what a program reads."""
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))
