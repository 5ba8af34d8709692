"""The runs that are served: found in folders, loaded in the background, looked up by name only."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic_core import to_json

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.errors import ForetimeError, nearest_names
from foretime.inference.explainer import Explainer
from foretime.inference.predictor import Predictor
from foretime.reranker.folds import fits_on_valid
from foretime.rules.grounding import EventIndex
from foretime.rules.mining import facts_of
from foretime.rules.rule import RuleTable
from foretime.runs.folder import RunFolder
from foretime.service.folders import Stamp, find_runs
from foretime.service.history import History
from foretime.service.lanes import Lane
from foretime.service.metrics import Metrics
from foretime.service.problems import Problem
from foretime.service.settings import MOST_RUNS

NOT_LOADED = "cannot be loaded; the log of the service says why"
TOO_MANY = f"not loaded: at most {MOST_RUNS} runs are served at once; name fewer folders"
FIRST_RETRY, LONGEST_RETRY = 5.0, 600.0
"""Seconds until a run that could not be loaded is tried again: so many at first, and twice as many each time."""
HIDDEN = {"data": ("path",), "rules": ("file",)}
"""Settings that name files of the machine that trained."""
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Served:
    """A loaded run: everything that questions about it need."""

    name: str
    config: Config
    predictor: Predictor
    explainer: Explainer
    history: History
    rules: RuleTable | None
    report: dict[str, Any] | None
    trace: list[dict[str, Any]]
    loaded: str
    """When it was loaded: another moment is another loading, even of the same name."""

    @classmethod
    def load(cls, name: str, path: Path) -> Served:
        """Return the run in a folder."""
        folder = RunFolder.open(path)
        predictor = Predictor.open(folder)
        report = folder.report() if folder.report_file.exists() else None
        graph = predictor.graph
        rules = folder.rules(graph)
        explainer, history = Explainer(predictor), History(graph)
        loaded = datetime.now(UTC).isoformat(timespec="microseconds")
        found = cls(name, folder.config(), predictor, explainer, history, rules, report, folder.trace(), loaded)
        _ = found.as_json  # a report that cannot be told is a run that cannot be loaded, and no error of each request
        return found

    @property
    def graph(self) -> Graph:
        """The graph of the run."""
        return self.predictor.graph

    @cached_property
    def brief(self) -> dict[str, Any]:
        """The run in a line."""
        data, timeline, report = self.graph, self.graph.timeline, self.report or {}
        return {
            "name": self.name,
            "data": data.name,
            "model": self.config.model.name,
            "entities": len(data.entities),
            "predicates": len(data.predicates),
            "facts": {split: len(data.facts(split)) for split in ("train", "valid", "test")},
            "first": timeline.label(0),
            "last": timeline.label(len(timeline) - 1),
            "granularity": timeline.granularity,
            "steps": len(timeline),
            "rules": 0 if self.rules is None else len(self.rules),
            "evidence": self.explainer.note is None,
            "reranker": self.predictor.scorer.reranked is not None,
            "forecasts": self.predictor.forecasts,
            "intervals": data.has_intervals,
            **{f"{split}_mrr": report.get(split, {}).get("all", {}).get("mrr") for split in ("valid", "test")},
            "valid_fitted": fits_on_valid(self.config.reranker),
            "loaded": self.loaded,
        }

    @cached_property
    def whole(self) -> dict[str, Any]:
        """The run with its settings, its report, its training curve and an example."""
        settings = self.config.model_dump(exclude_none=True)
        for section, keys in HIDDEN.items():
            settings[section] = {key: value for key, value in settings[section].items() if key not in keys}
        return {
            **self.brief,
            "config": settings,
            "report": self.report,
            "trace": self.trace,
            "example": self.example,
        }

    @cached_property
    def as_json(self) -> bytes:
        """What `whole` is as JSON."""
        return to_json(self.whole, inf_nan_mode="null")

    @cached_property
    def events(self) -> EventIndex:
        """The events that the rules were mined from; indexed when groundings are first asked for."""
        return EventIndex(facts_of(self.graph, self.config.rules), self.graph)

    @cached_property
    def example(self) -> dict[str, Any] | None:
        """A fact for a first try: the middle one by time of the last split that has any."""
        rows = np.flatnonzero(self.history.split == self.history.split.max(initial=0))
        return self.history.fact_slots(int(rows[len(rows) // 2])) if len(rows) else None

    def warm_ups(self) -> Iterator[Callable[[], object]]:
        """Yield jobs that ask for each slot of a fact: what is compiled or indexed at first use is then there."""
        if self.example is None:
            return
        slots = {name: value for name, value in self.example.items() if value is not None}
        timed = {"time", "start", "end"}
        for left_out in ({"subject"}, {"predicate"}, {"object"}, timed):
            yield partial(self.predictor.complete, top=1, **{name: slots[name] for name in slots.keys() - left_out})
        yield partial(self.explainer.explain, **slots)


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

    def __init__(self, folders: list[Path], lane: Lane, metrics: Metrics) -> None:
        self._folders, self._lane, self._metrics = folders, lane, metrics
        self.runs: dict[str, Served] = {}
        self.problems: dict[str, str] = {}
        self._tried: dict[str, _Tried] = {}
        self._looked = False

    def __getitem__(self, name: str) -> Served:
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

    def listed(self) -> dict[str, Any]:
        """Return the runs that are served, and those that cannot be."""
        if not self._looked and not self.runs:
            raise _not_ready()
        problems = [{"run": name, "message": message} for name, message in sorted(self.problems.items())]
        return {"runs": [run.brief for _, run in sorted(self.runs.items())], "problems": problems}

    async def look(self) -> None:
        """Load what is new, load again what has changed or could not be loaded, and drop what is gone."""
        seen = await asyncio.to_thread(find_runs, self._folders)
        for name in self._tried.keys() - seen.runs.keys():
            if not seen.is_hidden(self._tried[name].path):
                self._drop(name)
        for name, (path, stamp) in seen.runs.items():
            tried = self._tried.get(name)
            if tried is None or tried.stamp != stamp:
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

    async def _load(self, name: str, tried: _Tried) -> None:
        if name not in self.runs and len(self.runs) >= MOST_RUNS:
            self.problems[name] = TOO_MANY  # until another one is dropped
            return
        try:
            served = await asyncio.to_thread(Served.load, name, tried.path)
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
