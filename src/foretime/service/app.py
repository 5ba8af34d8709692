"""The application: lanes, runs, routes and the guard before them, put together."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter, FastAPI, Response
from prometheus_client import CONTENT_TYPE_LATEST

from foretime import __version__
from foretime.service import answers, events, explanations, facts, forecasts, rules, runs
from foretime.service.context import Backend, TheBackend
from foretime.service.examples import add_examples
from foretime.service.guard import Guard
from foretime.service.models import ResponseBody
from foretime.service.pages import page_routes
from foretime.service.problems import ERRORS, HANDLED, Problem
from foretime.service.reference import reference_page
from foretime.service.settings import API, Settings

ABOUT = (
    "Completes temporal knowledge graphs: ranked answers with a calibrated probability, and the reasons behind them."
)
SECONDS_BETWEEN_BEATS = 0.5
log = logging.getLogger(__name__)
own = APIRouter(tags=["service"])
ROUTERS = (
    runs.router, events.router, answers.router, explanations.router, forecasts.router, rules.router, facts.router, own,
)  # fmt: skip
"""All routes of the API, a router for each topic."""


class HealthOut(ResponseBody):
    """The process responds."""

    status: Literal["ok"] = "ok"


class ReadyOut(ResponseBody):
    """Questions are answered, about so many runs."""

    status: Literal["ready"] = "ready"
    runs: int


@own.get("/healthz")
async def healthz() -> HealthOut:
    """Report that the process responds."""
    return HealthOut()


@own.get("/readyz", responses={503: ERRORS[503]})
async def readyz(backend: TheBackend) -> ReadyOut:
    """Report whether questions are answered."""
    if not all(lane.works for lane in backend.lanes):
        raise Problem(503, "not_ready", "the service is shutting down, or one of its threads has failed", 5)
    if (overrun := backend.lanes.overrun) is not None:
        raise Problem(503, "not_ready", f"{overrun}; the service ends itself if that goes on", 5)
    if not backend.catalog.runs:
        raise Problem(503, "not_ready", "no run is loaded yet; ask again", 1)
    return ReadyOut(runs=len(backend.catalog.runs))


@own.get("/metrics", include_in_schema=False)
async def metrics(backend: TheBackend) -> Response:
    """Return the counters for Prometheus."""
    return Response(backend.metrics.text(), media_type=CONTENT_TYPE_LATEST)


class Service(Backend):
    """Everything that one process serves."""

    def __init__(self, folders: list[Path], settings: Settings) -> None:
        super().__init__(folders, settings)
        self.beat: float | None = None
        """When the event loop was last seen to go round, while it is to."""
        self.api = FastAPI(
            title="foretime", version=__version__, description=ABOUT, lifespan=self._lifespan,
            openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, exception_handlers=HANDLED,
        )  # fmt: skip
        self.api.state.backend = self
        for router in (*ROUTERS, self._schema_routes(), page_routes()):
            self.api.include_router(router)
        self.app = Guard(self.api, settings, self.metrics, self.models)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The OpenAPI schema."""
        schema = add_examples(self.api.openapi())
        if self.settings.token is not None:
            schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{"token": []}]
        return schema

    def _schema_routes(self) -> APIRouter:
        router = APIRouter(prefix=API, include_in_schema=False)

        @router.get("/openapi.json")
        async def openapi() -> dict[str, Any]:
            return self.schema

        @router.get("/docs")
        async def docs() -> Response:
            return Response(reference_page(self.schema), media_type="text/html; charset=utf-8")

        return router

    @contextlib.asynccontextmanager
    async def _lifespan(self, api: FastAPI) -> AsyncIterator[None]:
        self.lanes.start()
        tasks = [asyncio.create_task(self._keep_looking()), asyncio.create_task(self._keep_beating())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.beat = None
            await self.catalog.stop()
            await self.lanes.close()

    async def _keep_looking(self) -> None:
        while True:
            try:
                await self.catalog.look()
            except Exception:  # a disk that fails now may be back in five seconds
                log.exception("the folders cannot be read")
            await asyncio.sleep(self.settings.look_again)

    async def _keep_beating(self) -> None:
        while True:
            self.beat = time.monotonic()
            await asyncio.sleep(SECONDS_BETWEEN_BEATS)
