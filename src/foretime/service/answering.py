"""Questions put to runs: checked at the door, gathered in the lane, and told with bars beside their terms."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from foretime.errors import ForetimeError, QuestionError
from foretime.evaluation.pieces import Piece
from foretime.predict import Answer, Known, Question
from foretime.service.lanes import GATHERED_AT_MOST, Lane
from foretime.service.problems import Problem, overloaded, unanswerable
from foretime.service.runs import Served
from foretime.service.schemas import PIECES_OF_TIME, BatchIn, CompareIn, CompleteIn, ExplainIn, QuestionIn
from foretime.service.settings import BATCHES_AT_ONCE

SCORES_AT_ONCE = 4_000_000
"""Scores that are held at once, so that memory does not grow with the number of entities."""
PART_OF_BATCH = 20
NO_TIME = "this model knows no time: all steps are equally likely, and their order means nothing"


class _Wanted(NamedTuple):
    question: Question
    top: int


class Answering:
    """Answers and explains, by the one lane of the models."""

    def __init__(self, lane: Lane, deadline: float) -> None:
        self._lane, self._deadline, self._batches = lane, deadline, 0

    async def complete(self, run: Served, asked: CompleteIn) -> dict[str, Any]:
        """Return the answers to a question; it is asked together with others that wait beside it."""
        question, known = asked.question(), asked.known
        piece = check_question(run, asked)

        def work(wanted: list[_Wanted]) -> Sequence[list[Answer] | Exception]:
            return _ask_together(run, wanted, known)

        key = ("complete", id(run), piece, known)
        found = await self._lane.ask("complete", key, _Wanted(question, asked.top), work, self._deadline)
        if isinstance(found, Exception):
            raise found
        note = NO_TIME if piece == "time" and not run.predictor.model.uses_time else None
        return {
            "run": run.name,
            "question": asked.pieces(),
            "piece": piece,
            "answers": told(found),
            "note": note,
        }

    async def compare(self, left: Served, right: Served, asked: CompareIn) -> dict[str, Any]:
        """Return the answers of two runs to one question."""
        question = CompleteIn(**asked.model_dump(exclude={"left", "right"}))
        check_question(left, question)
        check_question(right, question)
        one, other = await asyncio.gather(self.complete(left, question), self.complete(right, question))
        ranks = [{answer["name"]: answer["rank"] for answer in side["answers"]} for side in (one, other)]
        worst = asked.top + 1
        names = sorted(
            ranks[0].keys() | ranks[1].keys(),
            key=lambda name: (min(side.get(name, worst) for side in ranks), ranks[0].get(name, worst)),
        )
        return {
            "question": one["question"],
            "piece": one["piece"],
            "left": one,
            "right": other,
            "answers": [{"name": name, "left": ranks[0].get(name), "right": ranks[1].get(name)} for name in names],
            "shared": len(ranks[0].keys() & ranks[1].keys()),
        }

    async def explain(self, run: Served, asked: ExplainIn) -> dict[str, Any]:
        """Return the explanation of an answer, as `foretime explain --json` has it."""
        check_explained(run, asked)

        def work() -> dict[str, Any]:
            found = run.explainer.explain(
                rival=asked.rival, piece=asked.piece, known=asked.known, top=asked.top, **asked.pieces()
            )
            return found.to_dict(asked.top)

        return await self._lane.do("explain", work, self._deadline)

    async def batch(self, run: Served, asked: BatchIn) -> dict[str, Any]:
        """Return the outcome of each question: its answers, or what is wrong with it."""
        if self._batches >= BATCHES_AT_ONCE:
            raise overloaded(self._deadline / 2)
        self._batches += 1
        try:
            return await self._batch(run, asked)
        finally:
            self._batches -= 1

    async def _batch(self, run: Served, asked: BatchIn) -> dict[str, Any]:
        checked = [_check(run, question) for question in asked.questions]
        right = [
            _Wanted(question.question(), asked.top)
            for question, piece in zip(asked.questions, checked, strict=True)
            if isinstance(piece, str)
        ]
        answers: list[list[Answer] | Exception] = []
        until = time.monotonic() + self._deadline
        for begin in range(0, len(right), PART_OF_BATCH):  # between the parts, others have their turn
            work = partial(_ask_together, run, right[begin : begin + PART_OF_BATCH], asked.known)
            left = max(0.0, until - time.monotonic())
            answers += await self._lane.do("batch", work, left, admitted=begin > 0)
        found = iter(answers)
        outcomes = [next(found) if isinstance(piece, str) else piece for piece in checked]
        rows = zip(asked.questions, checked, outcomes, strict=True)
        return {"run": run.name, "results": [_outcome(*row) for row in rows]}


def check_question(run: Served, asked: QuestionIn) -> Piece:
    """Return the open piece of a question that can be answered; any other question is a problem."""
    piece = asked.question().open_piece()
    _check_names(run, asked)
    run.predictor.check(asked.question())
    return piece


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


def together(run: Served) -> int:
    """Return how many questions are scored at once."""
    return max(1, min(GATHERED_AT_MOST, SCORES_AT_ONCE // max(1, len(run.dataset.entities))))


def told(answers: list[Answer]) -> list[dict[str, Any]]:
    """Return answers with bars: their terms as parts of the largest sum of absolute terms."""
    largest = max((sum(map(abs, answer.terms.values())) for answer in answers), default=0.0) or 1.0
    return [
        {**answer.to_dict(), "bars": {name: term / largest for name, term in answer.terms.items()}}
        for answer in answers
    ]


def _check_names(run: Served, asked: QuestionIn) -> None:
    for name in (asked.subject, asked.object):
        if name is not None:
            run.history.entity(name)
    if asked.predicate is not None:
        run.history.predicate(asked.predicate)


def _check(run: Served, question: QuestionIn) -> Piece | Problem:
    try:
        return check_question(run, question)
    except QuestionError as error:
        return unanswerable(error)
    except Problem as problem:
        return problem


def _ask_together(run: Served, wanted: list[_Wanted], known: Known) -> list[list[Answer] | Exception]:
    """Return the answers to each question, or the error of one that cannot be answered."""
    size, top = together(run), max(one.top for one in wanted)
    found: list[list[Answer] | Exception] = []
    for begin in range(0, len(wanted), size):
        part = wanted[begin : begin + size]
        try:
            found += run.predictor.complete_many([one.question for one in part], top, known)
        except Exception as error:  # the fault of one question is not that of those beside it
            found += [error] if len(part) == 1 else [_ask_together(run, [one], known)[0] for one in part]
    # the first answers are the same however many are asked for
    return [
        answers if isinstance(answers, Exception) else answers[: one.top]
        for one, answers in zip(wanted, found, strict=True)
    ]


def _outcome(question: QuestionIn, piece: Piece | Problem, found: list[Answer] | Exception) -> dict[str, Any]:
    error = None
    if isinstance(found, Exception):
        if not isinstance(found, Problem | ForetimeError):
            raise found
        error = (found if isinstance(found, Problem) else unanswerable(found)).to_dict()
    return {
        "question": question.pieces(),
        "piece": piece if isinstance(piece, str) else None,
        "answers": [] if isinstance(found, Exception) else told(found),
        "error": error,
    }
