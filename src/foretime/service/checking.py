"""Questions checked before they are asked: names, times, and what is left open."""

from __future__ import annotations

from foretime.errors import QuestionError
from foretime.evaluation.slots import Slot
from foretime.service.problems import Problem, unanswerable
from foretime.service.runs import Served
from foretime.service.schemas import PIECES_OF_TIME, ExplainIn, QuestionIn
from foretime.service.settings import SUGGESTIONS_IN_BATCH


def knows_names(run: Served, asked: QuestionIn) -> bool:
    """Return whether the run knows all names of a question, so that no other ones need to be suggested."""
    return all(name is None or name in run.graph.entities for name in (asked.subject, asked.object)) and (
        (asked.predicate is None or asked.predicate in run.graph.predicates)
        and getattr(asked, "competitor", None) is None  # what it is depends on the rest
    )


def check_question(run: Served, asked: QuestionIn, suggest: bool = True) -> Slot:
    """Return the open slot of a question that can be answered; any other question is a problem."""
    slot = asked.question().target
    _check_names(run, asked, suggest)
    run.predictor.check(asked.question())
    return slot


def check_questions(run: Served, questions: list[QuestionIn]) -> list[Slot | Problem]:
    """Return the open slot of each question, or what is wrong with it; the first ones with names to take instead."""
    found: list[Slot | Problem] = []
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
    slots = asked.slots()
    timed = any(name in slots for name in PIECES_OF_TIME)
    whole = timed and {"subject", "predicate", "object"} <= slots.keys()
    slot = asked.slot if whole else asked.question().target
    if asked.competitor is not None and slot == "time":
        run.graph.timeline.step(asked.competitor)
    elif asked.competitor is not None:
        (run.history.predicate if slot == "predicate" else run.history.entity)(asked.competitor)


def _check_names(run: Served, asked: QuestionIn, suggest: bool = True) -> None:
    for name in (asked.subject, asked.object):
        if name is not None:
            run.history.entity(name, suggest)
    if asked.predicate is not None:
        run.history.predicate(asked.predicate, suggest)
