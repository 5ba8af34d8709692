"""What commands print: tables for people on the standard output, words about the work on the standard error."""

from __future__ import annotations

import json
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

import foretime as ft

console = Console(highlight=False)
error_console = Console(stderr=True, highlight=False)


def show(table: ft.Table) -> None:
    """Print a table; numbers stand at the right."""
    shown = RichTable(title=escape(table.title) or None, title_justify="left")
    numeric = table.numeric()
    for name, right in zip(table.columns, numeric, strict=True):
        shown.add_column(escape(name), justify="right" if right else "left")
    for row in table.cells():
        shown.add_row(*map(escape, row))
    console.print(shown)


def say(text: str) -> None:
    """Print a line of the result."""
    console.print(text, markup=False, soft_wrap=True)


def note(text: str) -> None:
    """Print a line about the work, beside the result."""
    error_console.print(text, markup=False, soft_wrap=True)


def print_json(content: Any) -> None:
    """Print what a program reads."""
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))
