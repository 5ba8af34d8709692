"""Running a list: so many runs at a time as there is room for; what is done is skipped, what was stopped is resumed."""

from __future__ import annotations

import math
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from foretime.errors import ConfigError, ForetimeError, Interrupted
from foretime.experiments.bench.existing import begin_with_shorter
from foretime.experiments.bench.lists import BenchList, PlannedRun
from foretime.experiments.bench.locks import only_here
from foretime.experiments.bench.provenance import Provenance, provenance_of
from foretime.experiments.bench.rows import Ending, Row, graph_name, row_of, write_row
from foretime.experiments.bench.shape import Status
from foretime.experiments.bench.standing import SKIPPED, current_standing
from foretime.experiments.bench.training import ending_of, is_trained, line_of, task_of
from foretime.files import make_folder
from foretime.runs.executor import End, Executor, Heard, Processes, Task
from foretime.runs.fingerprint import seedless_hash
from foretime.runs.finish import training_seconds
from foretime.runs.folder import RunFolder

ReportLine: TypeAlias = Callable[[str], None]


def run_list(bench: BenchList, report: ReportLine = lambda text: None, executor: Executor | None = None) -> list[Row]:
    """Do what is left of a list within its budget, and return the results of this call.

    What another process is training is skipped: two calls share the runs of one list.
    """
    with executor or Processes() as workers, _terminated_as_interrupted():
        _check_places(bench)
        return _Call(bench, report, workers).run()


@dataclass
class _UnderWay:
    """A run that is being trained."""

    planned: PlannedRun
    title: str
    lock: ExitStack
    made: Provenance
    before: float
    """The seconds that it had taken before this call."""
    limit: float
    """The seconds that it has, 0 for as many as it takes."""
    began: float
    stopped: Status | None = None
    """Why it was asked to stop, if it was."""

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began


class _Call:
    """One call of `run_list`."""

    def __init__(self, bench: BenchList, report: ReportLine, executor: Executor) -> None:
        self._bench, self._report, self._executor = bench, report, executor
        self._began, self._interrupted = time.monotonic(), False
        self._waiting = deque(enumerate(bench.planned, start=1))
        self._under_way: dict[Task, _UnderWay] = {}
        self._results: list[Row] = []

    def run(self) -> list[Row]:
        """Train what is left, and return the results."""
        for planned in self._bench.planned:
            self._executor.check_room(planned.config.training.threads)
        while self._waiting or self._under_way:
            try:
                self._fill()
                event = self._executor.next() if self._under_way or self._waiting else None
                if event is not None:
                    self._hear(event)
                self._stop_what_is_out_of_time()
            except KeyboardInterrupt:
                self._interrupt()
        if self._interrupted:
            raise Interrupted(f"stopped; resume with foretime bench run {self._bench.path}")
        return self._results

    def _fill(self) -> None:
        """Begin the next runs while there is room for them."""
        while self._waiting and self._executor.has_room(self._waiting[0][1].config.training.threads):
            number, planned = self._waiting.popleft()
            self._begin(f"{number} of {len(self._bench.planned)}: {planned.name}", planned)

    def _begin(self, title: str, planned: PlannedRun) -> None:
        """Begin a run, unless it is done, another process trains it, or the time is over."""
        bench, report = self._bench, self._report
        state = current_standing(bench, planned).state
        if state in SKIPPED:
            report(f"{title}: {state}, skipped{_remedy(bench, planned) if state == 'another graph' else ''}")
            return
        left = bench.seconds_in_all - (time.monotonic() - self._began)
        if bench.seconds_in_all and left <= 0:
            report(f"{title}: the {bench.seconds_in_all:g} seconds in all are over; call again to resume")
            self._waiting.clear()
            return
        with ExitStack() as stack:
            lock = stack.enter_context(only_here(bench.folder(planned)))
            standing = current_standing(bench, planned)  # another process may have finished it
            if lock is None or standing.state in SKIPPED:
                report(f"{title}: {'another process trains it' if lock is None else standing.state}, skipped")
                return
            report(f"{title}: {standing.state}")
            folder = bench.folder(planned)
            if not RunFolder(folder).config_file.exists():
                begin_with_shorter(bench, planned)
            made, before = provenance_of(folder), _spent(standing.seconds, folder)
            task, limit = task_of(planned.config, folder), _limit(bench, before, left)
            began = time.monotonic()
            self._executor.start(task, lock)
            self._under_way[task] = _UnderWay(planned, title, stack.pop_all(), made, before, limit, began)

    def _hear(self, event: Heard) -> None:
        if event.end is not None:
            own = self._under_way.pop(event.task)
            with own.lock:
                self._end(own, event.end)
        elif event.report is not None:
            name = f"{self._under_way[event.task].planned.name}: " if len(self._under_way) > 1 else ""
            self._report(name + line_of(event.report))

    def _end(self, own: _UnderWay, end: End) -> None:
        """Write the result of a run that has ended, or was stopped."""
        bench, planned, folder = self._bench, own.planned, self._bench.folder(own.planned)
        ending = ending_of(end, folder, own.before + own.seconds, own.stopped)
        its_own = _limit(replace(bench, seconds_in_all=0.0), own.before, 0.0) or math.inf
        if ending.status == "over budget" and own.limit < its_own:
            ending = replace(ending, status="interrupted")  # the time of this call is over, not that of the run
        row = _result(planned, folder, ending, own.made)
        write_row(bench.results, row)
        self._results.append(row)
        self._report(f"{own.title}: {summary(row)}")

    def _stop_what_is_out_of_time(self) -> None:
        """Ask runs that are over their budget to stop; those whose models are all trained may finish."""
        for task, own in self._under_way.items():
            if own.stopped is None and 0 < own.limit < own.seconds and not is_trained(self._bench.folder(own.planned)):
                own.stopped = "over budget"
                self._executor.stop(task)

    def _interrupt(self) -> None:
        """Ask all runs to save their state and stop, at once if they were asked already."""
        self._interrupted = True
        self._waiting.clear()
        for task, own in self._under_way.items():
            own.stopped = "interrupted"
            self._executor.stop(task)


