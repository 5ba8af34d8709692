"""`foretime predict`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foretime.errors import QuestionError

if TYPE_CHECKING:
    from foretime.inference.explainer import Explainer
    from foretime.inference.predictor import Predictor


class KnownChoice(StrEnum):
    """What happens to answers that train or valid know."""

    mark = "mark"
    hide = "hide"


def predict(  # noqa: PLR0913, each is a flag
    run: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)],
    subject: Annotated[str | None, typer.Option("--subject", "-s", help="Who acts.")] = None,
    predicate: Annotated[str | None, typer.Option("--predicate", "-p", help="What happens.")] = None,
    object_: Annotated[str | None, typer.Option("--object", "-o", help="To whom.")] = None,
    time: Annotated[str | None, typer.Option("--time", "-t", help="When.")] = None,
    start: Annotated[str | None, typer.Option(help="When it began, in a graph of intervals.")] = None,
    end: Annotated[str | None, typer.Option(help="When it ended, in a graph of intervals.")] = None,
    top: Annotated[int, typer.Option("--top", "-n", help="How many answers.")] = 10,
    known: Annotated[KnownChoice, typer.Option(help="Mark known answers, or leave them out.")] = KnownChoice.mark,
    why: Annotated[int, typer.Option(help="How many reasons to give with each answer.", min=0)] = 0,
    questions: Annotated[Path | None, typer.Option(help="A file of questions (TSV, CSV, JSON Lines).")] = None,
    out: Annotated[Path | None, typer.Option(help="Where their answers go (TSV, CSV, JSON Lines, Parquet).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
) -> None:
    """Answer a question: give all of subject, predicate, object and time but the one that you ask for.

    Without --time, the question is «when».
    """
    from foretime.inference.answers import Question
    from foretime.inference.predictor import Predictor

    question = Question(subject, predicate, object_, time, start, end)
    if (questions is None) != (out is None):
        raise QuestionError("--questions and --out go together: a file of questions, and where the answers go")
    if questions is not None and question != Question():
        raise QuestionError("ask either by --questions, or by --subject, --predicate, --object and --time")
    if questions is None:
        _ = question.target  # a question that cannot be asked should not wait for the model
    predictor = Predictor.open(run)
    explainer = _explainer(predictor) if why else None
    if questions is not None and out is not None:
        from foretime.inference.questions import answer_file

        count = answer_file(predictor, questions, out, top, known.value, why)
        typer.echo(f"{count:,} questions answered in {out}", err=True)
        return
    if question.target == "time" and not predictor.model.uses_time:
        typer.echo("this model knows no time: all steps are equally likely, and their order means nothing", err=True)
    answers = predictor.predict_many([question], top, known.value)[0]
    reasons = [explainer.reasons_for(question, answer, why) for answer in answers] if explainer else []
    if as_json:
        rows = [answer.to_dict() for answer in answers]
        for row, found in zip(rows, reasons, strict=False):
            row["reasons"] = [reason.to_dict() for reason in found]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    from foretime.cli.tables import print_answers

    print_answers(_sentence(question, question.target), answers, reasons)


def _explainer(predictor: Predictor) -> Explainer:
    """Return the explainer of a run; if it has little to say, that is said."""
    from foretime.inference.explainer import Explainer

    explainer = Explainer(predictor)
    if explainer.note:
        typer.echo(explainer.note, err=True)
    return explainer


def _sentence(question: object, slot: str) -> str:
    values = {name: getattr(question, name) for name in ("subject", "predicate", "object", "time", "start", "end")}
    values[slot] = "?"
    return "(" + ", ".join(str(value) for value in values.values() if value is not None) + ")"
