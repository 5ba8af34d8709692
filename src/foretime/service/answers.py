"""Routes that ask models for answers: one question, a batch of them, or one to two runs."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from itertools import accumulate
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Response
from pydantic import Field
from pydantic_core import to_json

from foretime.errors import ForetimeError
from foretime.evaluation.slots import Slot
from foretime.inference.answers import Answers, Question
from foretime.inference.views import RunView
from foretime.inference.what_if import AnswerChange
from foretime.service.context import Backend, TheBackend, TheRun
from foretime.service.lanes import GATHERED_AT_MOST
from foretime.service.models import AlreadyKnown, ErrorDetail, GivenSlots, ResponseBody, Split, response_of
from foretime.service.problems import ERRORS, Problem, overloaded, too_slow, unanswerable
from foretime.service.questions import (
    BatchIn,
    CompareIn,
    CompleteIn,
    QuestionIn,
    check_question,
    check_questions,
    checked,
)
from foretime.service.served import ServedRun
from foretime.service.settings import API, BATCHES_AT_ONCE, JOB_SECONDS

SCORES_AT_ONCE = 4_000_000
"""Scores of questions asked together, so that memory does not grow with the number of entities."""
LOOKUPS_AT_ONCE = 20_000
"""The same where each candidate is looked up separately: times and predicates."""
BATCH_SLICE = 20
NO_TIME = "this model ignores time: all steps are equally likely, and their order means nothing"
NOT_CALIBRATED = "the run has no report yet: its probabilities are not calibrated"
TAKEN = "What was given for slots whose names were taken for others, which the question has."
ALLOWED = "Where type or where restrict the answers: that the true one is allowed; the probabilities are given that."
router = APIRouter(prefix=API, responses=ERRORS, tags=["answers"])


class AnswerOut(ResponseBody):
    """A candidate for the open slot, or a pair of them for two."""

    rank: int
    name: str
    score: float
    probability: float | None = Field(
        description="Calibrated; null if the answer is already in train, valid or an update."
    )
    already_known: Split | None = Field(description="The split that holds this answer already.")
    terms: dict[str, float] = Field(description="They add up to the score.")
    names: dict[Slot, str] | None = Field(description="Both names, where two slots are open.")


AnswerChangeOut: Any = response_of(AnswerChange)


class Listed(NamedTuple):
    """The answers that are shown to a question in names of the graph, and the probability of all others."""

    question: dict[str, str]
    answers: list[AnswerOut]
    other_probability: float
    note: str | None
    taken: dict[str, str] | None
    allowed_probability: float | None

    def shown(self) -> dict[str, Any]:
        """Return what a response says; names that were taken and restrictions only where there are any."""
        found = self._asdict()
        return {name: value for name, value in found.items() if name == "note" or value is not None}


class CompleteOut(ResponseBody):
    """The answers to a question, best first; with other evidence, also what has changed."""

    run: str
    question: GivenSlots
    slot: str = Field(description="What is asked for; two slots are joined by ' and '.")
    answers: list[AnswerOut]
    other_probability: float = Field(description="That the true answer is one that is not listed.")
    note: str | None
    taken: GivenSlots | None = Field(default=None, description=TAKEN)
    allowed_probability: float | None = Field(default=None, description=ALLOWED)
    changes: list[AnswerChangeOut] | None = Field(default=None, description="Ranks and probabilities before and now.")
    evidence: list[str] | None = Field(default=None, description="What was changed in the evidence, in words.")


class BatchOutcome(ResponseBody):
    """What became of one question in a batch."""

    question: GivenSlots
    slot: str | None
    answers: list[AnswerOut]
    other_probability: float = Field(description="That the true answer is one that is not listed.")
    note: str | None = None
    taken: GivenSlots | None = Field(default=None, description=TAKEN)
    allowed_probability: float | None = Field(default=None, description=ALLOWED)
    error: ErrorDetail | None


class BatchOut(ResponseBody):
    """The outcomes of a batch, in the order of its questions."""

    run: str
    results: list[BatchOutcome]


class RanksOut(ResponseBody):
    """The rank of an answer in two runs; null if it is not among their first answers."""

    name: str
    left: int | None
    right: int | None


class CompareOut(ResponseBody):
    """The answers of two runs to one question."""

    question: GivenSlots
    slot: str
    left: CompleteOut
    right: CompleteOut
    answers: list[RanksOut]
    shared: int


@router.get("/runs/{run}/complete", response_model_exclude_unset=True)
async def complete(run: TheRun, backend: TheBackend, asked: Annotated[CompleteIn, Query()]) -> CompleteOut:
    """Answer a question that gives all of subject, predicate, object and time but one, or a time and one more."""
    slot = await checked(backend, run, asked, check_question)
    if asked.evidence or asked.as_of is not None:
        return await backend.models.do("what_if", partial(_complete_changed, run, asked), backend.settings.deadline)
    work = partial(ask_together, run, already_known=asked.already_known)
    key, wanted = ("complete", id(run), slot, asked.already_known), (asked.question, asked.top)
    found = await backend.models.ask("complete", key, wanted, work, backend.settings.deadline, together(run, slot))
    if isinstance(found, Exception):
        raise found
    noted = found._replace(note=note_of(run, slot, found.note))
    return CompleteOut(run=run.name, slot=slot, **noted.shown())


def _complete_changed(run: ServedRun, asked: CompleteIn) -> CompleteOut:
    """Return the answers with other evidence, and what has changed; or as of a day."""
    if asked.as_of is not None and not asked.evidence:
        return _complete_as_of(run, asked, run.as_of(asked.as_of, by=asked.by))
    what_if = run.what_if(**asked.evidence)
    found = what_if.changes(asked.question, top=asked.top, already_known=asked.already_known)
    return CompleteOut(
        run=run.name,
        slot=found.answers.target,
        **_listed(found.answers)._replace(note=note_of(run, found.answers.target, found.answers.note)).shown(),
        changes=[AnswerChangeOut(**one._asdict()) for one in found.changes],
        evidence=list(found.evidence),
    )


def _complete_as_of(run: ServedRun, asked: CompleteIn, view: RunView) -> CompleteOut:
    found = view.predict_many([asked.question], top=asked.top, already_known=asked.already_known)[0]
    listed = _listed(found)._replace(note=note_of(run, found.target, found.note))
    return CompleteOut(
        run=run.name,
        slot=found.target,
        **listed.shown(),
        evidence=[view.note],
    )


@router.post("/runs/{run}/complete", response_model_exclude_unset=True)
async def complete_posted(run: TheRun, backend: TheBackend, asked: CompleteIn) -> CompleteOut:
    """Answer a question that gives all of subject, predicate, object and time but one, or a time and one more."""
    return await complete(run, backend, asked)


@router.get("/compare", response_model_exclude_unset=True)
async def compare(backend: TheBackend, asked: Annotated[CompareIn, Query()]) -> CompareOut:
    """Ask two runs the same question."""
    runs = backend.catalog[asked.left], backend.catalog[asked.right]
    for run in runs:  # both must know what is asked before either computes
        await checked(backend, run, asked, check_question)
    one, other = await asyncio.gather(*(complete(run, backend, asked) for run in runs))
    left, right = ({found.name: found.rank for found in side.answers} for side in (one, other))
    worst = asked.top + 1
    names = sorted(
        left.keys() | right.keys(),
        key=lambda name: (min(left.get(name, worst), right.get(name, worst)), left.get(name, worst)),
    )
    return CompareOut(
        question=one.question,
        slot=one.slot,
        left=one,
        right=other,
        answers=[RanksOut(name=name, left=left.get(name), right=right.get(name)) for name in names],
        shared=len(left.keys() & right.keys()),
    )


@router.post("/compare", response_model_exclude_unset=True)
async def compare_posted(backend: TheBackend, asked: CompareIn) -> CompareOut:
    """Ask two runs the same question."""
    return await compare(backend, asked)


@router.post("/runs/{run}/batch", response_model=BatchOut)
async def batch(run: TheRun, backend: TheBackend, asked: BatchIn) -> Response:
    """Answer many questions; each has its own outcome."""
    if backend.batches >= BATCHES_AT_ONCE:
        raise overloaded(backend.settings.deadline / 2)
    backend.batches += 1
    try:
        outcomes = await answer_batch(backend, run, asked)
    finally:
        backend.batches -= 1
    # each outcome is JSON already: written by the lane that made it, and held in far less memory than as a model
    content = b'{"run":' + to_json(run.name) + b',"results":[' + b",".join(outcomes) + b"]}"
    return Response(content, media_type="application/json")


async def answer_batch(backend: Backend, run: ServedRun, asked: BatchIn) -> list[bytes]:
    """Return the outcome of each question as JSON; what was answered before the deadline is kept."""
    until = time.monotonic() + backend.settings.deadline
    found = await backend.look_up("names", check_questions, run, asked.questions)
    outcomes = {
        row: _outcome(asked.questions[row], None, problem)
        for row, problem in enumerate(found)
        if isinstance(problem, Problem)
    }
    rows = [(row, slot) for row, slot in enumerate(found) if not isinstance(slot, Problem)]
    done = 0
    while done < len(rows):  # between slices, other requests have their turn
        work = partial(_ask_slice, run, asked, rows[done:], until)
        left = max(0.0, until - time.monotonic())
        try:
            answered = await backend.models.do("batch", work, left, admitted=done > 0)
        except Problem as problem:
            if problem.code != "too_slow" or done == 0:
                raise
            break
        outcomes |= answered
        done += len(answered)
    late = too_slow()
    outcomes |= {row: _outcome(asked.questions[row], slot, late) for row, slot in rows[done:]}
    return [outcomes[row] for row in range(len(found))]


def together(run: ServedRun, slot: str) -> int:
    """Return how many questions for a slot may be asked together."""
    if " and " in slot:  # pairs take many scores each
        return 1
    if slot in ("subject", "object"):
        most = SCORES_AT_ONCE // max(1, len(run.predictor.graph.entities))
    else:
        graph = run.predictor.graph
        most = LOOKUPS_AT_ONCE // max(1, len(graph.timeline if slot == "time" else graph.predicates))
    return max(1, min(GATHERED_AT_MOST, most))


def note_of(run: ServedRun, slot: str, own: str | None = None) -> str | None:
    """Return what a reader should know about the answers; `own` is what they say themselves."""
    notes = {NO_TIME: slot == "time" and not run.uses_time, NOT_CALIBRATED: run.details.report is None}
    found = [note for note, holds in notes.items() if holds]
    return "; ".join([*found, *filter(None, (run.update_note, own))]) or None


def ask_together(
    run: ServedRun, wanted: list[tuple[Question, int]], already_known: AlreadyKnown
) -> list[Listed | Exception]:
    """Return the answers to each question, or the error of one that cannot be answered."""
    try:
        questions, most = [question for question, _ in wanted], max(top for _, top in wanted)
        found = run.predict_many(questions, top=most, already_known=already_known)
    except Exception as error:  # one bad question must not fail those beside it
        return [error] if len(wanted) == 1 else [ask_together(run, [one], already_known)[0] for one in wanted]
    # the first answers are the same however many are asked for
    shown = [answers[:top] for (_, top), answers in zip(wanted, found, strict=True)]
    return [_listed(answers) for answers in shown]


def _listed(answers: Answers) -> Listed:
    shown = [AnswerOut(**{"names": None, **one.to_dict()}) for one in answers]
    taken = dict(answers.taken) or None
    asked = answers.question.to_dict()
    return Listed(asked, shown, answers.other_probability, answers.note, taken, answers.allowed_probability)


def _ask_slice(run: ServedRun, asked: BatchIn, rows: list[tuple[int, str]], until: float) -> dict[int, bytes]:
    """Return the outcomes of the first questions of a batch by row: as many as fit into the time of one job."""
    until = min(until, time.monotonic() + JOB_SECONDS)
    outcomes: dict[int, bytes] = {}
    while rows and (not outcomes or time.monotonic() < until) and len(outcomes) < BATCH_SLICE:
        shares = accumulate(1 / together(run, slot) for _, slot in rows[: BATCH_SLICE - len(outcomes)])
        count = max(1, sum(share <= 1 for share in shares))
        first, rows = rows[:count], rows[count:]
        wanted = [(asked.questions[row].question, asked.top) for row, _ in first]
        for (row, slot), found in zip(first, ask_together(run, wanted, asked.already_known), strict=True):
            outcomes[row] = _outcome(asked.questions[row], slot, found)
    return outcomes


def _outcome(question: QuestionIn, slot: str | None, found: Listed | Exception) -> bytes:
    shown: dict[str, Any] = {"question": question.question.to_dict(), "answers": [], "other_probability": 0.0}
    if isinstance(found, ForetimeError):
        found = unanswerable(found)
    if isinstance(found, Problem):
        shown["error"] = found.detail
    elif isinstance(found, Exception):
        raise found
    else:
        shown = {**found._asdict(), "error": None}
    return BatchOutcome(slot=slot, **shown).model_dump_json().encode()
