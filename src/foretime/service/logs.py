"""The log: JSON lines on standard error, written by a thread of its own."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Iterator
from logging.handlers import QueueHandler, QueueListener
from typing import Any

PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
"""What every record of a log has; anything else was added by whoever logs."""
MOST_LINES = 10_000
"""Lines that may wait to be written; further ones are lost, because nobody reads them."""
SECONDS_TO_WRITE = 2.0
"""How long the end of the process waits for somebody to read the last lines."""


class JsonLines(logging.Formatter):
    """Writes each record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as JSON."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **{key: value for key, value in vars(record).items() if key not in PLAIN},
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


class _Queued(QueueHandler):
    """Puts lines into a queue, and never waits."""

    def enqueue(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(queue.Full):
            self.queue.put_nowait(record)


class _Writer(QueueListener):
    """Writes what is in the queue; where a pipe is full, only its thread waits."""

    def handle(self, record: logging.LogRecord) -> None:
        # past the buffer of sys.stderr, whose lock would be held at the end of the process by a thread that waits
        line = memoryview(f"{record.getMessage()}\n".encode())
        with contextlib.suppress(OSError):  # nobody reads any more
            while line:
                line = line[os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, line) :]

    def enqueue_sentinel(self) -> None:
        with contextlib.suppress(queue.Full):
            super().enqueue_sentinel()


@contextlib.contextmanager
def log_to_stderr() -> Iterator[None]:
    """Write the logs of the service for a while."""
    lines: queue.Queue[Any] = queue.Queue(MOST_LINES)
    handler, writer = _Queued(lines), _Writer(lines)
    handler.setFormatter(JsonLines())
    for name in ("foretime.service", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        # uvicorn warns of every malformed request: whoever sends them must not fill the log
        logger.setLevel(logging.INFO if name == "foretime.service" else logging.ERROR)
    writer.start()
    try:
        yield
    finally:
        ending = threading.Thread(target=writer.stop, daemon=True)
        ending.start()
        ending.join(SECONDS_TO_WRITE)
