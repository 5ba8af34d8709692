"""What an executor is: it starts tasks in processes of their own, hears what they report, stops and repeats them."""

from __future__ import annotations

import queue
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

from foretime.errors import ForetimeError, Interrupted, RunError

Report: TypeAlias = dict[str, Any]
"""What a task says on its way: values of JSON."""
SECONDS_BETWEEN_LOOKS = 0.2
"""How long to wait for a report before the caller is asked whether to stop."""
INTERRUPTED, FAILED = 130, 2
"""Exit codes: it was asked to stop and has saved its state; it has said what is wrong."""


@dataclass(frozen=True, eq=False)
class Task:
    """Work for one process: a function of this package and its arguments, which are values of JSON.

    The function is called with a `Reporter` and the arguments. Two tasks that are equal in everything are still two.
    """

    name: str
    function: Callable[..., None]
    arguments: dict[str, Any]
    folder: Path
    """Where it writes. Every node of a cluster sees it."""
    threads: int = 0
    """How many it has; 0: as many as the libraries choose."""
    gpus: int = 0
    act: str = "the training of"
    """What is done, in front of the name."""
    remedy: str = "do the same again"
    """What to do if its process dies."""

    def request(self) -> Report:
        """Return what its process needs to know, as values of JSON."""
        function = f"{self.function.__module__}:{self.function.__qualname__}"
        lock = self.folder.absolute() / f".{self.name}.lock"
        return {"function": function, "arguments": self.arguments, "lock": str(lock), "threads": self.threads}


class End(NamedTuple):
    """How a process has ended: its exit code or minus the number of a signal, and what it said to be wrong."""

    code: int
    fault: str = ""
    lost: str = ""
    """What was lost with the process, such as its node; nothing if it ended by itself or was killed alone."""

    @property
    def how(self) -> str:
        """How it ended, as a reader should hear it."""
        if self.lost:
            return f"was lost: {self.lost}"
        if self.code < 0:
            return f"was killed by signal {-self.code}, maybe because memory ran out"
        return f"ended with exit code {self.code}"

    @property
    def is_death(self) -> bool:
        """Whether something killed it, so that the same task may well end otherwise when it is done again."""
        return bool(self.lost) or (self.code < 0 and not self.fault)


class Heard(NamedTuple):
    """What is heard of a task: a report or, once, its end."""

    task: Task
    report: Report | None = None
    end: End | None = None


class Executor(ABC):
    """Starts tasks in processes of their own, and hears of them.

    A task whose process dies is begun again until that has happened `tries` times without a report in between.
    """

    tries = 1

    def __init__(self) -> None:
        self.working: list[Task] = []
        self._stopped: set[Task] = set()
        self._deaths: Counter[Task] = Counter()
        self._locks: dict[Task, int | None] = {}
        self._heard: queue.Queue[Heard] = queue.Queue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.end_all()
        finally:
            self.close()

    @abstractmethod
    def has_room(self, threads: int) -> bool:
        """Return whether one more task of so many threads would begin at once."""

    def check_room(self, threads: int) -> None:  # noqa: B027, most have room for any number
        """Raise `ConfigError` if there is no place for a task of so many threads."""

    def start(self, task: Task, lock: int | None = None) -> None:
        """Start a task. A process of this machine inherits the lock, and holds it even if this one is gone."""
        self._locks[task] = lock
        self._begin(task, lock)
        self.working.append(task)

    def stop(self, task: Task) -> None:
        """Ask a task to save its state and end; asked again, it ends at once."""
        self._stopped.add(task)
        self._ask_to_stop(task)

    def next(self, seconds: float = SECONDS_BETWEEN_LOOKS) -> Heard | None:
        """Return what is heard next, if anything is within so many seconds."""
        try:
            event = self._heard.get(timeout=seconds)
        except queue.Empty:
            return None
        if event.report is not None and "epoch" in event.report:  # it has come further; words come with every try
            self._deaths[event.task] = 0
        elif event.end is not None:
            return self._ended(event, event.end)
        return event

    def _hear(self, task: Task, heard: Report | End) -> None:
        """Take what a task reports, or its end; any thread may call this."""
        self._heard.put(Heard(task, end=heard) if isinstance(heard, End) else Heard(task, heard))

    def _ended(self, event: Heard, end: End) -> Heard:
        """Return the end of a task, or that it begins again."""
        task = event.task
        self._deaths[task] += end.is_death
        if end.is_death and task not in self._stopped and self._deaths[task] < self.tries:
            self._begin(task, self._locks[task])
            return Heard(task, {"text": f"{task.act} {task.name} {end.how}; it begins again"})
        self.working.remove(task)
        return event

    def end_all(self) -> None:
        """Let the tasks that are left save their state and end; at once if Ctrl-C comes meanwhile."""
        try:
            for task in self.working:
                if task not in self._stopped:
                    self.stop(task)
            while self.working:
                self.next()
        except KeyboardInterrupt:
            for task in self.working:
                self._kill(task)
            while self.working:
                self.next()
            raise

    @abstractmethod
    def _begin(self, task: Task, lock: int | None) -> None:
        """Start a process that does the task, whose reports and end are put into `_heard`."""

    @abstractmethod
    def _ask_to_stop(self, task: Task) -> None:
        """Pass the request on."""

    @abstractmethod
    def _kill(self, task: Task) -> None:
        """End it at once."""

    def close(self) -> None:  # noqa: B027, most have nothing to close
        """Give back what the executor holds when no task is left."""


def run_all(
    executor: Executor, tasks: Sequence[Task], stop_wanted: Callable[[], bool], lock: int | None = None
) -> Iterator[tuple[Task, Report]]:
    """Do all tasks, as many at a time as there is room for, and yield what they report.

    Raise an error for the first one that fails, and `Interrupted` when all have stopped because that is wanted. In
    either case, and when the caller listens no more, those under way save their state first.
    """
    left, stopping = list(tasks), False
    for task in tasks:
        executor.check_room(task.threads)
    try:
        while executor.working or (left and not stopping):
            while left and not stopping and executor.has_room(left[0].threads):
                executor.start(left.pop(0), lock)
            if not stopping and stop_wanted():
                stopping = True
                for task in executor.working:
                    executor.stop(task)
            event = executor.next()
            if event is None:
                continue
            if event.end is not None:
                check_end(event.task, event.end, stopping)
            elif event.report is not None:
                yield event.task, event.report
    finally:
        executor.end_all()
    if stopping:
        raise Interrupted("stopped")


def check_end(task: Task, end: End, stopping: bool = False) -> None:
    """Raise an error if a task has ended in another way than it should; one may stop where that was asked for."""
    # by a signal: asked to stop before it had begun
    if end.code == 0 or (stopping and (end.code == INTERRUPTED or end.is_death)):
        return
    if end.fault:
        raise ForetimeError(f"{task.name}: {end.fault}")
    raise RunError(f"{task.act} {task.name} {end.how}; {task.remedy}")
