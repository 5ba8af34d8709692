"""The route of the agenda: which events the coming steps are likely to bring."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from foretime.inference.agenda.maker import MOST_STEPS, NO_FORECASTS
from foretime.inference.forecast import ForecastEvent
from foretime.service.context import TheBackend, TheRun
from foretime.service.models import ResponseBody, Time
from foretime.service.problems import ERRORS, unanswerable
from foretime.service.questions import SlotsIn, check_names, checked
from foretime.service.served import ServedRun
from foretime.service.settings import API, MOST_EXPLAINED_EVENTS, MOST_FORECAST_REASONS, MOST_FORECASTS

router = APIRouter(prefix=f"{API}/runs/{{run}}", responses=ERRORS, tags=["answers"])


class ForecastIn(SlotsIn):
    """A window of steps, and what its events must have in their slots."""

    start: Time = Field(default=None, description="The first step; by default the one after the last event.")
    steps: int = Field(default=7, ge=1, le=MOST_STEPS, description="How many steps.")
    top: int = Field(default=20, ge=1, le=MOST_FORECASTS, description="How many events.")
    reasons: int = Field(
        default=0, ge=0, le=MOST_FORECAST_REASONS,
        description=f"How many reasons of each of the first {MOST_EXPLAINED_EVENTS} events.",
    )  # fmt: skip


class ForecastEventOut(ResponseBody):
    """An event that may come."""

    rank: int
    subject: str
    predicate: str
    object: str
    probability: float = Field(description="That it happens at least once in the window.")
    time: str = Field(description="The step at which it is most likely.")
    new: bool = Field(description="Whether it has never happened before.")
    sentence: str | None = Field(default=None, description="Why, in one sentence; if reasons were asked for.")
    reasons: list[str] | None = Field(default=None, description="Its reasons in words; if they were asked for.")


class ForecastOut(ResponseBody):
    """The most likely events of a window, best first."""

    run: str
    start: str
    end: str
    steps: int
    known_until: str = Field(description="The last event that was looked at.")
    events: list[ForecastEventOut]
    note: str | None


@router.get("/forecast", response_model_exclude_unset=True)
async def forecast(run: TheRun, backend: TheBackend, asked: Annotated[ForecastIn, Query()]) -> ForecastOut:
    """Say which events the coming steps are likely to bring, of the whole graph or of the slots given."""
    if not run.predictor.forecasts:
        raise unanswerable(NO_FORECASTS)
    await checked(backend, run, asked, check_names)
    return await backend.models.do("forecast", partial(_forecast, run, asked), backend.settings.deadline)


@router.post("/forecast", response_model_exclude_unset=True)
async def forecast_posted(run: TheRun, backend: TheBackend, asked: ForecastIn) -> ForecastOut:
    """Say which events the coming steps are likely to bring, of the whole graph or of the slots given."""
    return await forecast(run, backend, asked)


def _forecast(run: ServedRun, asked: ForecastIn) -> ForecastOut:
    found = run.forecast(
        subject=asked.subject, predicate=asked.predicate, object=asked.object,
        start=asked.start, steps=asked.steps, top=asked.top,
    )  # fmt: skip
    window = {name: getattr(found, name) for name in ("start", "end", "steps", "known_until")}
    return ForecastOut(
        run=run.name, **window, events=[_event(event, asked.reasons) for event in found], note=run.update_note
    )


def _event(event: ForecastEvent, reasons: int) -> ForecastEventOut:
    if not reasons or event.rank > MOST_EXPLAINED_EVENTS:
        return ForecastEventOut(**event.to_dict())
    why = event.explain(top=reasons)
    said = [reason.brief for reason in why.shown(reasons)]
    return ForecastEventOut(**event.to_dict(), sentence=next(iter(why.sentences), None), reasons=said)
