"""Lanes: one thread each, a queue with a bound, and questions that are gathered to be asked together.

All work on models is done by one thread, because their kernels use all cores by themselves and may not be entered
twice. While it works, questions wait; those that can be asked together are then asked in one matrix product.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from foretime.service.metrics import ServiceMetrics
from foretime.service.problems import overloaded, too_slow
from foretime.service.settings import JOB_SECONDS

Item = TypeVar("Item")
Result = TypeVar("Result")
GATHERED_AT_MOST = 64
KEYS_AT_MOST = 1_000
"""Kinds of jobs whose working times are remembered; runs come and go."""
SECONDS_TO_END = 10.0
"""How long a lane that is closed may take to finish what it is doing."""
_MEMORY = 0.9
"""How much of the mean of working times is kept when a new one comes."""


@dataclass(eq=False)
class _Job:
    kind: str
    key: Hashable | None
    """Jobs of one key may be done together; one without a key is done alone."""
    item: Any
    work: Callable[[list[Any]], Sequence[Any]]
    most: int = GATHERED_AT_MOST
    """With how many like it, itself among them, it may be done."""
    patience: float | None = None
    """How many seconds it may take; that of its lane where there is none."""
    done: Future[Any] = field(default_factory=Future)
    arrived: float = field(default_factory=time.monotonic)


class Overrun(NamedTuple):
    """A job that takes longer than it may: nothing else is done by its lane meanwhile."""

    lane: str
    kind: str
    seconds: float
    """How long it has taken so far."""
    beyond: float
    """How much of that is more than it may."""
    thread: int
    """The thread that does it, by its number."""

    def __str__(self) -> str:
        return f"a job ({self.kind}) has held up the thread of the {self.lane} for {self.seconds:.0f} s"


class Lane:
    """A thread that does one thing after the other; `patience` is how long one of them may take."""

    def __init__(
        self,
        name: str,
        metrics: ServiceMetrics,
        queue: int = 64,
        gather: float = 0.0,
        patience: float = math.inf,
    ) -> None:
        self.name, self._metrics, self._most, self._gather = name, metrics, queue, gather
        self.patience = patience
        self._doing: tuple[_Job, float] | None = None
        """What is being done, and since when."""
        self._jobs: deque[_Job] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._mean = 0.01
        self._means: dict[Hashable, float] = {}
        """How long one job of each key takes, in seconds."""
        self._thread = threading.Thread(target=self._run, name=f"foretime-{name}", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    @property
    def works(self) -> bool:
        """Whether jobs are done: the thread is there, and is to stay."""
        return self._thread.is_alive() and not self._closing

    @property
    def is_alive(self) -> bool:
        """Whether the thread is there."""
        return self._thread.is_alive()

    @property
    def overrun(self) -> Overrun | None:
        """The job that takes longer than it may, if there is one."""
        doing = self._doing
        if doing is None:
            return None
        job, begun = doing
        seconds = time.monotonic() - begun
        beyond = seconds - (self.patience if job.patience is None else job.patience)
        return Overrun(self.name, job.kind, seconds, beyond, self._thread.ident or 0) if beyond > 0 else None

    def close(self) -> None:
        """Finish what is waiting and end the thread, but wait no longer than `SECONDS_TO_END`."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(SECONDS_TO_END)

    async def do(
        self,
        kind: str,
        work: Callable[[], Result],
        deadline: float | None,
        admitted: bool = False,
        patience: float | None = None,
    ) -> Result:
        """Return what a job returns, done alone; one that was admitted before is never refused by a full queue."""
        job = _Job(kind, None, None, lambda _: [work()], patience=patience)
        return await self._finished(job, deadline, bounded=not admitted)  # type: ignore[no-any-return]

    async def ask(
        self,
        kind: str,
        key: Hashable,
        item: Item,
        work: Callable[[list[Item]], Sequence[Result]],
        deadline: float,
        most: int = GATHERED_AT_MOST,
    ) -> Result:
        """Return the result of an item, done together with those of the same key that wait beside it.

        At most `most` are done together, and fewer where so many have taken longer than `JOB_SECONDS`.
        """
        return await self._finished(_Job(kind, key, item, work, most), deadline, bounded=True)  # type: ignore[no-any-return]

    async def _finished(self, job: _Job, deadline: float | None, bounded: bool) -> Any:
        self._put(job, bounded)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(job.done), deadline)
        except TimeoutError:
            self._metrics.refused.labels("too_slow").inc()
            raise too_slow() from None
        finally:
            self._forget(job)

    def _forget(self, job: _Job) -> None:
        """Take a job out of the queue that nobody waits for any more."""
        with self._changed:
            if job in self._jobs:
                self._jobs.remove(job)
                self._metrics.waiting.labels(self.name).set(len(self._jobs))

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
            self._doing = jobs[0], time.monotonic()
            try:
                self._work(jobs)
            finally:
                self._doing = None

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
        usual = self._means.get(taken[0].key)
        most = taken[0].most if usual is None else max(1, min(taken[0].most, int(JOB_SECONDS / max(usual, 1e-6))))
        while True:
            like = [job for job in self._jobs if job.key == taken[0].key][: most - len(taken)]
            if like:
                chosen = set(map(id, like))
                self._jobs = deque(job for job in self._jobs if id(job) not in chosen)
                taken += like
            left = until - time.monotonic()
            if left <= 0 or len(taken) >= most or self._closing:
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
            results = list(zip(jobs, jobs[0].work([job.item for job in jobs]), strict=True))
        except BaseException as error:  # whatever it is, the caller must learn of it
            for job in jobs:
                job.done.set_exception(error)
        else:
            for job, result in results:
                job.done.set_result(result)
        seconds = time.monotonic() - begun
        self._remember(jobs[0].key, seconds / len(jobs))
        self._metrics.work_seconds.labels(jobs[0].kind).observe(seconds)
        if jobs[0].key is not None:
            self._metrics.batch.observe(len(jobs))

    def _remember(self, key: Hashable | None, seconds: float) -> None:
        """Keep in mind how long one job has taken."""
        self._mean = _MEMORY * self._mean + (1 - _MEMORY) * seconds
        if key is not None:
            if len(self._means) >= KEYS_AT_MOST:
                self._means.clear()
            # soon forgotten: the first of a kind may have been compiled
            self._means[key] = (self._means.get(key, seconds) + seconds) / 2
