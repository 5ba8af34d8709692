"""`foretime update`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import foretime as ft
from foretime.cli.options import LAYOUT, AsJson, RunPath, takes
from foretime.cli.output import note, print_json, say, show


@takes(LAYOUT)
def update(
    run: RunPath,
    events: Annotated[
        str | None,
        typer.Argument(help="A file of new events (TSV, CSV, JSON Lines, Parquet), or a database.", show_default=False),
    ] = None,
    known_column: Annotated[
        str | None,
        typer.Option(help="The column of the day on which an event was known, by name or by number; default: known."),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take back the last update.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the updates that hold.")] = False,
    as_json: AsJson = False,
    *,
    layout: dict[str, Any],
) -> None:
    """Add new events to what a run knows, with new names and later times, without training.

    They are evidence of its answers at once. The same events twice change nothing.
    """
    if (events is not None) + undo + list_ != 1:
        raise ft.ConfigError("name a file of new events, or give --undo, or --list: one of these")
    opened = ft.open_run(run)
    if list_:
        rows = [one._asdict() for one in opened.updates]
        print_json(rows) if as_json else show(ft.Table.of(rows, f"updates of {run}"))
    elif undo:
        gone = opened.undo_update()
        print_json(None if gone is None else gone._asdict()) if as_json else say(_undone(run, gone))
    else:
        known = int(known_column) if known_column and known_column.isdecimal() else known_column
        report = opened.update(events, known=known, **layout)
        print_json(report.to_dict()) if as_json else say(str(report))
        if report.bad_rows:
            path = report.bad_rows.write("update.bad_rows.jsonl")
            note(f"{report.bad_rows.note}; they are in {path}")
        for warning in report.warnings:
            note(f"warning: {warning}")


def _undone(run: Path, gone: ft.Update | None) -> str:
    if gone is None:
        return f"{run} has no update to take back"
    return f"update {gone.number} of {gone.added} is taken back: {gone.events:,} events, {gone.first} to {gone.last}"
