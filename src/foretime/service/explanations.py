"""The route that explains answers. Its response is the JSON of `foretime explain --json`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from foretime.errors import QuestionError
from foretime.inference.answers import AND, NO_TIME, Target
from foretime.inference.explanation import comparison, details, events, reasons
from foretime.service.answers import AnswerChangeOut
from foretime.service.context import TheBackend, TheRun
from foretime.service.models import AlreadyKnown, GivenSlots, Name, ResponseBody, Split, response_of
from foretime.service.problems import ERRORS
from foretime.service.questions import EvidenceIn, QuestionIn, check_names, checked
from foretime.service.served import ServedRun
from foretime.service.settings import API, MOST_REASONS

TopicName = Literal["between", "others", "activity", "neighbours", "names", "timely", "lasting", "general"]
router = APIRouter(prefix=f"{API}/runs/{{run}}", responses=ERRORS, tags=["answers"])


class ExplainIn(EvidenceIn, QuestionIn):
    """A fact, or a question whose best answer is explained."""

    competitor: Name = Field(default=None, description="Another answer: why not that one?")
    slot: Target = Field(default="object", description="The answer, where nothing is left open.")
    already_known: AlreadyKnown = "mark"
    top: int = Field(default=5, ge=1, le=MOST_REASONS, description="How many reasons.")
    full: bool = Field(default=False, description="Add every feature, the base score, and all learned weights.")


class OthersOut(ResponseBody):
    """What is not listed, in one sum."""

    count: int
    contribution: float


class OtherDifferencesOut(ResponseBody):
    """Differences that are not listed, in one sum."""

    count: int
    difference: float


DatedEventOut: Any = response_of(events.DatedEvent)
ReasonPartOut: Any = response_of(reasons.ReasonPart, confidence=float | None, contribution=float)
ShownReasonOut: Any = response_of(
    reasons.ShownReason,
    topic=None,
    clause=None,
    key=None,
    contribution=float,
    parts=(list[ReasonPartOut], []),
    events=list[DatedEventOut],
)
BasePlaceOut: Any = response_of(details.BasePlace)
CoNeighbourOut: Any = response_of(events.CoNeighbour, events=list[DatedEventOut])
SharedNeighboursOut: Any = response_of(
    events.SharedNeighbours, weight=float, paths=int, count=int, co_neighbours=list[CoNeighbourOut]
)
ContributionOut: Any = response_of(details.Contribution, value=float | None)
FullDetailsOut: Any = response_of(
    details.FullDetails,
    expected=None,
    expected_value=float | None,
    base_score=float,
    features=list[ContributionOut],
    base_place=BasePlaceOut | None,
    shared_neighbours=SharedNeighboursOut | None,
)
ReasonDifferenceOut: Any = response_of(comparison.ReasonDifference, difference=float)


class TopicOut(ResponseBody):
    """One thing that a score is about, with its reasons."""

    topic: TopicName
    title: str
    contribution: float
    reasons: list[ShownReasonOut]
    other_reasons: OthersOut


class TopicDifferenceOut(ResponseBody):
    """What a topic gives to the answer and to its competitor, by reason."""

    topic: TopicName
    title: str
    answer: float
    competitor: float
    difference: float
    reasons: list[ReasonDifferenceOut]
    other_reasons: OtherDifferencesOut


class DifferencesOut(ResponseBody):
    """Why the answer and not its competitor."""

    score: float
    sentence: str
    topics: list[TopicDifferenceOut]


class ExplanationOut(ResponseBody):
    """Why an answer has its score; with a competitor, also why it and not that one."""

    question: GivenSlots
    slot: Target
    answer: str
    rank: int
    probability: float | None
    already_known: Split | None
    score: float
    sentences: list[str]
    topics: list[TopicOut]
    note: str | None
    full: FullDetailsOut | None = Field(default=None, description="Every feature and the base score; if asked for.")
    steps: list[ExplanationOut] | None = Field(
        default=None, description="Where two slots are the answer: why the first, and why the second given the first."
    )
    competitor: ExplanationOut | None = None
    differences: DifferencesOut | None = None
    change: AnswerChangeOut | None = Field(default=None, description="The answer before the evidence was changed.")
    evidence: list[str] | None = Field(default=None, description="What was changed in the evidence, in words.")


@router.get("/explain", response_model_exclude_unset=True)
async def explain(run: TheRun, backend: TheBackend, asked: Annotated[ExplainIn, Query()]) -> ExplanationOut:
    """Explain why an answer has its score, and why not a competitor."""
    await checked(backend, run, asked, check_explained)
    return await backend.models.do("explain", partial(_explain, run, asked), backend.settings.deadline)


@router.post("/explain", response_model_exclude_unset=True)
async def explain_posted(run: TheRun, backend: TheBackend, asked: ExplainIn) -> ExplanationOut:
    """Explain why an answer has its score, and why not a competitor."""
    return await explain(run, backend, asked)


def _explain(run: ServedRun, asked: ExplainIn) -> ExplanationOut:
    wanted = {name: value for name, value in dict(asked).items() if name not in EvidenceIn.model_fields}
    wanted |= asked.restriction
    full = wanted.pop("full")
    if not asked.evidence:
        seen = run if asked.as_of is None else run.as_of(asked.as_of, by=asked.by)
        return ExplanationOut.model_validate(seen.explain(**wanted).to_dict(full=full))
    what_if = run.what_if(**asked.evidence)
    explanation = what_if.explain(**wanted)
    return ExplanationOut.model_validate(explanation.to_dict(full=full) | what_if.compare(explanation).to_dict())


def check_explained(run: ServedRun, asked: ExplainIn) -> None:
    """Raise a problem if a name or a time in what is to be explained is unknown."""
    check_names(run, asked)
    times = [time for time in (asked.time, asked.start, asked.end) if time is not None]
    for time in times:
        if time != NO_TIME:
            run.predictor.step(time)
    whole = times and None not in (asked.subject, asked.predicate, asked.object)
    slot = asked.slot if whole else AND.join(asked.question.targets)
    if asked.competitor is not None and AND in slot:
        raise QuestionError(f"{slot} are the answer; a competitor needs a question with one open slot")
    if asked.competitor is not None and slot == "time":
        run.predictor.graph.timeline.step(asked.competitor)
    elif asked.competitor is not None:
        (run.index.predicates if slot == "predicate" else run.index.entities).id(asked.competitor)
