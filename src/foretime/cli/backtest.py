"""`foretime backtest`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import foretime as ft
from foretime.cli.options import MOST_COUNT, AsJson, Device, Filter, RunPath, parse_settings
from foretime.cli.output import note, print_json, say, show


def backtest(  # noqa: PLR0913, each is a flag
    run: RunPath,
    start: Annotated[str, typer.Option("--from", metavar="DAY", help="The first time that is asked about.")],
    end: Annotated[str, typer.Option("--to", metavar="DAY", help="The last time that is asked about.")],
    every: Annotated[int, typer.Option(help="Steps of a window.", max=MOST_COUNT)] = 7,
    retrain: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Also retrain, from the weights of the run: before every window (1), before each second one (2), ….",
            max=MOST_COUNT,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="With --retrain: keep the retrained runs in this folder.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="With --retrain: another setting, section.key=value.")
    ] = None,
    filter_name: Filter = None,
    plot: Annotated[Path | None, typer.Option(help="Where a plot over time goes (.svg, .png).")] = None,
    csv: Annotated[Path | None, typer.Option(help="Where the table goes as CSV.")] = None,
    device: Device = None,
    as_json: AsJson = False,
) -> None:
    """Roll a run of forecasts through the past: its figures over time, with fixed and with retrained weights."""
    if retrain is None and (out is not None or settings):
        raise ft.ConfigError("--out and --set are for retrained runs; give --retrain K too")
    if plot is not None:
        ft.Evaluation.check_plot_file(plot)  # ranking takes its time: not after it
    from foretime.cli.progress import TerminalProgress

    found = ft.open_run(run, device=device).backtest(
        start, end, every, retrain=retrain, out=out, settings=parse_settings(settings or []), filter=filter_name,
        callback=TerminalProgress(),
    )  # fmt: skip
    for text in found.notes:
        note(text)
    if plot is not None:
        found.plot(plot)
        note(f"plot written to {plot}")
    if csv is not None:
        csv.write_text(found.table().to_csv(), encoding="utf-8")
        note(f"table written to {csv}")
    if as_json:
        print_json(found.to_dict())
        return
    show(found.by_window)
    show(found.comparison)
    say("single-step: a question sees every event before its time; ECE: the expected calibration error")
    if found.is_retrained:
        say("after: with the weights of a copy that was retrained on everything before that day")
    say("seen: answers that had an event with the subject before; known: answers that had any event before")
