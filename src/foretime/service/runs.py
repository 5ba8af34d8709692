"""Routes to the runs that are served: a list, each with its report, and the names in its graph."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from foretime.data.sources import SPLITS
from foretime.service.catalog import Catalog
from foretime.service.context import TheBackend, TheRun
from foretime.service.models import FactOut, Paged, ResponseBody, Split
from foretime.service.names import NamesOut
from foretime.service.problems import ERRORS
from foretime.service.served import ServedRun
from foretime.service.settings import API, NAME_LENGTH

HIDDEN = {"data": {"path"}, "rules": {"file"}}
"""Settings that name files on the machine that trained."""
router = APIRouter(prefix=f"{API}/runs", responses=ERRORS, tags=["runs"])


class NamesIn(Paged):
    """The beginning of a name."""

    prefix: str = Field(default="", max_length=NAME_LENGTH, description="Of the name, or of a word in it.")


class RunSummaryOut(ResponseBody):
    """A run at a glance."""

    name: str
    data: str
    model: str
    entities: int
    predicates: int
    facts: dict[Split, int]
    first: str
    last: str
    granularity: str
    steps: int
    rules: int
    evidence: bool = Field(description="Whether answers can be explained by rules.")
    reranker: bool = Field(description="Whether a re-ranker orders the best answers of the base model.")
    forecasts: bool = Field(description="Whether times after the last one can be asked about.")
    intervals: bool = Field(description="Whether facts have a start and an end.")
    valid_mrr: float | None
    test_mrr: float | None
    valid_fitted: bool = Field(
        description="Whether the re-ranker was fitted on valid, so that valid_mrr is not measured on unseen facts."
    )
    loaded: str = Field(description="When the run was loaded; it changes whenever the run is loaded again.")


class RunOut(RunSummaryOut):
    """A run with its settings, its report and its training curve."""

    config: dict[str, dict[str, Any]]
    report: dict[str, Any] | None
    trace: list[dict[str, Any]]
    example: FactOut | None


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
    settings = run.config.model_dump(exclude_none=True, exclude=HIDDEN)
    return RunOut(**_summary(run), config=settings, report=run.report, trace=run.trace, example=run.example)


@router.get("/{run}/entities")
async def entities(run: TheRun, backend: TheBackend, asked: Annotated[NamesIn, Query()]) -> NamesOut:
    """Find entities by the beginning of their name or of a word in it."""
    return await backend.look_up("names", run.history.entities.search, asked.prefix, asked.limit, asked.offset)


@router.get("/{run}/predicates")
async def predicates(run: TheRun, backend: TheBackend, asked: Annotated[NamesIn, Query()]) -> NamesOut:
    """Find predicates by the beginning of their name or of a word in it."""
    return await backend.look_up("names", run.history.predicates.search, asked.prefix, asked.limit, asked.offset)


def list_runs(catalog: Catalog) -> RunsOut:
    """Return the runs that are served, and those that cannot be."""
    catalog.check_looked()
    return RunsOut(
        runs=[RunSummaryOut(**_summary(found)) for _, found in sorted(catalog.runs.items())],
        problems=[RunProblemOut(run=name, message=message) for name, message in sorted(catalog.problems.items())],
    )


def _summary(run: ServedRun) -> dict[str, Any]:
    graph, timeline, report = run.graph, run.graph.timeline, run.report or {}
    return {
        "name": run.name,
        "data": graph.name,
        "model": run.config.model.name,
        "entities": len(graph.entities),
        "predicates": len(graph.predicates),
        "facts": {split: len(graph.facts(split)) for split in SPLITS},
        "first": timeline.label(0),
        "last": timeline.label(len(timeline) - 1),
        "granularity": timeline.granularity,
        "steps": len(timeline),
        "rules": 0 if run.rules is None else len(run.rules),
        "evidence": run.has_evidence,
        "reranker": run.has_reranker,
        "forecasts": run.predictor.forecasts,
        "intervals": graph.has_intervals,
        **{f"{split}_mrr": report.get(split, {}).get("all", {}).get("mrr") for split in ("valid", "test")},
        "valid_fitted": run.valid_fitted,
        "loaded": run.loaded,
    }
