"""`foretime explain`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

import foretime as ft
from foretime.cli.options import (
    AS_OF,
    MOST_COUNT,
    QUESTION,
    RESTRICTION,
    WHAT_IF,
    AsJson,
    Device,
    Known,
    RunPath,
    TargetName,
    as_of_view,
    takes,
)
from foretime.cli.output import note, open_run, print_json, say


@takes(QUESTION, RESTRICTION, WHAT_IF, AS_OF)
def explain(  # noqa: PLR0913, each is a flag
    run: RunPath,
    against: Annotated[str | None, typer.Option(help="Another answer: why not that one?", show_default=False)] = None,
    slot: Annotated[
        TargetName, typer.Option(help="Which slot is the answer, or which two, where none is left out.")
    ] = "object",
    known: Known = "mark",
    top: Annotated[int, typer.Option("--top", "-n", help="How many reasons.", min=1, max=MOST_COUNT)] = 5,
    full: Annotated[
        bool, typer.Option("--full", help="Add every feature, its TreeSHAP value, the base score, and all weights.")
    ] = False,
    format_: Annotated[
        Literal["text", "markdown", "html", "json"], typer.Option("--format", help="How it is written.")
    ] = "text",
    device: Device = None,
    as_json: AsJson = False,
    *,
    question: dict[str, str],
    restriction: dict[str, Any],
    evidence: dict[str, Any],
    as_of: dict[str, Any],
) -> None:
    """Say why an answer has its score: in a sentence, by what it is about, and by the rules and events behind it.

    Give subject, predicate, object and time. If one or two of them are left out, the best answer is explained.
    """
    whole = {"subject", "predicate", "object"} <= set(question) and {"time", "start", "end"} & set(question)
    if not whole:
        _ = ft.Question(**question).targets  # a question that cannot be asked should not wait for the model
    opened = open_run(run, device)
    what_if = opened.what_if(**evidence) if evidence else None
    view = as_of_view(opened, as_of, evidence)
    if isinstance(view, ft.RunView):
        note(view.note)
    asked = {**question, **restriction}
    explanation = (what_if or view).explain(**asked, competitor=against, slot=slot, already_known=known, top=top)
    compared = what_if.compare(explanation) if what_if else None
    if as_json or format_ == "json":
        print_json(explanation.to_dict(top, full) | (compared.to_dict() if compared else {}))
        return
    if compared and format_ == "text":
        say(f"{compared}\n")
    write = {"text": explanation.to_text, "markdown": explanation.to_markdown, "html": explanation.to_html}
    typer.echo(write[format_](top, full).rstrip("\n"))
