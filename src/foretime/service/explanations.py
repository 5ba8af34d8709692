"""The route that explains answers. Its response is the JSON of `foretime explain --json`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from foretime.evaluation.slots import Slot
from foretime.service.context import TheBackend, TheRun
from foretime.service.models import AlreadyKnown, GivenSlots, Name, ResponseBody, Split
from foretime.service.problems import ERRORS
from foretime.service.questions import QuestionIn, check_names, checked
from foretime.service.served import ServedRun, target
from foretime.service.settings import API, MOST_REASONS

router = APIRouter(prefix=f"{API}/runs/{{run}}", responses=ERRORS, tags=["answers"])


class ExplainIn(QuestionIn):
    """A fact, or a question whose best answer is explained."""

    competitor: Name = Field(default=None, description="Another answer: why not that one?")
    slot: Slot = Field(default="object", description="The answer, where nothing is left open.")
    already_known: AlreadyKnown = "mark"
    top: int = Field(default=10, ge=1, le=MOST_REASONS, description="How many reasons.")


class ReasonPartOut(ResponseBody):
    """One learned feature of a reason: its contribution is share · (shared + predicate + rule)."""

    family: str
    value: float
    says: str
    end: str
    share: float
    shared: float
    predicate: float
    rule: float
    statement: str | None
    support: int | None
    body_count: int | None
    confidence: float | None
    contribution: float


class EventOut(ResponseBody):
    """A dated event behind a reason.

    `mark` is where it lies from the time asked about. `time` is a step, or the two ends of an interval with ` – `
    between them, `?` for an unknown one.
    """

    mark: Literal["before", "same time", "after"]
    subject: str
    predicate: str
    object: str
    time: str
    end: str


class ReasonOut(ResponseBody):
    """Everything that one rule body contributes to an answer."""

    kind: Literal["pair", "object", "active", "affinity", "path"]
    sentence: str
    contribution: float
    rule: str | None
    parts: list[ReasonPartOut]
    groundings: int
    events: list[EventOut]


class OthersOut(ResponseBody):
    """What is not listed, in one sum."""

    count: int
    contribution: float


class BaseModelOut(ResponseBody):
    """Where the base model has put an answer that a re-ranker has ordered."""

    score: float
    shortlist: int
    listed: bool
    place: int | None


class FeatureOut(ResponseBody):
    """What one feature adds to the score of the re-ranker."""

    feature: str
    value: float | None
    contribution: float
    words: str


class CoNeighbourOut(ResponseBody):
    """Another neighbour of `via` that has the answer: how many paths there are, and their facts."""

    name: str
    via: str
    paths: int
    weight: float
    events: list[EventOut]


class SharedNeighboursOut(ResponseBody):
    """All co-neighbours that support an answer; `reported` is the weight that the re-ranker was given."""

    weight: float
    reported: float
    paths: int
    count: int
    co_neighbours: list[CoNeighbourOut]


class RerankerOut(ResponseBody):
    """The score of the re-ranker: its base and its features, and in a graph of intervals the shared neighbours."""

    score: float
    base: float
    contributions: list[FeatureOut]
    other_contributions: OthersOut
    shared_neighbours: SharedNeighboursOut | None


class DifferenceOut(ResponseBody):
    """What one summand gives to the answer and to its competitor."""

    name: str
    answer: float
    competitor: float
    difference: float


class OtherDifferencesOut(ResponseBody):
    """Differences that are not listed, in one sum."""

    count: int
    difference: float


class DifferencesOut(ResponseBody):
    """Why the answer and not its competitor."""

    score: float
    base_score: float
    terms: list[DifferenceOut]
    reasons: list[DifferenceOut]
    other_reasons: OtherDifferencesOut
    reranker: list[DifferenceOut] | None
    other_reranker: OtherDifferencesOut | None = None


class ExplanationOut(ResponseBody):
    """Why an answer has its score; with a competitor, also why it and not that one."""

    question: GivenSlots
    slot: Slot
    answer: str
    rank: int
    confidence: float | None
    already_known: Split | None
    score: float
    terms: dict[str, float]
    reasons: list[ReasonOut]
    other_reasons: OthersOut
    note: str | None
    base_model: BaseModelOut | None
    reranker: RerankerOut | None
    competitor: ExplanationOut | None = None
    differences: DifferencesOut | None = None


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
    found = run.explain(asked.top, asked.already_known, competitor=asked.competitor, slot=asked.slot, **asked.slots())
    return ExplanationOut.model_validate(found)


def check_explained(run: ServedRun, asked: ExplainIn) -> None:
    """Raise a problem if a name or a time in what is to be explained is unknown."""
    check_names(run, asked)
    slots = asked.slots()
    timed = [slots[name] for name in ("time", "start", "end") if name in slots]
    for moment in timed:
        run.check_time(moment)
    whole = timed and {"subject", "predicate", "object"} <= slots.keys()
    slot = asked.slot if whole else target(slots)
    if asked.competitor is not None and slot == "time":
        run.graph.timeline.step(asked.competitor)
    elif asked.competitor is not None:
        (run.history.predicate if slot == "predicate" else run.history.entity)(asked.competitor)