def _check_places(bench: BenchList) -> None:
    """Raise `ConfigError` where results or runs cannot be written, before anything is trained."""
    for key, folder in (("results", bench.results.parent), ("runs", bench.runs)):
        try:
            make_folder(folder)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise ConfigError(
                f"{bench.path}: {key}: cannot write in {folder}: {error.strerror}; name another place in [bench]"
            ) from None
    if bench.results.is_dir():
        raise ConfigError(f"{bench.path}: results = {bench.results}: is a folder; name a file in it")


def _remedy(bench: BenchList, planned: PlannedRun) -> str:
    folder = bench.folder(planned)
    there = f"its line in {bench.results}" + (f" and its folder {folder}" if folder.exists() else "")
    return f": what is there was trained on another graph of this name; rename the run, or remove {there}"


def _spent(known: float, folder: Path) -> float:
    """Return the seconds that a run has taken so far: as known or, if a call was killed, by its checkpoints."""
    return max(known, training_seconds(RunFolder(folder)))


def _limit(bench: BenchList, before: float, left_in_all: float) -> float:
    """Return how many seconds a run has, 0 for as many as it takes."""
    budgets = ((bench.seconds_per_run, bench.seconds_per_run - before), (bench.seconds_in_all, left_in_all))
    return min((max(left, 1e-3) for budget, left in budgets if budget), default=0.0)


def _result(planned: PlannedRun, folder: Path, ending: Ending, made: Provenance) -> Row:
    run, config = RunFolder(folder), planned.config
    if run.config_file.exists():
        try:
            return row_of(planned.name, run, ending, planned.variant, made)
        except ForetimeError as error:  # its files are damaged, or of another version
            if ending.status == "finished":
                ending = replace(ending, status="failed", note=str(error))
    return {
        "name": planned.name, "model": config.model.name, "variant": planned.variant,
        "data": graph_name(Path(config.data.location).resolve().name.split(".")[0]),
        "seed": config.training.seed, "config_hash": planned.hash,
        "seedless_hash": seedless_hash(config), "status": ending.status, "note": ending.note,
        "commit": made.commit, "epochs": 0, "seconds": round(ending.seconds, 1), "curve": [], "valid": None,
        "test": None,
    }  # fmt: skip


def summary(row: Row) -> str:
    """Return a result in one line."""
    parts = [row["status"]]
    if row["epochs"]:
        parts.append(f"{row['epochs']} of {row['planned_epochs']} epochs")
    parts += [f"{split} MRR {row[split]['mrr']:.4f}" for split in ("valid", "test") if row[split]]
    if not row["valid"] and row["curve"]:
        parts.append(f"valid MRR {best_on_valid(row):.4f} so far")
    parts.append(f"{row['seconds']:.0f} s")
    return ", ".join(parts) + (f" ({row['note']})" if row.get("note") else "")


def best_on_valid(row: Row) -> float | None:
    """Return the MRR on valid of a result, or the best so far."""
    return row["valid"]["mrr"] if row["valid"] else max((point[2] for point in row["curve"]), default=None)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Treat SIGTERM and a closed terminal as Ctrl-C, so that the trainings are stopped too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]  # nohup ignores SIGHUP
    for number in heard:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])
