"""Questions put to runs: checked, gathered in the lane of the models, and told with bars beside their terms."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from pydantic_core import to_json

from foretime.errors import ForetimeError
from foretime.evaluation.slots import Slot
from foretime.inference.answers import AlreadyKnown, Answer, Question
from foretime.service.checking import check_explained, check_question, check_questions, knows_names
from foretime.service.lanes import GATHERED_AT_MOST, Lane
from foretime.service.problems import Problem, overloaded, too_slow, unanswerable
from foretime.service.runs import Served
from foretime.service.schemas import BatchIn, CompareIn, CompleteIn, ExplainIn, QuestionIn
from foretime.service.settings import BATCHES_AT_ONCE, JOB_SECONDS

SCORES_AT_ONCE = 4_000_000
"""Scores of questions asked together, so that memory does not grow with the number of entities."""
LOOKUPS_AT_ONCE = 20_000
"""The same where each candidate is looked up by itself: times and predicates."""
PART_OF_BATCH = 20
NO_TIME = "this model knows no time: all steps are equally likely, and their order means nothing"
NOT_CALIBRATED = "the run has no report yet: its confidence is not calibrated"
Checked = TypeVar("Checked")
Asked = TypeVar("Asked", bound=QuestionIn)


class _Wanted(NamedTuple):
    question: Question
    slot: Slot
    top: int


class Answering:
    """Answers and explains by the lane of the models; that of the graphs finds what to take for an unknown name."""

    def __init__(self, models: Lane, graphs: Lane, deadline: float) -> None:
        self._models, self._graphs, self._deadline, self._batches = models, graphs, deadline, 0

    async def complete(self, run: Served, asked: CompleteIn) -> dict[str, Any]:
        """Return the answers to a question; it is asked together with others that wait beside it."""
        known = asked.known
        slot = await self._checked(run, asked, check_question)

        def work(wanted: list[_Wanted]) -> Sequence[list[dict[str, Any]] | Exception]:
            return _tell_each(_ask_together(run, wanted, known))

        wanted, key = _Wanted(asked.question(), slot, asked.top), ("complete", id(run), slot, known)
        found = await self._models.ask("complete", key, wanted, work, self._deadline, together(run, slot))
        if isinstance(found, Exception):
            raise found
        return {
            "run": run.name,
            "question": asked.slots(),
            "slot": slot,
            "answers": found,
            "note": note_of(run, slot),
        }

    async def compare(self, left: Served, right: Served, asked: CompareIn) -> dict[str, Any]:
        """Return the answers of two runs to one question."""
        question = CompleteIn(**asked.model_dump(exclude={"left", "right"}))
        for run in (left, right):
            await self._checked(run, question, check_question)
        one, other = await asyncio.gather(self.complete(left, question), self.complete(right, question))
        ranks = [{answer["name"]: answer["rank"] for answer in side["answers"]} for side in (one, other)]
        worst = asked.top + 1
        names = sorted(
            ranks[0].keys() | ranks[1].keys(),
            key=lambda name: (min(side.get(name, worst) for side in ranks), ranks[0].get(name, worst)),
        )
        return {
            "question": one["question"],
            "slot": one["slot"],
            "left": one,
            "right": other,
            "answers": [{"name": name, "left": ranks[0].get(name), "right": ranks[1].get(name)} for name in names],
            "shared": len(ranks[0].keys() & ranks[1].keys()),
        }

    async def explain(self, run: Served, asked: ExplainIn) -> dict[str, Any]:
        """Return the explanation of an answer, as `foretime explain --json` has it."""
        await self._checked(run, asked, check_explained)

        def work() -> dict[str, Any]:
            found = run.explainer.explain(
                competitor=asked.competitor, slot=asked.slot, already_known=asked.known, top=asked.top, **asked.slots()
            )
            return found.to_dict(asked.top)

        return await self._models.do("explain", work, self._deadline)

    async def batch(self, run: Served, asked: BatchIn) -> bytes:
        """Return as JSON the outcome of each question: its answers, or what is wrong with it."""
        if self._batches >= BATCHES_AT_ONCE:
            raise overloaded(self._deadline / 2)
        self._batches += 1
        try:
            outcomes = await self._batch(run, asked)
        finally:
            self._batches -= 1
        return b'{"run":' + to_json(run.name) + b',"results":[' + b",".join(outcomes) + b"]}"

    async def _batch(self, run: Served, asked: BatchIn) -> list[bytes]:
        until = time.monotonic() + self._deadline
        checked = await self._graphs.do("names", partial(check_questions, run, asked.questions), self._deadline)
        right = [row for row, slot in enumerate(checked) if isinstance(slot, str)]
        outcomes = {
            row: _outcome(asked.questions[row], None, problem)
            for row, problem in enumerate(checked)
            if not isinstance(problem, str)
        }
        done = 0
        while done < len(right):  # between the parts, others have their turn
            work = partial(_ask_part, run, asked, [(row, checked[row]) for row in right[done:]], until)
            left = max(0.0, until - time.monotonic())
            try:
                outcomes |= (found := await self._models.do("batch", work, left, admitted=done > 0))
            except Problem as problem:
                if problem.code != "too_slow" or done == 0:
                    raise
                break  # what is done is kept
            done += len(found)
        late = too_slow()
        outcomes |= {row: _outcome(asked.questions[row], checked[row], late) for row in right[done:]}
        return [outcomes[row] for row in range(len(checked))]

    async def _checked(self, run: Served, asked: Asked, check: Callable[[Served, Asked], Checked]) -> Checked:
        """Return what a check returns, made here if that is a few lookups, and else in the lane of the graphs."""
        if knows_names(run, asked):
            return check(run, asked)
        return await self._graphs.do("names", partial(check, run, asked), self._deadline)


def together(run: Served, slot: Slot) -> int:
    """Return how many questions for a slot are asked together at the most."""
    if slot in ("subject", "object"):
        most = SCORES_AT_ONCE // max(1, len(run.graph.entities))
    else:
        most = LOOKUPS_AT_ONCE // max(1, len(run.graph.timeline if slot == "time" else run.graph.predicates))
    return max(1, min(GATHERED_AT_MOST, most))


def note_of(run: Served, slot: Slot) -> str | None:
    """Return what a reader should know of the answers."""
    notes = [
        *([NO_TIME] if slot == "time" and not run.predictor.model.uses_time else []),
        *([NOT_CALIBRATED] if run.report is None else []),
    ]
    return "; ".join(notes) or None


def told(answers: list[Answer]) -> list[dict[str, Any]]:
    """Return answers with bars: their terms as parts of the largest sum of absolute terms."""
    largest = max((sum(map(abs, answer.terms.values())) for answer in answers), default=0.0) or 1.0
    return [
        {**answer.to_dict(), "bars": {name: term / largest for name, term in answer.terms.items()}}
        for answer in answers
    ]


def _tell_each(found: list[list[Answer] | Exception]) -> list[list[dict[str, Any]] | Exception]:
    return [one if isinstance(one, Exception) else told(one) for one in found]


def _ask_together(run: Served, wanted: list[_Wanted], known: AlreadyKnown) -> list[list[Answer] | Exception]:
    """Return the answers to each question, or the error of one that cannot be answered."""
    top = max(one.top for one in wanted)
    try:
        found: list[Any] = run.predictor.predict_many([one.question for one in wanted], top, known)
    except Exception as error:  # the fault of one question is not that of those beside it
        found = [error] if len(wanted) == 1 else [_ask_together(run, [one], known)[0] for one in wanted]
    # the first answers are the same however many are asked for
    return [
        answers if isinstance(answers, Exception) else answers[: one.top]
        for one, answers in zip(wanted, found, strict=True)
    ]


def _ask_part(run: Served, asked: BatchIn, rows: list[tuple[int, Any]], until: float) -> dict[int, bytes]:
    """Return the outcomes of the first questions of a batch by row: as many as fit into the time of one job."""
    until = min(until, time.monotonic() + JOB_SECONDS)
    outcomes: dict[int, bytes] = {}
    while rows and (not outcomes or time.monotonic() < until) and len(outcomes) < PART_OF_BATCH:
        first = rows[: _fitting(run, [slot for _, slot in rows[: PART_OF_BATCH - len(outcomes)]])]
        rows = rows[len(first) :]
        wanted = [_Wanted(asked.questions[row].question(), slot, asked.top) for row, slot in first]
        for (row, slot), found in zip(first, _ask_together(run, wanted, asked.known), strict=True):
            outcomes[row] = _outcome(asked.questions[row], slot, found)
    return outcomes


def _fitting(run: Served, slots: list[Slot]) -> int:
    """Return how many of the first questions may be asked together, at least one."""
    share, count = 0.0, 0
    for slot in slots:
        share += 1 / together(run, slot)
        if count and share > 1:
            break
        count += 1
    return count


def _outcome(question: QuestionIn, slot: Slot | Problem | None, found: list[Answer] | Exception) -> bytes:
    error = None
    if isinstance(found, Exception):
        if not isinstance(found, Problem | ForetimeError):
            raise found
        error = (found if isinstance(found, Problem) else unanswerable(found)).to_dict()
    outcome = {
        "question": question.slots(),
        "slot": slot if isinstance(slot, str) else None,
        "answers": [] if isinstance(found, Exception) else told(found),
        "error": error,
    }
    return to_json(outcome, inf_nan_mode="null")
