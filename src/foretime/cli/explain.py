"""`foretime explain`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from foretime.cli.predict import KnownChoice


class FormatChoice(StrEnum):
    """How an explanation is written."""

    text = "text"
    json = "json"
    markdown = "markdown"


class SlotChoice(StrEnum):
    """Which slot of a whole fact is the answer."""

    subject = "subject"
    predicate = "predicate"
    object = "object"
    time = "time"


def explain(  # noqa: PLR0913, each is a flag
    run: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)],
    subject: Annotated[str | None, typer.Option("--subject", "-s", help="Who acts.")] = None,
    predicate: Annotated[str | None, typer.Option("--predicate", "-p", help="What happens.")] = None,
    object_: Annotated[str | None, typer.Option("--object", "-o", help="To whom.")] = None,
    time: Annotated[str | None, typer.Option("--time", "-t", help="When.")] = None,
    start: Annotated[str | None, typer.Option(help="When it began, in a graph of intervals.")] = None,
    end: Annotated[str | None, typer.Option(help="When it ended, in a graph of intervals.")] = None,
    against: Annotated[str | None, typer.Option(help="Another answer: why not that one?", show_default=False)] = None,
    slot: Annotated[SlotChoice, typer.Option(help="The answer, where nothing is left out.")] = SlotChoice.object,
    known: Annotated[KnownChoice, typer.Option(help="Whether the best answer may be known.")] = KnownChoice.mark,
    top: Annotated[int, typer.Option("--top", "-n", help="How many reasons.", min=1)] = 10,
    format_: Annotated[FormatChoice, typer.Option("--format", help="How it is written.")] = FormatChoice.text,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Say why an answer has its score: its terms, and the rules and events behind them.

    Give subject, predicate, object and time. If one of them is left out, the best answer for it is explained.
    """
    from foretime.inference.answers import Question

    question = Question(subject, predicate, object_, time, start, end)
    if None in (subject, predicate, object_) or (time, start, end) == (None, None, None):
        _ = question.target  # a question that cannot be asked should not wait for the model
    from foretime.inference.explainer import Explainer

    explanation = Explainer.open(run).explain(
        subject=subject, predicate=predicate, object=object_, time=time, start=start, end=end,
        competitor=against, slot=slot.value, already_known=known.value, top=top,
    )  # fmt: skip
    if as_json or format_ is FormatChoice.json:
        typer.echo(json.dumps(explanation.to_dict(top), ensure_ascii=False, indent=2))
    elif format_ is FormatChoice.markdown:
        typer.echo(explanation.to_markdown(top), nl=False)
    else:
        typer.echo(explanation.to_text(top))
