"""Backtests: a run is rolled through the past, window by window, as it is and as copies that are retrained."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.data.splitting import split_rows
from foretime.data.timeline import Timeline
from foretime.errors import ConfigError, DataError, QuestionError, RunError
from foretime.evaluation.backtests import Backtest, BacktestWindow
from foretime.evaluation.filters import FilterName
from foretime.evaluation.protocols import check_protocol
from foretime.inference.predictor import Predictor
from foretime.runs.fingerprint import config_hash
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, resume
from foretime.runs.warm_start import WarmStart
from foretime.runs.windows import AskedPast, ask_past, graph_before, steps_of
from foretime.training.callbacks import Callback


class Span(NamedTuple):
    """The steps that are asked about, from `first` to `last`, in windows of `every` steps."""

    first: int
    last: int
    every: int

    def windows(self) -> list[tuple[int, int]]:
        """Return the first and the last step of each window; the last window may be shorter."""
        return [(step, min(step + self.every - 1, self.last)) for step in range(self.first, self.last + 1, self.every)]


class Backtester:
    """Asks a past-only run about its past; `predictor` is what answers, with all events of the run."""

    def __init__(self, run: RunFolder, config: Config, predictor: Predictor, filter_name: FilterName | None) -> None:
        check_protocol(config.evidence, "single-step")
        self._run, self._config, self._predictor = run, config, predictor
        self._filter, self._graph = filter_name or config.training.filter, predictor.graph
        self._learned_until = int(steps_of(run.graph().train).max(initial=-1))

    def ask(self, start: str, end: str, every: int) -> Backtest:
        """Return the figures of each window with the weights of the run."""
        span, notes = self._span(start, end, every)
        notes += self._notes_on_test(span)
        asked = ask_past(
            self._predictor.scorer, self._graph, span.first, span.last, self._filter, self._predictor.calibrations
        )
        windows = tuple(self._window(asked, *steps) for steps in span.windows())
        if empty := [window.first for window in windows if not window.events]:
            notes.append(f"nothing happened in {len(empty):,} of {len(windows):,} windows, the first from {empty[0]}")
        return Backtest(str(self._run.path), windows, tuple(notes))

    def with_retraining(
        self, found: Backtest, span: Span, each: int, config: Config, out: Path | None, callback: Callback
    ) -> Backtest:
        """Return a backtest with the figures of copies: before each so many windows one is trained on all before."""
        if each < 1:
            raise ConfigError(f"retrain is {each}; retrain before every window (1), or before each 2nd, 3rd, …")
        steps = span.windows()
        parts = [range(at, min(at + each, len(steps))) for at in range(0, len(steps), each)]
        graphs = [self._graph_before(steps[part[0]][0]) for part in parts]  # what cannot be is reported at once
        windows = list(found.windows)
        with ExitStack() as stack:
            folder = out or Path(stack.enter_context(TemporaryDirectory(prefix="foretime-backtest-")))
            for part, graph in zip(parts, graphs, strict=True):
                if not any(windows[at].events for at in part):
                    continue
                first, last, before = steps[part[0]][0], steps[part[-1]][1], windows[part[0]].first
                callback.announce(f"retraining on everything before {before}")
                copy = self._retrained(graph, config, folder / f"before-{before}", callback)
                asked = ask_past(copy.scorer, self._graph, first, last, self._filter, copy.calibrations)
                for at in part:
                    if windows[at].events:
                        figures = asked.figures(*steps[at])
                        windows[at] = replace(windows[at], retrained=figures, retrained_before=before)
        return replace(found, windows=tuple(windows))

    def span(self, start: str, end: str, every: int) -> Span:
        """Return the steps from one time to another; raise an error if there are none, or nothing happened then."""
        return self._span(start, end, every)[0]

    def _span(self, start: str, end: str, every: int) -> tuple[Span, list[str]]:
        if every < 1:
            raise ConfigError(f"every is {every}; a window has one step at least")
        timeline, steps = self._graph.timeline, steps_of(self._graph.facts())
        first, last = _first_step(timeline, start), _last_step(timeline, end)
        if last < first:
            raise QuestionError(f"{end!r} is before {start!r}; give the first time, and then the last")
        if not ((steps >= first) & (steps <= last)).any():
            raise DataError(f"nothing happened from {start} to {end}; the times of the data are {timeline.span}")
        notes = []
        if last >= len(timeline):
            notes.append(f"the data ends {timeline.label(len(timeline) - 1)}: nothing is asked about later times")
        if first <= self._learned_until:
            until = timeline.label(self._learned_until)
            notes.append(f"the weights were learned from events until {until}: windows before that are no forecasts")
        return Span(first, min(last, len(timeline) - 1), every), notes

    def _notes_on_test(self, span: Span) -> list[str]:
        """Return that test is ranked, if it is, and have the folder of the run keep it in mind."""
        steps = steps_of(self._run.graph().test)
        ranked = int(((steps >= span.first) & (steps <= span.last)).sum())
        if not ranked:
            return []
        first, last = (self._graph.timeline.label(step) for step in (span.first, span.last))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._run.add_backtest({"at": now, "first": first, "last": last, "test_facts": ranked})
        return [
            f"{ranked:,} facts of test are ranked here, and the report of the run says so from now on: choose by valid"
        ]

    def _window(self, asked: AskedPast, first: int, last: int) -> BacktestWindow:
        label = self._graph.timeline.label
        steps = steps_of(self._graph.facts())
        events = int(((steps >= first) & (steps <= last)).sum())
        window = BacktestWindow(label(first), label(last), events)
        if not events:
            return window
        seen, known = asked.coverage(first, last)
        return replace(window, pairs_seen=seen, entities_known=known, fixed=asked.figures(first, last))

    def _graph_before(self, first: int) -> Graph:
        """Return what began before a step; its newest part, which the run must not have learned from, is valid."""
        own = self._run.graph()
        share = len(own.valid) / max(1, len(own.train) + len(own.valid))
        steps = steps_of(self._graph.facts())
        steps = steps[steps < first]
        valid = steps[split_rows(steps, "time", share, 0.0).valid]
        border = max(int(np.min(valid, initial=first)), self._learned_until + 1)
        if first <= border and share:
            day = self._graph.timeline.label(self._learned_until)
            raise DataError(
                f"{self._run.path} has learned from events until {day}, so that a copy that is retrained before "
                f"{self._graph.timeline.label(first)} has none to be calibrated on; begin later"
            )
        return graph_before(self._graph, first, border)

    def _retrained(self, graph: Graph, config: Config, folder: Path, callback: Callback) -> Predictor:
        """Return a copy that was trained on a graph, in a folder that may have it already."""
        run, start = RunFolder(folder), WarmStart(self._run.path)
        if not run.config_file.exists():
            create_run(graph, config, folder, callback, warm_start=start)
        elif (
            run.warm_start() != start.to_dict()
            or run.graph().fingerprint() != graph.fingerprint()
            or config_hash(run.config()) != config_hash(config)
        ):
            raise RunError(f"{folder} holds another run than this backtest would train; name another folder")
        resume(folder, callback, with_test=False)
        return Predictor.open(folder, graph)


def _first_step(timeline: Timeline, time: str) -> int:
    return timeline.steps_before(timeline.tick(time))


def _last_step(timeline: Timeline, time: str) -> int:
    """Return the last step that is not after a time; a bin that has the time is not."""
    tick = timeline.tick(time)
    return timeline.steps_before(tick) if timeline.binned else timeline.steps_before(tick + 1) - 1
