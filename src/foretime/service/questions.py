"""Questions: what a request may ask, and the checks that come before a model is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import Field

from foretime.data.restrictions import BETWEEN
from foretime.errors import QuestionError
from foretime.inference.answers import GIVEN, Question
from foretime.inference.views import By
from foretime.service.context import Backend
from foretime.service.models import AlreadyKnown, Name, RequestBody, RunName, Time
from foretime.service.names import NameIndex
from foretime.service.problems import Problem, unanswerable
from foretime.service.served import ServedRun
from foretime.service.settings import (
    CHANGE_LENGTH,
    MOST_ANSWERS,
    MOST_CHANGES,
    MOST_QUESTIONS,
    NAME_LENGTH,
    SUGGESTIONS_IN_BATCH,
)

Value = Annotated[str, Field(max_length=NAME_LENGTH)]
Changed = Annotated[str, Field(max_length=CHANGE_LENGTH)]
Result = TypeVar("Result")
Asked = TypeVar("Asked", bound="SlotsIn")


class SlotsIn(RequestBody):
    """Names that are given, or left open."""

    subject: Name = Field(default=None, description="Who acts.")
    predicate: Name = Field(default=None, description="What happens.")
    object: Name = Field(default=None, description="To whom.")


class QuestionIn(SlotsIn):
    """A fact in names with one slot left open, or two."""

    time: Time = Field(default=None, description="When.")
    start: Time = Field(default=None, description="When it began, in a graph of intervals.")
    end: Time = Field(default=None, description="When it ended, in a graph of intervals.")
    type: list[Value] = Field(
        default=[], max_length=MOST_CHANGES, description="Only entities of one of these types are answers."
    )
    where: list[Value] = Field(
        default=[], max_length=MOST_CHANGES, description="Only entities with this are: attribute=value."
    )

    @property
    def restriction(self) -> dict[str, Any]:
        """What restricts the answers, as `Run.predict` takes it."""
        return {"type": [one for one in self.type if one], "where": BETWEEN.join(self.where)}

    @property
    def question(self) -> Question:
        """The question itself."""
        return Question(**{name: getattr(self, name) for name in GIVEN}, **self.restriction)


class EvidenceIn(RequestBody):
    """What if: events, rules and predicates that are left out for one question, and events that are added."""

    without: list[Changed] = Field(
        default=[], max_length=MOST_CHANGES, description="Events, rules or predicates that are not there."
    )
    with_: list[Changed] = Field(
        default=[], alias="with", max_length=MOST_CHANGES, description="Events that did not happen, as if they had."
    )
    past_only: bool = Field(default=False, description="Whether only events before the time asked about are evidence.")

    as_of: Time = Field(default=None, description="A day: what happened on it or later is no evidence.")
    by: By = Field(default="happened", description="With as_of: when an event happened counts, or when it was known.")

    @property
    def evidence(self) -> dict[str, Any]:
        """What is changed, as `Run.what_if` takes it; empty if nothing is."""
        given = {"without": self.without, "with_": self.with_, "past_only": self.past_only}
        if not any(given.values()):
            return {}
        if self.as_of is not None:
            raise unanswerable("as_of and without, with or past_only change the evidence; give one of them")
        return given


class CompleteIn(EvidenceIn, QuestionIn):
    """A question and the number of answers wanted."""

    top: int = Field(default=10, ge=1, le=MOST_ANSWERS, description="How many answers.")
    already_known: AlreadyKnown = "mark"


class CompareIn(CompleteIn):
    """A question to two runs."""

    left: RunName
    right: RunName


class BatchIn(RequestBody):
    """Many questions at once."""

    questions: list[QuestionIn] = Field(min_length=1, max_length=MOST_QUESTIONS)
    top: int = Field(default=10, ge=1, le=MOST_ANSWERS, description="How many answers to each.")
    already_known: AlreadyKnown = "mark"


async def checked(
    backend: Backend, run: ServedRun, asked: Asked, check: Callable[[ServedRun, Asked], Result]
) -> Result:
    """Return what a check returns: made here if it takes a few lookups, otherwise by the lane of the graphs."""
    restricted = isinstance(asked, QuestionIn) and bool(asked.type or asked.where)
    if knows_names(run, asked) and not restricted and getattr(asked, "competitor", None) is None:
        return check(run, asked)
    return await backend.look_up("names", check, run, asked)


def knows_names(run: ServedRun, asked: SlotsIn) -> bool:
    """Return whether the run knows every name in a question, so that none has to be suggested."""
    return all(name in index for index, name in _names(run, asked))


def check_question(run: ServedRun, asked: QuestionIn, suggest: bool = True) -> str:
    """Return the open slot of a question that can be answered, or both; any other question is a problem."""
    target = " and ".join(asked.question.targets)
    check_names(run, asked, suggest)
    run.predictor.check(asked.question)
    return target


def check_questions(run: ServedRun, questions: list[QuestionIn]) -> list[str | Problem]:
    """Return the open slot of each question, or what is wrong with it; names are suggested for the first ones."""
    found: list[str | Problem] = []
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


def check_names(run: ServedRun, asked: SlotsIn, suggest: bool = True) -> None:
    """Raise a problem if a name in a question is unknown, or may be one of several."""
    for index, name in _names(run, asked):
        index.id(name, suggest)


def _names(run: ServedRun, asked: SlotsIn) -> list[tuple[NameIndex, str]]:
    """Return the names in a question, and where each is looked up."""
    who, what = run.index.entities, run.index.predicates
    given = ((who, asked.subject), (who, asked.object), (what, asked.predicate))
    return [(index, name) for index, name in given if name is not None]
