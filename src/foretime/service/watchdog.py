"""The watchdog: a thread that ends the process where a thread that hangs would keep it from answering, or from ending.

A thread cannot be killed. What cannot go on is ended as a whole, and whoever supervises the process starts it again.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from foretime.service.lanes import Overrun
from foretime.service.settings import SECONDS_TO_STOP

if TYPE_CHECKING:
    from foretime.service.app import Service

HUNG = 70
"""The exit code of a process that ended itself because something in it hung."""
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_FROZEN = 120.0
"""How long the event loop may be held up; and how long no thread may run Python, which ends with exit code 1."""
log = logging.getLogger(__name__)


class Watchdog:
    """Looks at the lanes of a service, and at whether it was asked to stop."""

    def __init__(self, service: Service, is_stopping: Callable[[], bool], finish_log: Callable[[], None]) -> None:
        self._service, self._is_stopping, self._finish_log = service, is_stopping, finish_log
        self._asked: float | None = None
        """When the process was asked to stop."""
        self._told = ""
        """The lane that was last said to be held up."""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="foretime-watchdog", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def finish(self) -> None:
        """Look no more; if a thread of the service is still there, end the process: Python would wait for it."""
        self._done.set()
        self._thread.join()
        faulthandler.cancel_dump_traceback_later()
        left = [lane.name for lane in self._service.lanes if lane.is_alive]
        if left:  # nobody waits for a run that was being loaded
            self._end(f"the thread of the {left[0]} did not end", 0 if left == ["loads"] else HUNG)

    def _watch(self) -> None:
        while not self._done.is_set():
            # a thread that needs no lock of Python: it ends the process if this one cannot say that all is well
            faulthandler.dump_traceback_later(SECONDS_FROZEN, exit=True, file=sys.__stderr__ or 2)
            self._look_at_lanes()
            self._look_at_time()
            self._done.wait(SECONDS_BETWEEN_LOOKS)

    def _look_at_lanes(self) -> None:
        overrun = self._service.lanes.overrun
        if overrun is None:
            self._told = ""
            return
        if overrun.lane != self._told:
            self._told = overrun.lane
            log.error("overrun", extra={**_described(overrun), "where": _where(overrun.thread)})
        if overrun.beyond >= self._service.settings.give_up:
            self._end(str(overrun))

    def _look_at_time(self) -> None:
        beat = self._service.beat
        if beat is not None and time.monotonic() - beat >= SECONDS_FROZEN:
            self._end(f"the event loop has been held up for {SECONDS_FROZEN:g} s")
        if self._is_stopping() and self._asked is None:
            self._asked = time.monotonic()
        if self._asked is not None and time.monotonic() - self._asked >= SECONDS_TO_STOP:
            self._end(f"not stopped {SECONDS_TO_STOP:g} s after it was asked to")

    def _end(self, why: str, code: int = HUNG) -> NoReturn:
        try:
            log.critical("the process ends itself", extra={"why": why, "exit_code": code})
            self._service.catalog.kill_trials()
            self._finish_log()
        finally:
            os._exit(code)


def _described(overrun: Overrun) -> dict[str, object]:
    return {"lane": overrun.lane, "kind": overrun.kind, "seconds": round(overrun.seconds, 1)}


def _where(thread: int) -> list[str]:
    """Return the lines of code that a thread is in, the innermost last."""
    frame = sys._current_frames().get(thread)
    return [f"{line.filename}:{line.lineno} {line.name}" for line in traceback.extract_stack(frame)] if frame else []
