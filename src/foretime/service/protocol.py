"""HTTP on the wire: uvicorn's protocol with bounds on the head of a request and on connections.

uvicorn has no setting for how long the head of a request may take, how large it may be, or how many silent connections
are held, and ASGI middleware sees a request only once its head is complete: one client that sends a byte now and then
could hold every connection. So its protocol is subclassed, and `pyproject.toml` bounds its version;
tests/service/test_wire.py shows each attack. All of this comes before the token, so it must cost next to nothing.
"""

from __future__ import annotations

import asyncio
import http
import secrets
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from foretime.service.guard import HEADERS, head_too_large
from foretime.service.metrics import ServiceMetrics
from foretime.service.problems import Problem, overloaded
from foretime.service.settings import HEAD_BYTES, HEAD_SECONDS, MOST_CONNECTIONS, URL_BYTES


class BoundedProtocol(HttpToolsProtocol):
    """A connection whose requests have heads that are neither endless nor endlessly slow."""

    metrics: ClassVar[ServiceMetrics]
    _in_head = False
    _begun = False
    _later = 0
    """Bytes that have come since the chunk in which the head began: the parser keeps a header until it is complete."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, unless there are too many connections already."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self._refuse("connections", overloaded(1))
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Continue; a head that is too long or too slow is refused."""
        if self.transport.is_closing():
            return
        self._begun = True
        if self._in_head:
            self._later += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._in_head and self._later > HEAD_BYTES:
            self._refuse("head", head_too_large(414 if len(self.url) > URL_BYTES else 431))
        elif self._in_head or self.cycle is None or self.cycle.response_complete:
            self._wait()

    def on_message_begin(self) -> None:
        """Begin to count the bytes of a head."""
        self._in_head, self._later = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that a body is complete."""
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request; for the rest of a body that was refused, not for long."""
        super().on_response_complete()
        if self.cycle.response_complete and self.cycle.more_body and not self.transport.is_closing():
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP with an error as the API has them."""
        self._refuse("malformed", Problem(400, "malformed", "this is not valid HTTP"))

    def _wait(self) -> None:
        """Give what is to come so many seconds, counted from the first time that it is waited for."""
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait()  # the beginning of a next request may not cut off the answer to this one
        elif self._begun:
            message = f"the request did not arrive within {HEAD_SECONDS:g} s; send it faster"
            self._refuse("slow", Problem(408, "too_slow_to_read", message))
        else:  # nothing was ever asked
            self.transport.close()

    def _refuse(self, reason: str, problem: Problem) -> None:
        """Send a problem and close the connection; behind the beginning of an answer, only close."""
        self._stop_waiting()
        self.metrics.refused.labels(reason).inc()
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_response(problem))
        self.transport.close()


def bounded_protocol(metrics: ServiceMetrics) -> type[BoundedProtocol]:
    """Return the protocol of a service, which counts what it refuses."""
    return type("CountingProtocol", (BoundedProtocol,), {"metrics": metrics})


def _response(problem: Problem) -> bytes:
    body = problem.body()
    own = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        "cache-control": "no-store",
        "x-request-id": secrets.token_hex(8),
        **{name.lower(): value for name, value in problem.headers.items()},
    }
    lines = [
        f"HTTP/1.1 {problem.status} {http.HTTPStatus(problem.status).phrase}".encode(),
        *(name + b": " + value for name, value in HEADERS),
        *(f"{name}: {value}".encode() for name, value in own.items()),
    ]
    return b"\r\n".join([*lines, b"", body])
