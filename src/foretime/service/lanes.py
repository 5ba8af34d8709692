"""Lanes: one thread each, a queue with a bound, and questions that are gathered to be asked together.

All work on models is done by one thread, because their kernels use all cores by themselves and may not be entered
twice. While it works, questions wait; those that can be asked together are then asked in one matrix product.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from foretime.service.metrics import Metrics
from foretime.service.problems import Problem, overloaded

Item = TypeVar("Item")
Result = TypeVar("Result")
GATHERED_AT_MOST = 64
_MEMORY = 0.9
"""How much of the mean of working times is kept when a new one comes."""


@dataclass
class _Job:
    kind: str
    key: Hashable | None
    """Jobs of one key may be done together; one without a key is done alone."""
    item: Any
    work: Callable[[list[Any]], Sequence[Any]]
    done: Future[Any] = field(default_factory=Future)
    arrived: float = field(default_factory=time.monotonic)


class Lane:
    """A thread that does one thing after the other."""

    def __init__(self, name: str, metrics: Metrics, queue: int = 64, gather: float = 0.0) -> None:
        self.name, self._metrics, self._most, self._gather = name, metrics, queue, gather
        self._jobs: deque[_Job] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._mean = 0.01
        self._thread = threading.Thread(target=self._run, name=f"foretime-{name}", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def close(self) -> None:
        """Finish what is waiting, and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    async def do(self, kind: str, work: Callable[[], Result], deadline: float | None, admitted: bool = False) -> Result:
        """Return what a piece of work returns, done alone; what was admitted before finds the queue never full."""
        job = _Job(kind, None, None, lambda _: [work()])
        return await self._finished(job, deadline, bounded=not admitted)  # type: ignore[no-any-return]

    async def ask(
        self, kind: str, key: Hashable, item: Item, work: Callable[[list[Item]], Sequence[Result]], deadline: float
    ) -> Result:
        """Return the result of an item, done together with those of the same key that wait beside it."""
        return await self._finished(_Job(kind, key, item, work), deadline, bounded=True)  # type: ignore[no-any-return]

    async def _finished(self, job: _Job, deadline: float | None, bounded: bool) -> Any:
        self._put(job, bounded)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(job.done), deadline)
        except TimeoutError:
            self._metrics.refused.labels("too_slow").inc()
            raise Problem(503, "too_slow", "no answer came in time; ask again later, or for less", 5) from None

    def check_room(self) -> None:
        """Raise a problem if nothing more may wait."""
        if self._closing or len(self._jobs) >= self._most:
            self._metrics.refused.labels("overloaded").inc()
            raise overloaded(len(self._jobs) * self._mean)

    def _put(self, job: _Job, bounded: bool) -> None:
        with self._changed:
            if bounded or self._closing:
                self.check_room()
            self._jobs.append(job)
            self._metrics.waiting.labels(self.name).set(len(self._jobs))
            self._changed.notify_all()

    def _run(self) -> None:
        while jobs := self._take():
            self._work(jobs)

    def _take(self) -> list[_Job]:
        """Return the next jobs that can be done together; none at the end."""
        with self._changed:
            while not self._jobs:
                if self._closing:
                    return []
                self._changed.wait()
            first = self._jobs.popleft()
            taken = [first]
            if first.key is not None and self._gather > 0:
                self._collect(taken, first.arrived + self._gather)
            self._metrics.waiting.labels(self.name).set(len(self._jobs))
            return taken

    def _collect(self, taken: list[_Job], until: float) -> None:
        """Take the jobs that are like the first one, and wait for more of them until a moment."""
        while True:
            like = [job for job in self._jobs if job.key == taken[0].key][: GATHERED_AT_MOST - len(taken)]
            if like:
                chosen = set(map(id, like))
                self._jobs = deque(job for job in self._jobs if id(job) not in chosen)
                taken += like
            left = until - time.monotonic()
            if left <= 0 or len(taken) == GATHERED_AT_MOST or self._closing:
                return
            self._changed.wait(left)

    def _work(self, jobs: list[_Job]) -> None:
        begun = time.monotonic()
        jobs = [job for job in jobs if job.done.set_running_or_notify_cancel()]  # some were given up
        if not jobs:
            return
        for job in jobs:
            self._metrics.wait_seconds.labels(self.name).observe(begun - job.arrived)
        try:
            results = jobs[0].work([job.item for job in jobs])
        except BaseException as error:  # whatever it is, whoever asked has to hear of it
            for job in jobs:
                job.done.set_exception(error)
        else:
            for job, result in zip(jobs, results, strict=True):
                job.done.set_result(result)
        seconds = time.monotonic() - begun
        self._mean = _MEMORY * self._mean + (1 - _MEMORY) * seconds / len(jobs)
        self._metrics.work_seconds.labels(jobs[0].kind).observe(seconds)
        if jobs[0].key is not None:
            self._metrics.batch.observe(len(jobs))
