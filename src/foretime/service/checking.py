"""Questions checked before they are asked: names, times, and what is left open."""

from __future__ import annotations

from foretime.errors import QuestionError
from foretime.evaluation.pieces import Piece
from foretime.service.problems import Problem, unanswerable
from foretime.service.runs import Served
from foretime.service.schemas import PIECES_OF_TIME, ExplainIn, QuestionIn
from foretime.service.settings import SUGGESTIONS_IN_BATCH


def knows_names(run: Served, asked: QuestionIn) -> bool:
    """Return whether the run knows all names of a question, so that no other ones need to be suggested."""
    return all(name is None or name in run.dataset.entities for name in (asked.subject, asked.object)) and (
        (asked.predicate is None or asked.predicate in run.dataset.predicates)
        and getattr(asked, "rival", None) is None  # what it is depends on the rest
    )


def check_question(run: Served, asked: QuestionIn, suggest: bool = True) -> Piece:
    """Return the open piece of a question that can be answered; any other question is a problem."""
    piece = asked.question().open_piece()
    _check_names(run, asked, suggest)
    run.predictor.check(asked.question())
    return piece


def check_questions(run: Served, questions: list[QuestionIn]) -> list[Piece | Problem]:
    """Return the open piece of each question, or what is wrong with it; the first ones with names to take instead."""
    found: list[Piece | Problem] = []
    left = SUGGESTIONS_IN_BATCH
    for question in questions:
        try:
            found.append(check_question(run, question, left > 0))
        except QuestionError as error:
            found.append(unanswerable(error))
        except Problem as problem:
            found.append(problem)
        left -= not knows_names(run, question)
    return found


def check_explained(run: Served, asked: ExplainIn) -> None:
    """Raise a problem if a name or a time of what is to be explained is unknown."""
    _check_names(run, asked)
    for moment in (asked.time, asked.start, asked.end):
        if moment is not None:
            run.predictor.step(moment)
    pieces = asked.pieces()
    timed = any(name in pieces for name in PIECES_OF_TIME)
    whole = timed and {"subject", "predicate", "object"} <= pieces.keys()
    piece = asked.piece if whole else asked.question().open_piece()
    if asked.rival is not None and piece == "time":
        run.dataset.timeline.step(asked.rival)
    elif asked.rival is not None:
        (run.history.predicate if piece == "predicate" else run.history.entity)(asked.rival)


def _check_names(run: Served, asked: QuestionIn, suggest: bool = True) -> None:
    for name in (asked.subject, asked.object):
        if name is not None:
            run.history.entity(name, suggest)
    if asked.predicate is not None:
        run.history.predicate(asked.predicate, suggest)
