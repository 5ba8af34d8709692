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
    """What is in a name."""

    prefix: str = Field(
        default="",
        max_length=NAME_LENGTH,
        description="Words of the name or of an alias, or parts of them, in any order.",
    )


class RunProblemOut(ResponseBody):
    """A run that is not served, or a name that several runs have."""

    run: str
    message: str


class RunsOut(ResponseBody):
    """The runs that are served, and what is wrong with others."""

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


@router.get("/{run}/entities", response_model_exclude_none=True)
async def entities(run: TheRun, backend: TheBackend, asked: Annotated[NamesIn, Query()]) -> NamesOut:
    """Find entities by words of their names or aliases, or by parts of words."""
    return await backend.look_up("names", run.index.entities.search, asked.prefix, asked.limit, asked.offset)


@router.get("/{run}/predicates", response_model_exclude_none=True)
async def predicates(run: TheRun, backend: TheBackend, asked: Annotated[NamesIn, Query()]) -> NamesOut:
    """Find predicates by words of their names, or by parts of words."""
    return await backend.look_up("names", run.index.predicates.search, asked.prefix, asked.limit, asked.offset)


def list_runs(catalog: Catalog) -> RunsOut:
    """Return the runs that are served, and what is wrong with others."""
    catalog.check_looked()
    return RunsOut(
        runs=[found.overview for _, found in sorted(catalog.runs.items())],
        problems=[RunProblemOut(run=name, message=message) for name, message in catalog.all_problems()],
    )
