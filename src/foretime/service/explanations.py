"""The route that explains answers. Its response is the JSON of `foretime explain --json`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from foretime.config import FamilyName
from foretime.evaluation.slots import Slot
from foretime.inference.explanation import events, explanation
from foretime.service.answers import AnswerChangeOut
from foretime.service.context import TheBackend, TheRun
from foretime.service.models import AlreadyKnown, GivenSlots, Name, ResponseBody, Split, response_of
from foretime.service.problems import ERRORS
from foretime.service.questions import EvidenceIn, QuestionIn, check_names, checked
from foretime.service.served import ServedRun
from foretime.service.settings import API, MOST_REASONS

router = APIRouter(prefix=f"{API}/runs/{{run}}", responses=ERRORS, tags=["answers"])


class ExplainIn(EvidenceIn, QuestionIn):
    """A fact, or a question whose best answer is explained."""

    competitor: Name = Field(default=None, description="Another answer: why not that one?")
    slot: Slot = Field(default="object", description="The answer, where nothing is left open.")
    already_known: AlreadyKnown = "mark"
    top: int = Field(default=10, ge=1, le=MOST_REASONS, description="How many reasons.")


class OthersOut(ResponseBody):
    """What is not listed, in one sum."""

    count: int
    contribution: float


class OtherDifferencesOut(ResponseBody):
    """Differences that are not listed, in one sum."""

    count: int
    difference: float


DatedEventOut: Any = response_of(events.DatedEvent)
ReasonPartOut: Any = response_of(explanation.ReasonPart, confidence=float | None, contribution=float)
ShownReasonOut: Any = response_of(
    explanation.ShownReason,
    kind=FamilyName,
    title=None,
    key=None,
    contribution=float,
    parts=list[ReasonPartOut],
    events=list[DatedEventOut],
)
BasePlaceOut: Any = response_of(explanation.BasePlace, score=float)
CoNeighbourOut: Any = response_of(events.CoNeighbour, events=list[DatedEventOut])
SharedNeighboursOut: Any = response_of(
    events.SharedNeighbours, weight=float, paths=int, count=int, co_neighbours=list[CoNeighbourOut]
)
ContributionOut: Any = response_of(explanation.Contribution, value=float | None, words=str)
RerankerScoreOut: Any = response_of(
    explanation.RerankerScore,
    score=float,
    contributions=list[ContributionOut],
    other_contributions=OthersOut,
    shared_neighbours=SharedNeighboursOut | None,
)
ContributionDifferenceOut: Any = response_of(explanation.ContributionDifference, difference=float)


class DifferencesOut(ResponseBody):
    """Why the answer and not its competitor."""

    score: float
    base_score: float
    terms: list[ContributionDifferenceOut]
    reasons: list[ContributionDifferenceOut]
    other_reasons: OtherDifferencesOut
    reranker: list[ContributionDifferenceOut] | None
    other_reranker: OtherDifferencesOut | None = None


class ExplanationOut(ResponseBody):
    """Why an answer has its score; with a competitor, also why it and not that one."""

    question: GivenSlots
    slot: Slot
    answer: str
    rank: int
    probability: float | None
    already_known: Split | None
    score: float
    terms: dict[str, float]
    reasons: list[ShownReasonOut]
    other_reasons: OthersOut
    note: str | None
    base_model: BasePlaceOut | None
    reranker: RerankerScoreOut | None
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
    question = {name: value for name, value in dict(asked).items() if name not in EvidenceIn.model_fields}
    if not asked.evidence:
        return ExplanationOut.model_validate(run.explain(**question).to_dict())
    what_if = run.what_if(**asked.evidence)
    explanation = what_if.explain(**question)
    return ExplanationOut.model_validate(explanation.to_dict() | what_if.compare(explanation).to_dict())


def check_explained(run: ServedRun, asked: ExplainIn) -> None:
    """Raise a problem if a name or a time in what is to be explained is unknown."""
    check_names(run, asked)
    times = [time for time in (asked.time, asked.start, asked.end) if time is not None]
    for time in times:
        run.predictor.step(time)
    whole = times and None not in (asked.subject, asked.predicate, asked.object)
    slot = asked.slot if whole else asked.question.target
    if asked.competitor is not None and slot == "time":
        run.graph.timeline.step(asked.competitor)
    elif asked.competitor is not None:
        (run.index.predicates if slot == "predicate" else run.index.entities).id(asked.competitor)
