"""The runs that are served: found in folders, loaded in the background, looked up by name only."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from dataclasses import dataclass
from pathlib import Path

from foretime.errors import ForetimeError, nearest_names
from foretime.service.folders import Stamp, find_runs, only_updated
from foretime.service.lanes import Lane
from foretime.service.metrics import ServiceMetrics
from foretime.service.problems import Problem
from foretime.service.served import ServedRun
from foretime.service.settings import MOST_RUNS

NOT_LOADED = "cannot be loaded; the log of the service says why"
TOO_MANY = f"not loaded: at most {MOST_RUNS} runs are served at once; name fewer folders"
FIRST_RETRY, LONGEST_RETRY = 5.0, 600.0
"""Seconds until a run that could not be loaded is tried again: the first wait, doubled each time, up to the longest."""
log = logging.getLogger(__name__)


@dataclass
class _Tried:
    """A run as it was when it was last loaded, or tried to be."""

    path: Path
    stamp: Stamp
    again: float = 0.0
    """When it is to be loaded, by the monotonic clock."""
    seconds: float = 0.0
    """How long was waited after the last failure."""

    def wait(self) -> None:
        """Put the next try off, longer each time."""
        self.seconds = min(LONGEST_RETRY, 2 * self.seconds or FIRST_RETRY)
        self.again = time.monotonic() + self.seconds


class Catalog:
    """Looks for runs and keeps the loaded ones. A request names a run by its key here, never by a path."""

    def __init__(self, folders: list[Path], lane: Lane, metrics: ServiceMetrics) -> None:
        self._folders, self._lane, self._metrics = folders, lane, metrics
        self.runs: dict[str, ServedRun] = {}
        self.problems: dict[str, str] = {}
        self._tried: dict[str, _Tried] = {}
        self._looked = False

    def __getitem__(self, name: str) -> ServedRun:
        found = self.runs.get(name)
        if found is not None:
            return found
        if not self._looked:
            raise _not_ready()
        if name in self.problems:
            raise Problem(404, "not_found", f"the run {name!r} {self.problems[name]}")
        near = nearest_names(name[:100], self.runs, 1)
        hint = f"; did you mean {near[0]!r}?" if near else "; /api/v1/runs lists them"
        raise Problem(404, "not_found", f"no run {name[:100]!r} is served{hint}")

    def check_looked(self) -> None:
        """Raise a problem before the folders have been looked at, unless a run is loaded already."""
        if not self._looked and not self.runs:
            raise _not_ready()

    async def look(self) -> None:
        """Load what is new, load again what has changed or could not be loaded, and drop what is gone."""
        seen = await asyncio.to_thread(find_runs, self._folders)
        for name in self._tried.keys() - seen.runs.keys():
            if not seen.is_hidden(self._tried[name].path):
                self._drop(name)
        for name, (path, stamp) in seen.runs.items():
            tried = self._tried.get(name)
            if tried is not None and name in self.runs and only_updated(tried.stamp, stamp):
                tried.stamp = stamp
                await self._refresh(name)
            elif tried is None or tried.stamp != stamp:
                tried = self._tried[name] = _Tried(path, stamp)
            if time.monotonic() >= tried.again:
                await self._load(name, tried)
        self._looked = True
        self._metrics.runs.set(len(self.runs))

    def _drop(self, name: str) -> None:
        self.runs.pop(name, None)
        self.problems.pop(name, None)
        del self._tried[name]
        log.info("run dropped", extra={"run": name})

    async def _refresh(self, name: str) -> None:
        """Let the updates of a run in that was loaded before."""
        try:
            await asyncio.to_thread(self.runs[name].take_updates)
        except ForetimeError as error:  # it is served as it was before
            log.warning("updates not taken in", extra={"run": name, "error": str(error)})
            return
        log.info("updates taken in", extra={"run": name})

    async def _load(self, name: str, tried: _Tried) -> None:
        if name not in self.runs and len(self.runs) >= MOST_RUNS:
            self.problems[name] = TOO_MANY  # until another one is dropped
            return
        try:
            served = await asyncio.to_thread(ServedRun, name, tried.path)
            for work in served.warm_ups():
                await self._lane.do("warm_up", work, deadline=None, admitted=True)
        except Exception as error:  # a folder may hold anything; the other runs are served all the same
            tried.wait()
            if name not in self.runs:  # else it is served as it was before
                self.problems[name] = NOT_LOADED
            detail = str(error) if isinstance(error, ForetimeError) else repr(error)
            log.warning("run not loaded", extra={"run": name, "error": detail, "again_in": tried.seconds})
            return
        tried.again = math.inf
        self.problems.pop(name, None)
        self.runs[name] = served
        self._metrics.runs.set(len(self.runs))
        log.info("run loaded", extra={"run": name})


def _not_ready() -> Problem:
    return Problem(503, "not_ready", "the runs are being loaded; ask again", 1)
