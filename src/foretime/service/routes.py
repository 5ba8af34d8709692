"""The paths of the API. They only translate: what is asked to the lanes, what is found to JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic_core import to_json

from foretime.service.answering import Answering
from foretime.service.explained import ExplanationOut
from foretime.service.lanes import Lane
from foretime.service.names import NameIndex
from foretime.service.responses import (
    BatchOut,
    CompareOut,
    CompleteOut,
    ErrorOut,
    FactsOut,
    GroundingsOut,
    NamesOut,
    NeighboursOut,
    RulesOut,
    RunOut,
    RunsOut,
    TimelineOut,
)
from foretime.service.ruled import groundings_page, rules_page
from foretime.service.runs import Catalog, Served
from foretime.service.schemas import (
    BatchIn,
    CompareIn,
    CompleteIn,
    ExplainIn,
    FactsIn,
    GroundingsIn,
    NamesIn,
    NeighboursIn,
    RulesIn,
    TimelineIn,
)
from foretime.service.settings import API

WHEN = {
    400: "The request cannot be read.",
    401: "The token is missing or wrong.",
    403: "A page of another site asks.",
    404: "No such run or rule.",
    408: "The request came too slowly.",
    413: "The body is too large.",
    414: "The URL is too long.",
    415: "The body is not declared as JSON.",
    421: "Another host than loopback, without a token.",
    422: "A field is out of its bounds, or the question cannot be answered.",
    431: "The head is too large.",
    503: "Later: Retry-After says when.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorOut, "description": about} for status, about in WHEN.items()
}
RunPath = Annotated[str, Path(max_length=255, description="The name of a run.", examples=["first"])]
RulePath = Annotated[int, Path(ge=0, le=2**31, description="The place of the rule in the run.", examples=[17])]


def as_json(found: Any) -> Response:
    """Return plain values as a response; a number that JSON cannot hold is null."""
    return Response(to_json(found, inf_nan_mode="null"), media_type="application/json")


def answer_routes(catalog: Catalog, answering: Answering) -> APIRouter:
    """Return the paths that ask models."""
    router = APIRouter(prefix=API, responses=ERRORS, tags=["answers"])

    @router.get("/runs/{run}/complete", response_model=CompleteOut)
    async def complete(run: RunPath, asked: Annotated[CompleteIn, Query()]) -> Response:
        """Answer a question: all of subject, predicate, object and time but one."""
        return as_json(await answering.complete(catalog[run], asked))

    @router.post("/runs/{run}/complete", response_model=CompleteOut)
    async def complete_posted(run: RunPath, asked: CompleteIn) -> Response:
        """Answer a question: all of subject, predicate, object and time but one."""
        return as_json(await answering.complete(catalog[run], asked))

    @router.get("/runs/{run}/explain", response_model=ExplanationOut)
    async def explain(run: RunPath, asked: Annotated[ExplainIn, Query()]) -> Response:
        """Say why an answer has its score, and why not a competitor."""
        return as_json(await answering.explain(catalog[run], asked))

    @router.post("/runs/{run}/explain", response_model=ExplanationOut)
    async def explain_posted(run: RunPath, asked: ExplainIn) -> Response:
        """Say why an answer has its score, and why not a competitor."""
        return as_json(await answering.explain(catalog[run], asked))

    @router.post("/runs/{run}/batch", response_model=BatchOut)
    async def batch(run: RunPath, asked: BatchIn) -> Response:
        """Answer many questions; each has its own outcome."""
        return Response(await answering.batch(catalog[run], asked), media_type="application/json")

    @router.get("/compare", response_model=CompareOut)
    async def compare(asked: Annotated[CompareIn, Query()]) -> Response:
        """Put one question to two runs."""
        return as_json(await answering.compare(catalog[asked.left], catalog[asked.right], asked))

    @router.post("/compare", response_model=CompareOut)
    async def compare_posted(asked: CompareIn) -> Response:
        """Put one question to two runs."""
        return as_json(await answering.compare(catalog[asked.left], catalog[asked.right], asked))

    return router


def graph_routes(catalog: Catalog, lane: Lane, deadline: float) -> APIRouter:
    """Return the paths that look things up in graphs."""
    router = APIRouter(prefix=f"{API}/runs", responses=ERRORS, tags=["graphs"])

    async def look_up(kind: str, work: Callable[[], Any]) -> Response:
        return as_json(await lane.do(kind, work, deadline))

    @router.get("", response_model=RunsOut)
    async def runs() -> Response:
        """List the runs that are served."""
        return as_json(catalog.listed())

    @router.get("/{run}/report", response_model=RunOut)
    @router.get("/{run}", response_model=RunOut)
    async def run(run: RunPath) -> Response:
        """Describe a run: its settings, its report, its training curve."""
        return Response(catalog[run].as_json, media_type="application/json")

    @router.get("/{run}/entities", response_model=NamesOut)
    async def entities(run: RunPath, asked: Annotated[NamesIn, Query()]) -> Response:
        """Find entities by the beginning of their name or of a word in it."""
        served = catalog[run]
        return await look_up("names", lambda: _names(served.history.entities, asked))

    @router.get("/{run}/predicates", response_model=NamesOut)
    async def predicates(run: RunPath, asked: Annotated[NamesIn, Query()]) -> Response:
        """Find predicates by the beginning of their name or of a word in it."""
        served = catalog[run]
        return await look_up("names", lambda: _names(served.history.predicates, asked))

    @router.get("/{run}/rules", response_model=RulesOut)
    async def rules(run: RunPath, asked: Annotated[RulesIn, Query()]) -> Response:
        """List the rules of a run."""
        served = catalog[run]
        return await look_up("rules", lambda: rules_page(served, asked))

    @router.get("/{run}/rules/{rule}/groundings", response_model=GroundingsOut)
    async def groundings(run: RunPath, rule: RulePath, asked: Annotated[GroundingsIn, Query()]) -> Response:
        """Show real dated groundings of a rule."""
        served = catalog[run]
        return await look_up("groundings", lambda: groundings_page(served, rule, asked))

    _fact_routes(router, catalog, look_up)
    return router


def _fact_routes(router: APIRouter, catalog: Catalog, look_up: Callable[[str, Callable[[], Any]], Any]) -> None:
    @router.get("/{run}/facts", response_model=FactsOut)
    async def facts(run: RunPath, asked: Annotated[FactsIn, Query()]) -> Response:
        """List facts of an entity, or between two, by time."""
        served: Served = catalog[run]
        found: Response = await look_up("facts", lambda: served.history.facts_page(asked))
        return found

    @router.get("/{run}/timeline", response_model=TimelineOut)
    async def timeline(run: RunPath, asked: Annotated[TimelineIn, Query()]) -> Response:
        """Count facts by time."""
        served: Served = catalog[run]
        found: Response = await look_up("facts", lambda: served.history.timeline(asked))
        return found

    @router.get("/{run}/neighbours", response_model=NeighboursOut)
    async def neighbours(run: RunPath, asked: Annotated[NeighboursIn, Query()]) -> Response:
        """List whom an entity has met."""
        served: Served = catalog[run]
        found: Response = await look_up("facts", lambda: served.history.neighbours(asked))
        return found


def _names(index: NameIndex, asked: NamesIn) -> dict[str, Any]:
    found = index.search(asked.prefix, asked.limit, asked.offset)
    return {"total": found.total, "names": [{"name": name, "facts": facts} for name, facts in found.names]}
