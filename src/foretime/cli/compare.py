"""`foretime compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import foretime as ft
from foretime.cli.options import MOST_COUNT, AsJson, Filter, SplitName
from foretime.cli.output import note, print_json, say, show


def compare(
    first: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="The folder of another run on the same graph.", show_default=False)],
    split: Annotated[SplitName, typer.Option(help="Whose facts are asked; valid to choose by.")] = "valid",
    filter_name: Filter = None,
    top: Annotated[
        int, typer.Option("--top", "-n", help="How many questions and predicates to list.", min=0, max=MOST_COUNT)
    ] = 10,
    resamples: Annotated[int, typer.Option(help="Draws of the bootstrap.", min=100, max=1_000_000)] = 1_000,
    out: Annotated[Path | None, typer.Option(help="Where every question goes with both ranks (.csv).")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs question by question: how much better is the second, and how sure is that."""
    if out is not None and out.suffix != ".csv":
        raise ft.ConfigError(f"{out}: questions are written as .csv; name such a file")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)  # ranking takes its time: not after it
    result = ft.compare(first, second, split=split, filter=filter_name, top=top, resamples=resamples)
    if out is not None:
        questions = result.all_questions()
        out.write_text(questions.to_csv(), encoding="utf-8")
        note(f"{len(questions):,} questions written to {out}")
    if as_json:
        print_json(result.to_dict())
        return
    say(f"first:  {result.first}\nsecond: {result.second}")
    show(result.table())
    say(
        f"the second is better on {result.better:,} questions, equal on {result.equal:,}, worse on {result.worse:,}; "
        f"p = {result.p_value:.4f} for the difference in MRR"
    )
    say("gain: second − first; 95 %: bootstrap over facts; p: signs flipped by fact")
    show(result.by_direction)
    show(result.by_slot)
    say("MRR by slot, beside counting in train, and the expected calibration errors")
    if top:
        show(result.by_predicate.head(top))
        say("the most frequent predicates; p is adjusted for the number of them (Holm), the intervals are not")
        show(result.decisive)
    for line in result.notes:
        say(f"note: {line}")
