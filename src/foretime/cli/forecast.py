"""`foretime forecast`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import foretime as ft
from foretime.cli.options import MOST_COUNT, QUESTION, AsJson, Device, FlagGroup, RunPath, takes
from foretime.cli.output import note, open_run, print_json, say, show

SLOTS = FlagGroup("slots", {name: QUESTION.flags[name] for name in ("subject", "predicate", "object")})


@takes(SLOTS)
def forecast(  # noqa: PLR0913, each is a flag
    run: RunPath,
    start: Annotated[
        str | None, typer.Option("--from", metavar="DAY", help="Where it begins; default: after the last event.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="How many steps of time, 7 by default.", max=MOST_COUNT)] = None,
    days: Annotated[int | None, typer.Option(help="The same, where a step is a day.", max=MOST_COUNT)] = None,
    top: Annotated[int, typer.Option("--top", "-n", help="How many events.", max=MOST_COUNT)] = 20,
    why: Annotated[int, typer.Option(help="Say why, with so many reasons for each event.", min=0, max=MOST_COUNT)] = 0,
    out: Annotated[Path | None, typer.Option("--out", "--csv", metavar="FILE", help="Write a CSV file.")] = None,
    device: Device = None,
    as_json: AsJson = False,
    *,
    slots: dict[str, str],
) -> None:
    """Say which events the coming steps are likely to bring, of the whole graph or of the slots that you give."""
    if steps is not None and days is not None:
        raise ft.QuestionError("--steps and --days say the same; give one of them")
    opened = open_run(run, device)
    if days is not None and opened.graph.timeline.unit != "day":
        raise ft.QuestionError(f"a step of this graph is no day but a {opened.graph.timeline.unit}; give --steps")
    found = opened.forecast(**slots, start=start, steps=steps or days or 7, top=top)
    if found.note:
        note(found.note)
    if not found:
        note("nothing like it has happened before; give fewer of --subject, --predicate and --object")
    if out is not None:
        out.write_text(found.table().to_csv(), encoding="utf-8")
        note(f"{len(found):,} events written to {out}")
    if as_json:
        print_json(_with_reasons(found, why))
        return
    if out is None:
        show(found.table())
    for event in found if why else ():
        explained = event.explain()
        say(f"{event.rank} {event}, {event.time}")
        for line in (*explained.sentences[:1], *(reason.brief for reason in explained.shown(why))):
            say(f"  {line}")


def _with_reasons(found: ft.Forecast, why: int) -> dict[str, object]:
    """Return the forecast as plain values, with the reasons of each event if they are wanted."""
    shown = found.to_dict()
    for event, row in zip(found, shown["events"], strict=True):
        if why:
            explained = event.explain()
            row["sentences"] = list(explained.sentences)
            row["reasons"] = [reason.to_dict() for reason in explained.shown(why)]
    return shown
