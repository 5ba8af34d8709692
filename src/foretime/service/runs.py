"""Routes to the runs that are served: a list, each with its report, and the names in its graph."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from foretime.service.catalog import Catalog
from foretime.service.context import TheBackend, TheRun
from foretime.service.models import Paged, ResponseBody
from foretime.service.names import NamesOut
from foretime.service.problems import ERRORS
from foretime.service.served import RunOut, RunSummaryOut
from foretime.service.settings import API, NAME_LENGTH

router = APIRouter(prefix=f"{API}/runs", responses=ERRORS, tags=["runs"])


class NamesIn(Paged):
    """The beginning of a name."""

    prefix: str = Field(default="", max_length=NAME_LENGTH, description="Of the name, or of a word in it.")


class RunProblemOut(ResponseBody):
    """A run that is not served."""

    run: str
    message: str


class RunsOut(ResponseBody):
    """The runs that are served, and those that cannot be."""

    runs: list[RunSummaryOut]
    problems: list[RunProblemOut]


@router.get("")
async def runs(backend: TheBackend) -> RunsOut:
    """List the runs that are served."""
    return list_runs(backend.catalog)


@router.get("/{run}/report")
@router.get("/{run}")
async def run(run: TheRun) -> RunOut:
    """Describe a run: its settings, its report, its training curve."""
    return run.details


@router.get("/{run}/entities")
async def entities(run: TheRun, backend: TheBackend, asked: Annotated[NamesIn, Query()]) -> NamesOut:
    """Find entities by the beginning of their name or of a word in it."""
    return await backend.look_up("names", run.index.entities.search, asked.prefix, asked.limit, asked.offset)


@router.get("/{run}/predicates")
async def predicates(run: TheRun, backend: TheBackend, asked: Annotated[NamesIn, Query()]) -> NamesOut:
    """Find predicates by the beginning of their name or of a word in it."""
    return await backend.look_up("names", run.index.predicates.search, asked.prefix, asked.limit, asked.offset)


def list_runs(catalog: Catalog) -> RunsOut:
    """Return the runs that are served, and those that cannot be."""
    catalog.check_looked()
    return RunsOut(
        runs=[found.overview for _, found in sorted(catalog.runs.items())],
        problems=[RunProblemOut(run=name, message=message) for name, message in sorted(catalog.problems.items())],
    )
