"""A process that starts another one to train, and the one that is started.

The one is told what goes wrong in the other, and missed there when it is gone.
"""

from __future__ import annotations

import os
from contextlib import suppress

VARIABLE = "FORETIME_CALLER"
"""What the started process has in its environment: the number of its caller, and the pipe that takes faults."""
MOST = 4096
"""How much of a fault is told, in bytes: a pipe takes that at once, also if nobody listens."""


class FaultPipe:
    """What a process that is started tells to be wrong; to be closed when it has ended."""

    def __init__(self) -> None:
        self._heard, self.descriptor = os.pipe()
        os.set_blocking(self._heard, False)

    def __enter__(self) -> FaultPipe:
        return self

    def __exit__(self, *_error: object) -> None:
        os.close(self._heard)
        os.close(self.descriptor)

    def environment(self) -> dict[str, str]:
        """Return what the started process has in its environment, beside the descriptor that is passed on to it."""
        return {VARIABLE: f"{os.getpid()}:{self.descriptor}"}

    def fault(self) -> str:
        """Return the first line of what was told, empty if that is nothing."""
        try:
            return os.read(self._heard, MOST).decode(errors="replace").strip().partition("\n")[0]
        except BlockingIOError:
            return ""


def tell_fault(text: str) -> None:
    """Tell the caller what has gone wrong, if there is one that listens."""
    caller = _caller()
    if caller is not None:
        with suppress(OSError):  # it is gone
            os.write(caller[1], text.encode(errors="replace")[:MOST])


def caller_is_gone() -> bool:
    """Return whether the caller has ended, such as by SIGKILL; a process without one misses nobody."""
    caller = _caller()
    return caller is not None and os.getppid() != caller[0]


def _caller() -> tuple[int, int] | None:
    number, _, descriptor = os.environ.get(VARIABLE, "").partition(":")
    return (int(number), int(descriptor)) if number.isdecimal() and descriptor.isdecimal() else None
