"""The route that takes new events in: what happened since a run was trained."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field

from foretime.inference.living import UpdateReport
from foretime.runs.updates import Update
from foretime.service.context import Backend, TheBackend, TheRun
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
    """New events: all of them or none, unless bad ones are to be skipped."""

    events: list[EventIn] = Field(min_length=1, max_length=MOST_EVENTS)
    bad_rows: Literal["stop", "skip"] = Field(
        default="stop", description="Take none if one cannot be read, or leave those out that cannot."
    )


class UpdateOut(ResponseBody):
    """What an update has changed."""

    run: str
    number: int | None = Field(description="The number of the update; null if nothing was new.")
    new: int
    already_there: int
    new_entities: int
    new_predicates: int
    last: str = Field(description="The last time on the timeline now.")
    alike: dict[str, str] = Field(
        description="New names that differ from a name that was there only in their spelling, and that name."
    )
    bad_rows: int = Field(description="How many events were skipped because they could not be read.")
    kinds_of_bad_rows: list[str] = Field(description="What was wrong with them, a line for each kind.")


class UndoneOut(ResponseBody):
    """An update that was taken back."""

    run: str
    number: int = Field(description="The number of the update.")
    events: int = Field(description="How many events it had.")
    added: str = Field(description="When it was added, in UTC.")
    source: str = Field(description="The file that it was read from, or in words what it was.")
    first: str = Field(description="The first time of its events.")
    last: str = Field(description="The last time of its events.")
    last_now: str = Field(description="The last time on the timeline now.")


@router.post("/{run}/events")
async def add_events(run: TheRun, backend: TheBackend, given: EventsIn) -> UpdateOut:
    """Let new events in, with new names and later times: they are evidence of the next answer."""
    check_token(backend)
    report = await asyncio.to_thread(_add, run, rows_of(given.events), given.bad_rows)
    return UpdateOut(run=run.name, **report.to_dict())


@router.delete("/{run}/events/last")
async def take_back_events(run: TheRun, backend: TheBackend) -> UndoneOut:
    """Take back the last update, whoever made it: its events are no evidence any more."""
    check_token(backend)
    gone = await asyncio.to_thread(_undo, run)
    if gone is None:
        raise Problem(404, "not_found", f"the run {run.name!r} has no update to take back")
    return UndoneOut(run=run.name, **gone._asdict(), last_now=run.overview.last)


def check_token(backend: Backend) -> None:
    """Raise a problem if the service has no token: then nobody may change what a run knows."""
    if backend.settings.token is None:
        message = "a service without a token takes no events; start it with FORETIME_TOKEN, and send the token"
        raise Problem(403, "no_token", message)


def rows_of(events: list[EventIn]) -> list[dict[str, Any]]:
    """Return events as `Run.update` takes them: with one time each, or all with a start and an end."""
    timed = all(event.start is None and event.end is None for event in events)
    rows = []
    for event in events:
        ends = {"time": event.time} if timed else {"start": event.start or event.time, "end": event.end or event.time}
        names = {"subject": event.subject, "predicate": event.predicate, "object": event.object}
        rows.append(names | ends | {"known": event.known})
    return rows


def _undo(run: ServedRun) -> Update | None:
    gone = run.undo_update()
    run.take_updates()
    return gone


def _add(run: ServedRun, rows: list[dict[str, Any]], bad_rows: Literal["stop", "skip"]) -> UpdateReport:
    report = run.update(rows, bad_rows=bad_rows)
    if report.number is not None:
        run.take_updates()
    return report
