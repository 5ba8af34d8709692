"""The runs that are served: found in folders, loaded in the background, looked up by name only."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from foretime.errors import ForetimeError, nearest_names
from foretime.service.folders import Stamp, find_runs, is_still, only_updated
from foretime.service.metrics import ServiceMetrics
from foretime.service.problems import Problem
from foretime.service.served import ServedRun
from foretime.service.settings import MOST_RUNS
from foretime.service.threads import Lanes, in_own_thread
from foretime.service.trial import NOT_LOADED, Failure, Trial

TOO_MANY = f"not loaded: at most {MOST_RUNS} runs are served at once; name fewer folders"
DOUBLE = "is the name of several runs, of which one is served; rename the folders of the others"
TRIALS_AT_ONCE = 2
"""Runs that are tried at the same time: one that takes long does not keep all others from being loaded."""
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

    def __init__(self, folders: list[Path], lanes: Lanes, trial: Trial, metrics: ServiceMetrics) -> None:
        self._folders, self._lanes, self._trial, self._metrics = folders, lanes, trial, metrics
        self.runs: dict[str, ServedRun] = {}
        self.problems: dict[str, str] = {}
        """Runs that are not served, and why."""
        self.doubles: dict[str, list[Path]] = {}
        """Names that several runs have, and where these are."""
        self._tried: dict[str, _Tried] = {}
        self._under_way: dict[str, asyncio.Task[None]] = {}
        """Runs that are being loaded, or let their updates in."""
        self._trials = asyncio.Semaphore(TRIALS_AT_ONCE)
        self._looked = False

    def __getitem__(self, name: str) -> ServedRun:
        found = self.runs.get(name)
        if found is not None:
            return found
        if name in self.problems:
            raise Problem(404, "not_found", f"the run {name!r} {self.problems[name]}")
        if not self._looked:
            raise _not_ready()
        near = nearest_names(name[:100], self.runs, 1)
        hint = f"; did you mean {near[0]!r}?" if near else "; /api/v1/runs lists them"
        raise Problem(404, "not_found", f"no run {name[:100]!r} is served{hint}")

    def check_looked(self) -> None:
        """Raise a problem before every run has been tried once, unless one is loaded already."""
        if not self._looked and not self.runs:
            raise _not_ready()

    def all_problems(self) -> list[tuple[str, str]]:
        """Return what is wrong with runs, by name: those that are not served, and names that several have."""
        return sorted([*self.problems.items(), *((name, DOUBLE) for name in self.doubles)])

    async def look(self) -> None:
        """Begin to load what is new, has changed or could not be loaded, and drop what is gone."""
        seen = await asyncio.to_thread(find_runs, self._folders)
        self._note_doubles(seen.doubles)
        for name in self._tried.keys() - seen.runs.keys():
            if not seen.is_hidden(self._tried[name].path):
                self._drop(name)
        for name, found in seen.runs.items():
            if name not in self._under_way:
                self._look_at(name, found)
        self._note_end()

    async def stop(self) -> None:
        """Load nothing more."""
        self.kill_trials()
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def kill_trials(self) -> None:
        """End the processes in which runs are tried, and begin no others."""
        self._trial.stop()

    def _note_doubles(self, doubles: dict[str, list[Path]]) -> None:
        for name in doubles.keys() - self.doubles.keys():
            log.warning("several runs of one name", extra={"run": name, "folders": list(map(str, doubles[name]))})
        self.doubles = doubles

    def _look_at(self, name: str, found: dict[Path, Stamp]) -> None:
        """Begin what is to be done for the runs of a name: the one that was there before is served."""
        tried = self._tried.get(name)
        path = tried.path if tried is not None and tried.path in found else next(iter(found))
        stamp = found[path]
        if tried is not None and name in self.runs and only_updated(tried.stamp, stamp):
            tried.stamp = stamp
            self._begin(name, self._refresh(name))
            return
        if tried is None or (tried.path, tried.stamp) != (path, stamp):
            tried = self._tried[name] = _Tried(path, stamp)
        if time.monotonic() < tried.again:
            return
        if len(self.runs.keys() | self._under_way.keys() | {name}) > MOST_RUNS:
            self.problems[name] = TOO_MANY  # until another one is dropped
        else:
            self._begin(name, self._load(name, tried))

    def _begin(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        task = self._under_way[name] = asyncio.create_task(work)

        def end(_: asyncio.Task[None]) -> None:
            del self._under_way[name]
            self._note_end()

        task.add_done_callback(end)

    def _note_end(self) -> None:
        self._looked = self._looked or not self._under_way
        self._metrics.runs.set(len(self.runs))

    def _drop(self, name: str) -> None:
        self.runs.pop(name, None)
        self.problems.pop(name, None)
        del self._tried[name]
        log.info("run dropped", extra={"run": name})

    async def _refresh(self, name: str) -> None:
        """Let the updates of a run in that was loaded before."""
        try:
            await self._lanes.loads.do("update", self.runs[name].take_updates, deadline=None, admitted=True)
        except (ForetimeError, Problem) as error:  # it is served as it was before
            log.warning("updates not taken in", extra={"run": name, "error": str(error)})
            return
        log.info("updates taken in", extra={"run": name})

    async def _load(self, name: str, tried: _Tried) -> None:
        try:
            failed, served = await self._tried_and_loaded(name, tried)
        except Exception as error:  # a folder may hold anything; the other runs are served all the same
            detail = str(error) if isinstance(error, ForetimeError) else repr(error)
            failed, served = Failure(NOT_LOADED, detail), None
        if self._tried.get(name) is not tried:  # it was removed meanwhile
            return
        if failed is not None:
            tried.wait()
            if name not in self.runs:  # else it is served as it was before
                self.problems[name] = failed.message
            log.warning("run not loaded", extra={"run": name, "error": failed.detail, "again_in": tried.seconds})
        elif served is not None:
            tried.again = math.inf
            self.problems.pop(name, None)
            self.runs[name] = served
            log.info("run loaded", extra={"run": name})

    async def _tried_and_loaded(self, name: str, tried: _Tried) -> tuple[Failure | None, ServedRun | None]:
        """Return why a run cannot be served, or the run; neither if its files have changed while it was tried."""
        if self._trial.is_wanted:
            async with self._trials:
                failed = await in_own_thread(partial(self._trial.failure_of, name, tried.path))
            if failed is not None:
                return failed, None
            if not await asyncio.to_thread(is_still, tried.path, tried.stamp):
                return None, None  # the next look finds another stamp
        served = await self._lanes.loads.do(
            "load", partial(ServedRun, name, tried.path, self._trial.device), None, admitted=True
        )
        for ask in served.warm_ups():
            await self._lanes.models.do("warm_up", ask, None, admitted=True, patience=self._lanes.loads.patience)
        return None, served


def _not_ready() -> Problem:
    return Problem(503, "not_ready", "the runs are being loaded; ask again", 1)
