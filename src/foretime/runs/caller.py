"""A process that starts another one to train, and the one that is started.

The started process reports its fault to its caller through a pipe, and stops when its caller is gone.
"""

from __future__ import annotations

import os
from contextlib import suppress

VARIABLE = "FORETIME_CALLER"
"""What the started process has in its environment: the id of its caller, and the pipe that takes faults."""
MOST = 4096
"""How much of a fault is reported, in bytes: a pipe takes that at once, also if nobody reads."""


class FaultPipe:
    """Takes the fault that a started process reports; to be closed when that has ended."""

    def __init__(self) -> None:
        self._end, self.descriptor = os.pipe()
        os.set_blocking(self._end, False)

    def __enter__(self) -> FaultPipe:
        return self

    def __exit__(self, *_error: object) -> None:
        os.close(self._end)
        os.close(self.descriptor)

    def environment(self) -> dict[str, str]:
        """Return what the started process has in its environment, beside the descriptor that is passed on to it."""
        return {VARIABLE: f"{os.getpid()}:{self.descriptor}"}

    def fault(self) -> str:
        """Return the first line of what was reported, empty if that is nothing."""
        try:
            return os.read(self._end, MOST).decode(errors="replace").strip().partition("\n")[0]
        except BlockingIOError:
            return ""


def report_fault(text: str) -> None:
    """Report to the caller what has gone wrong, if there is one."""
    caller = _caller()
    if caller is not None:
        with suppress(OSError):  # it is gone
            os.write(caller[1], text.encode(errors="replace")[:MOST])


def caller_is_gone() -> bool:
    """Return whether the caller has ended, such as by SIGKILL; false without a caller."""
    caller = _caller()
    return caller is not None and os.getppid() != caller[0]


def _caller() -> tuple[int, int] | None:
    number, _, descriptor = os.environ.get(VARIABLE, "").partition(":")
    return (int(number), int(descriptor)) if number.isdecimal() and descriptor.isdecimal() else None
