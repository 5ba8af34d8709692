"""What every route needs: the runs, the lanes that work for them, and how a handler gets at them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path as FilePath
from typing import Annotated, ParamSpec, TypeVar

from fastapi import Depends, Path, Request

from foretime.service.catalog import Catalog
from foretime.service.metrics import ServiceMetrics
from foretime.service.served import ServedRun
from foretime.service.settings import Settings
from foretime.service.threads import Lanes
from foretime.service.trial import Trial

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Backend:
    """The runs of one process, the lanes that work on them, and its counters."""

    def __init__(self, folders: list[FilePath], settings: Settings) -> None:
        self.settings, self.metrics = settings, ServiceMetrics()
        self.lanes = Lanes.of(settings, self.metrics)
        self.models, self.graphs, _ = self.lanes
        self.catalog = Catalog(folders, self.lanes, Trial(settings), self.metrics)
        self.batches = 0
        """Batches under way."""

    async def look_up(
        self, kind: str, work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs
    ) -> Result:
        """Return what a function returns, called by the lane of the graphs."""
        return await self.graphs.do(kind, partial(work, *given, **named), self.settings.deadline)


async def _backend(request: Request) -> Backend:
    found: Backend = request.app.state.backend
    return found


async def _run(
    backend: Annotated[Backend, Depends(_backend)],
    run: Annotated[str, Path(max_length=255, description="The name of a run.")],
) -> ServedRun:
    return backend.catalog[run]


TheBackend = Annotated[Backend, Depends(_backend)]
TheRun = Annotated[ServedRun, Depends(_run)]
"""The run that the path names."""
