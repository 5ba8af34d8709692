"""`foretime predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import foretime as ft
from foretime.cli.options import (
    AS_OF,
    MOST_COUNT,
    MOST_JOBS,
    QUESTION,
    RESTRICTION,
    WHAT_IF,
    AsJson,
    Cluster,
    Device,
    Known,
    RunPath,
    as_of_view,
    takes,
)
from foretime.cli.output import note, open_run, print_json, say, show


@takes(QUESTION, RESTRICTION, WHAT_IF, AS_OF)
def predict(  # noqa: PLR0913, each is a flag
    run: RunPath,
    top: Annotated[int, typer.Option("--top", "-n", help="How many answers.", max=MOST_COUNT)] = 10,
    known: Known = "mark",
    why: Annotated[int, typer.Option(help="Say why, with so many reasons for each answer.", min=0, max=MOST_COUNT)] = 0,
    terms: Annotated[bool, typer.Option("--terms", help="Show the terms that add up to each score.")] = False,
    questions: Annotated[Path | None, typer.Option(help="A file of questions (TSV, CSV, JSON Lines).")] = None,
    out: Annotated[Path | None, typer.Option(help="Where their answers go (TSV, CSV, JSON Lines, Parquet).")] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, help="Parts of a file of questions in parallel.", max=MOST_JOBS)
    ] = 1,
    cluster: Cluster = None,
    device: Device = None,
    as_json: AsJson = False,
    *,
    question: dict[str, str],
    restriction: dict[str, Any],
    evidence: dict[str, Any],
    as_of: dict[str, Any],
) -> None:
    """Answer a question: give all of subject, predicate, object and time but the one, or the two, that you ask for.

    Without --time, the question is "when".
    """
    if (questions is None) != (out is None):
        raise ft.QuestionError("--questions and --out go together: a file of questions, and where the answers go")
    flags: dict[str, Any] = {"jobs": jobs, "cluster": cluster}
    elsewhere = {name: value for name, value in flags.items() if value not in (1, None)}
    if elsewhere and (questions is None or as_of):
        raise ft.QuestionError("--jobs and --cluster are for a file of questions, asked as of now: give --questions")
    if questions is not None and evidence:
        raise ft.QuestionError("--without, --with and --past-only change one question; ask it without --questions")
    if questions is not None and question:
        raise ft.QuestionError("ask either by --questions, or by --subject, --predicate, --object and --time")
    if questions is not None and restriction:
        raise ft.QuestionError("--type and --where are of one question; the file may have the columns type and where")
    if questions is not None and out is not None:
        opened = open_run(run, device)
        if why:
            _say_what_is_missing(opened)
        count = as_of_view(opened, as_of, evidence).answer_file(
            questions, out, top=top, already_known=known, reasons=why, note=note, **elsewhere
        )
        note(f"{count:,} questions answered in {out}")
        return
    asked = ft.Question(**question, **restriction)
    targets = asked.targets  # a question that cannot be asked should not wait for the model
    opened = open_run(run, device)
    if targets == ("time",) and not opened.uses_time:
        note("this model knows no time: all steps are equally likely, and their order means nothing")
    if why:
        _say_what_is_missing(opened)
    changes, view = None, as_of_view(opened, as_of, evidence)
    if isinstance(view, ft.RunView):
        note(view.note)
    if evidence:
        changes = opened.what_if(**evidence).changes(asked, top=top, already_known=known)
    answers = changes.answers if changes else view.predict_many([asked], top=top, already_known=known)[0]
    if answers.note:
        note(answers.note)
    explained = [answer.explain(top=0) for answer in answers] if why else []
    if as_json:
        rows: list[dict[str, Any]] = [answer.to_dict() for answer in answers]
        for row, found in zip(rows, explained, strict=False):
            row["sentences"] = list(found.sentences)
            row["reasons"] = [reason.to_dict() for reason in found.shown(why)]
        print_json({**changes.to_dict(), "answers": rows} if changes else rows)
        return
    for line in changes.evidence if changes else ():
        say(line)
    show(changes.table() if changes else answers.table(terms))
    if answers.other_probability >= 0.0005:  # less is shown as 0.0 %
        say(f"other answers {answers.other_probability:.1%}")
    for answer, found in zip(answers, explained, strict=False):
        say(f"{answer.rank} {answer.name}")
        for sentence in found.sentences if found.steps else found.sentences[:1]:
            say(f"  {sentence}")
        for reason in found.shown(why):
            say(f"  {reason.brief}")


def _say_what_is_missing(run: ft.Run) -> None:
    """Say it if the run has little to explain its answers by."""
    if run.explanation_note:
        note(run.explanation_note)
