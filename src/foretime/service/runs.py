"""The runs that are served: found in folders, loaded in the background, looked up by name only."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from foretime.config import Config
from foretime.data.dataset import Dataset
from foretime.errors import ForetimeError, RunError, nearest_names
from foretime.explain import Explainer
from foretime.predict import Predictor
from foretime.rules.grounding import EventIndex
from foretime.rules.mining import facts_of
from foretime.rules.rule import RuleTable
from foretime.service.history import History
from foretime.service.lanes import Lane
from foretime.service.metrics import Metrics
from foretime.service.problems import Problem
from foretime.service.settings import MOST_RUNS
from foretime.training import RunFolder
from foretime.training.second_stage import fits_on_valid

NOT_LOADED = "cannot be loaded; the log of the service says why"
TOO_MANY = f"not loaded: at most {MOST_RUNS} runs are served at once; name fewer folders"
HIDDEN = {"data": ("path",), "rules": ("file",)}
"""Settings that name files of the machine that trained."""
log = logging.getLogger(__name__)

Stamp = tuple[int, ...]
"""When the files of a run were written: another stamp is another run."""


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
        dataset = predictor.dataset
        rules = folder.rules(dataset)
        explainer, history = Explainer(predictor), History(dataset)
        loaded = datetime.now(UTC).isoformat(timespec="microseconds")
        return cls(name, folder.config(), predictor, explainer, history, rules, report, folder.trace(), loaded)

    @property
    def dataset(self) -> Dataset:
        """The graph of the run."""
        return self.predictor.dataset

    @cached_property
    def brief(self) -> dict[str, Any]:
        """The run in a line."""
        data, timeline, report = self.dataset, self.dataset.timeline, self.report or {}
        return {
            "name": self.name,
            "data": data.name,
            "model": self.config.model.name,
            "entities": len(data.entities),
            "predicates": len(data.predicates),
            "facts": {split: len(data.split(split)) for split in ("train", "valid", "test")},
            "first": timeline.label(0),
            "last": timeline.label(len(timeline) - 1),
            "granularity": timeline.granularity,
            "steps": len(timeline),
            "rules": 0 if self.rules is None else len(self.rules),
            "evidence": self.explainer.note is None,
            "combiner": self.predictor.judge.stages is not None,
            "forecasts": self.predictor.forecasts,
            "intervals": data.has_intervals,
            **{f"{split}_mrr": report.get(split, {}).get("all", {}).get("mrr") for split in ("valid", "test")},
            "valid_fitted": fits_on_valid(self.config.combiner),
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
    def events(self) -> EventIndex:
        """The events that the rules were mined from; indexed when groundings are first asked for."""
        return EventIndex(facts_of(self.dataset, self.config.rules), self.dataset)

    @cached_property
    def example(self) -> dict[str, Any] | None:
        """A fact for a first try: the middle one by time of the last split that has any."""
        rows = np.flatnonzero(self.history.split == self.history.split.max(initial=0))
        return self.history.fact_pieces(int(rows[len(rows) // 2])) if len(rows) else None

    def warm_up(self) -> None:
        """Ask for each piece of a fact once: what is compiled or indexed at first use is then there."""
        if self.example is None:
            return
        pieces = {name: value for name, value in self.example.items() if value is not None}
        timed = {"time", "start", "end"}
        for left_out in ({"subject"}, {"predicate"}, {"object"}, timed):
            self.predictor.complete(top=1, **{name: pieces[name] for name in pieces.keys() - left_out})
        self.explainer.explain(**pieces)


class Catalog:
    """Looks for runs and keeps the loaded ones. A request names a run by its key here, never by a path."""

    def __init__(self, folders: list[Path], lane: Lane, metrics: Metrics) -> None:
        self._folders, self._lane, self._metrics = folders, lane, metrics
        self.runs: dict[str, Served] = {}
        self.problems: dict[str, str] = {}
        self._stamps: dict[str, Stamp] = {}
        self._looked = False

    def __getitem__(self, name: str) -> Served:
        found = self.runs.get(name)
        if found is not None:
            return found
        if not self._looked:
            raise Problem(503, "not_ready", "the runs are being loaded; ask again", 1)
        if name in self.problems:
            raise Problem(404, "not_found", f"the run {name!r} {self.problems[name]}")
        near = nearest_names(name[:100], self.runs, 1)
        hint = f"; did you mean {near[0]!r}?" if near else "; /api/v1/runs lists them"
        raise Problem(404, "not_found", f"no run {name[:100]!r} is served{hint}")

    async def look(self) -> None:
        """Load what is new, load again what has changed, and drop what is gone."""
        found = await asyncio.to_thread(find_runs, self._folders)
        for name in self._stamps.keys() - found.keys():
            self.runs.pop(name, None)
            self.problems.pop(name, None)
            del self._stamps[name]
            log.info("run dropped", extra={"run": name})
        for name, (path, stamp) in found.items():
            if self._stamps.get(name) != stamp:
                self._stamps[name] = stamp
                await self._load(name, path)
        self._looked = True
        self._metrics.runs.set(len(self.runs))

    async def _load(self, name: str, path: Path) -> None:
        if name not in self.runs and len(self.runs) >= MOST_RUNS:
            self.problems[name] = TOO_MANY
            return
        try:
            served = await asyncio.to_thread(Served.load, name, path)
            await self._lane.do("warm_up", served.warm_up, deadline=None, admitted=True)
        except Exception as error:  # a folder may hold anything; the other runs are served all the same
            self.problems[name] = NOT_LOADED
            detail = str(error) if isinstance(error, ForetimeError) else repr(error)
            log.warning("run not loaded", extra={"run": name, "error": detail})
            return
        self.problems.pop(name, None)
        self.runs[name] = served
        self._metrics.runs.set(len(self.runs))
        log.info("run loaded", extra={"run": name})


def find_runs(folders: list[Path]) -> dict[str, tuple[Path, Stamp]]:
    """Return the runs by name: a folder that is a run itself, or the finished runs in a folder."""
    found: dict[str, tuple[Path, Stamp]] = {}
    for folder in folders:
        own = is_run(folder)
        try:
            paths = [folder] if own else sorted(path for path in folder.iterdir() if is_run(path))
        except OSError:
            continue  # gone for the moment; `check_folders` has seen it
        for path in paths:
            stamp = _stamp(path)
            if stamp is not None and (own or (path / "report.json").is_file()):
                found.setdefault(path.resolve().name, (path, stamp))
    return found


def check_folders(folders: list[Path]) -> None:
    """Raise `RunError` if a folder is not there, or two runs have one name."""
    names: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise RunError(f"{folder}: no such folder; name the folder of a run, or one with runs in it")
        for name, (path, _) in find_runs([folder]).items():
            if names.setdefault(name, path).resolve() != path.resolve():
                raise RunError(f"{names[name]} and {path} have the same name; rename one of the folders")


def is_run(path: Path) -> bool:
    """Return whether a folder holds a run, finished or not."""
    return (path / "config.toml").is_file()


def _stamp(path: Path) -> Stamp | None:
    """Return when a run was written, nothing if it has no weights yet."""
    finished = (path / "report.json").is_file()  # it is written last
    names = ["config.toml", *(["report.json"] if finished else ["best.safetensors", "last.safetensors"])]
    try:
        stamps = tuple((path / name).stat().st_mtime_ns if (path / name).is_file() else 0 for name in names)
    except OSError:
        return None
    return stamps if any(stamps[1:]) else None
