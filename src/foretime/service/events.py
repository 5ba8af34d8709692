"""The route that takes new events in: what happened since a run was trained."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from foretime.inference.living import UpdateReport
from foretime.service.context import TheBackend, TheRun
from foretime.service.models import RequestBody, ResponseBody, Time
from foretime.service.problems import ERRORS, Problem
from foretime.service.served import ServedRun
from foretime.service.settings import API, MOST_EVENTS, NAME_LENGTH

GivenName = Annotated[str, Field(max_length=NAME_LENGTH)]
router = APIRouter(prefix=f"{API}/runs", responses=ERRORS, tags=["runs"])


class EventIn(RequestBody):
    """An event at a time, or a fact with a start and an end; names may be new."""

    subject: GivenName = Field(description="Who acts.")
    predicate: GivenName = Field(description="What happens.")
    object: GivenName = Field(description="To whom.")
    time: Time = Field(default=None, description="When.")
    start: Time = Field(default=None, description="When it began, in a graph of intervals.")
    end: Time = Field(default=None, description="When it ended, in a graph of intervals.")
    known: Time = Field(default=None, description="When it was known, if not when it happened.")


class EventsIn(RequestBody):
    """New events, all of them or none."""

    events: list[EventIn] = Field(min_length=1, max_length=MOST_EVENTS)


class UpdateOut(ResponseBody):
    """What an update has changed."""

    run: str
    number: int | None = Field(description="The number of the update; null if nothing was new.")
    new: int
    already_there: int
    new_entities: int
    new_predicates: int
    last: str = Field(description="The last time on the timeline now.")


@router.post("/{run}/events")
async def add_events(run: TheRun, backend: TheBackend, given: EventsIn) -> UpdateOut:
    """Let new events in, with new names and later times: they are evidence of the next answer."""
    if backend.settings.token is None:
        message = "a service without a token takes no events; start it with FORETIME_TOKEN, and send the token"
        raise Problem(403, "no_token", message)
    report = await asyncio.to_thread(_add, run, rows_of(given.events))
    return UpdateOut(run=run.name, **report.to_dict())


def rows_of(events: list[EventIn]) -> list[dict[str, Any]]:
    """Return events as `Run.update` takes them: with one time each, or all with a start and an end."""
    timed = all(event.start is None and event.end is None for event in events)
    rows = []
    for event in events:
        ends = {"time": event.time} if timed else {"start": event.start or event.time, "end": event.end or event.time}
        names = {"subject": event.subject, "predicate": event.predicate, "object": event.object}
        rows.append(names | ends | {"known": event.known})
    return rows


def _add(run: ServedRun, rows: list[dict[str, Any]]) -> UpdateReport:
    report = run.update(rows)
    if report.number is not None:
        run.take_updates()
    return report
