"""`foretime explain`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

import foretime as ft
from foretime.cli.options import QUESTION, AsJson, Known, RunPath, SlotName, takes
from foretime.cli.output import open_run, print_json


@takes(QUESTION)
def explain(  # noqa: PLR0913, each is a flag
    run: RunPath,
    against: Annotated[str | None, typer.Option(help="Another answer: why not that one?", show_default=False)] = None,
    slot: Annotated[SlotName, typer.Option(help="Which slot is the answer, where none is left out.")] = "object",
    known: Known = "mark",
    top: Annotated[int, typer.Option("--top", "-n", help="How many reasons.", min=1)] = 5,
    full: Annotated[
        bool, typer.Option("--full", help="Add every feature, its TreeSHAP value, the base score, and all weights.")
    ] = False,
    format_: Annotated[
        Literal["text", "markdown", "html", "json"], typer.Option("--format", help="How it is written.")
    ] = "text",
    as_json: AsJson = False,
    *,
    question: dict[str, str],
) -> None:
    """Say why an answer has its score: in a sentence, by what it is about, and by the rules and events behind it.

    Give subject, predicate, object and time. If one of them is left out, the best answer for it is explained.
    """
    whole = {"subject", "predicate", "object"} <= set(question) and {"time", "start", "end"} & set(question)
    if not whole:
        _ = ft.Question(**question).target  # a question that cannot be asked should not wait for the model
    explanation = open_run(run).explain(**question, competitor=against, slot=slot, already_known=known, top=top)
    if as_json or format_ == "json":
        print_json(explanation.to_dict(top, full))
        return
    write = {"text": explanation.to_text, "markdown": explanation.to_markdown, "html": explanation.to_html}
    typer.echo(write[format_](top, full).rstrip("\n"))
