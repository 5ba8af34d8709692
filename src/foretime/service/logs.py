"""The log: JSON lines on standard error, written by a thread of its own so that nothing waits for a reader."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
"""What every record has; anything else was added by the caller."""
LEVELS = {"foretime.service": logging.INFO, "uvicorn": logging.ERROR}
"""uvicorn warns about every malformed request; whoever sends them must not fill the log."""
MOST_LINES = 10_000
"""Lines that may wait to be written; further ones are lost."""
SECONDS_TO_WRITE = 2.0
"""How long the process waits at its end for somebody to read the last lines."""


def json_line(record: logging.LogRecord) -> str:
    """Return a record as one JSON object."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    line: dict[str, Any] = {
        "time": f"{stamp}.{int(record.msecs):03d}Z",
        "level": record.levelname.lower(),
        "event": record.getMessage(),
        **{key: value for key, value in vars(record).items() if key not in PLAIN},
    }
    if record.exc_info:
        line["traceback"] = logging.Formatter().formatException(record.exc_info)
    return json.dumps(line, ensure_ascii=True, default=str)


class _StderrLines(logging.Handler):
    """Queues lines without ever waiting; where a pipe is full, only the thread that writes waits."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: queue.Queue[bytes | None] = queue.Queue(MOST_LINES)
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(f"{json_line(record)}\n".encode())

    def _write(self) -> None:
        # past the buffer of sys.stderr, whose lock a waiting thread would hold at the end of the process
        target = sys.__stderr__.fileno() if sys.__stderr__ else 2
        while line := self._lines.get():
            with contextlib.suppress(OSError):  # nobody reads any more
                while line:
                    line = line[os.write(target, line) :]

    def finish(self) -> None:
        """Write what is waiting, for a while."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(SECONDS_TO_WRITE)


@contextlib.contextmanager
def log_to_stderr() -> Iterator[Callable[[], None]]:
    """Write the log of the service for as long as the block lasts, and give what writes the lines that wait."""
    handler = _StderrLines()
    for name, level in LEVELS.items():
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    try:
        yield handler.finish
    finally:
        handler.finish()
