"""The application: lanes, runs, paths and the door before them, put together."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from functools import cached_property
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from foretime import __version__
from foretime.errors import ForetimeError
from foretime.service.answering import Answering
from foretime.service.guard import Guard
from foretime.service.lanes import Lane
from foretime.service.metrics import Metrics
from foretime.service.pages import page_routes, read_page
from foretime.service.problems import (
    Problem,
    error_dict,
    error_response,
    show_http_error,
    show_invalid,
    show_problem,
    show_user_error,
)
from foretime.service.reference import reference_page
from foretime.service.responses import ErrorOut, HealthOut, ReadyOut
from foretime.service.routes import answer_routes, as_json, graph_routes
from foretime.service.runs import Catalog
from foretime.service.settings import API, Settings

ABOUT = "Completes temporal knowledge graphs: ranked answers with a calibrated confidence, and the reasons behind them."
log = logging.getLogger(__name__)


class Service:
    """Everything that one process serves."""

    def __init__(self, folders: list[Path], settings: Settings) -> None:
        self.settings, self.metrics = settings, Metrics()
        self.models = Lane("models", self.metrics, settings.queue, settings.gather)
        self.graphs = Lane("graphs", self.metrics, settings.queue)
        self.catalog = Catalog(folders, self.models, self.metrics)
        self.api = self._build()
        self.app = Guard(self.api, settings, self.metrics, self.models)

    def _build(self) -> FastAPI:
        api = FastAPI(
            title="foretime", version=__version__, description=ABOUT, lifespan=self._lifespan,
            openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False,
        )  # fmt: skip
        api.add_exception_handler(Problem, show_problem)
        api.add_exception_handler(ForetimeError, show_user_error)
        api.add_exception_handler(HTTPException, show_http_error)
        api.add_exception_handler(RequestValidationError, show_invalid)
        api.add_exception_handler(Exception, _show_bug)
        deadline = self.settings.deadline
        api.include_router(graph_routes(self.catalog, self.graphs, deadline))
        api.include_router(answer_routes(self.catalog, Answering(self.models, self.graphs, deadline)))
        api.include_router(self._own_routes())
        api.include_router(page_routes(read_page()))
        return api

    def schema(self) -> dict[str, Any]:
        """Return the OpenAPI schema."""
        schema = self.api.openapi()
        if self.settings.token is not None:
            schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{"token": []}]
        return schema

    @cached_property
    def _reference(self) -> str:
        return reference_page(self.schema())

    def _own_routes(self) -> APIRouter:
        """Return the paths about the service itself."""
        router = APIRouter(tags=["service"])
        not_ready: dict[int | str, dict[str, Any]] = {503: {"model": ErrorOut, "description": "No run is loaded."}}

        @router.get("/healthz", response_model=HealthOut)
        async def healthz() -> Response:
            """Tell that the process answers."""
            return as_json({"status": "ok"})

        @router.get("/readyz", response_model=ReadyOut, responses=not_ready)
        async def readyz() -> Response:
            """Tell whether questions are answered."""
            if not (self.models.works and self.graphs.works):
                raise Problem(503, "not_ready", "the service is ending, or a part of it has failed", 5)
            if not self.catalog.runs:
                raise Problem(503, "not_ready", "no run is loaded yet; ask again", 1)
            return as_json({"status": "ready", "runs": len(self.catalog.runs)})

        @router.get("/metrics", include_in_schema=False)
        async def metrics() -> Response:
            return Response(self.metrics.text(), media_type=CONTENT_TYPE_LATEST)

        @router.get(f"{API}/openapi.json", include_in_schema=False)
        async def openapi() -> Response:
            return as_json(self.schema())

        @router.get(f"{API}/docs", include_in_schema=False)
        async def docs() -> Response:
            return Response(self._reference, media_type="text/html; charset=utf-8")

        return router

    @contextlib.asynccontextmanager
    async def _lifespan(self, api: FastAPI) -> AsyncIterator[None]:
        self.models.start()
        self.graphs.start()
        looking = asyncio.create_task(self._keep_looking())
        try:
            yield
        finally:
            looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await looking
            for lane in (self.models, self.graphs):
                await asyncio.to_thread(lane.close)

    async def _keep_looking(self) -> None:
        while True:
            try:
                await self.catalog.look()
            except Exception:  # a disk that fails now may be there again in five seconds
                log.exception("the folders cannot be looked at")
            await asyncio.sleep(self.settings.look_again)


async def _show_bug(request: Any, error: Exception) -> Response:
    return error_response(500, error_dict("bug", "the service has a bug; its log has the details"))
