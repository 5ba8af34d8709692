"""The threads that work for the service: its lanes, and those that nothing waits for."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple, TypeVar

from foretime.service.lanes import Lane, Overrun
from foretime.service.metrics import ServiceMetrics
from foretime.service.settings import Settings

Result = TypeVar("Result")


class Lanes(NamedTuple):
    """The three lanes: one for all work on models, one for lookups in graphs, one that loads runs."""

    models: Lane
    graphs: Lane
    loads: Lane

    @classmethod
    def of(cls, settings: Settings, metrics: ServiceMetrics) -> Lanes:
        """Return the lanes of a service."""
        patience = settings.deadline + settings.grace
        return cls(
            Lane("models", metrics, settings.queue, settings.gather, patience),
            Lane("graphs", metrics, settings.queue, 0.0, patience),
            Lane("loads", metrics, patience=(settings.load_seconds or math.inf) + settings.grace),
        )

    @property
    def overrun(self) -> Overrun | None:
        """The job that is the furthest beyond what it may take, if any is."""
        found = [lane.overrun for lane in self]
        return max((one for one in found if one is not None), key=lambda one: one.beyond, default=None)

    def start(self) -> None:
        """Begin to work."""
        for lane in self:
            lane.start()

    async def close(self) -> None:
        """Finish what is waiting, and end the threads; one that hangs is left behind."""
        await asyncio.gather(*(in_own_thread(lane.close) for lane in self))


async def in_own_thread(work: Callable[[], Result]) -> Result:
    """Return what a function returns, called in a thread that nothing waits for at the end of the process."""
    done: Future[Result] = Future()
    done.set_running_or_notify_cancel()  # from now on only the thread may end it

    def call() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # whatever it is, the caller must learn of it
            done.set_exception(error)

    threading.Thread(target=call, name="foretime-work", daemon=True).start()
    return await asyncio.wrap_future(done)
