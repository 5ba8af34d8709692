"""HTTP on the wire: uvicorn's protocol with bounds on the head of a request and on connections.

uvicorn has no setting for how long the head of a request may take, how large it may be, or how many silent connections
are held, and ASGI middleware sees a request only once its head is complete: one client that sends a byte now and then
could hold every connection. So its protocol is subclassed, and `pyproject.toml` bounds its version;
tests/service/test_wire.py shows each attack. All of this comes before the token, so it must cost next to nothing.
"""

from __future__ import annotations

import asyncio
import http
import ipaddress
import secrets
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from foretime.service.guard import HEADERS, head_too_large
from foretime.service.metrics import ServiceMetrics
from foretime.service.problems import Problem, overloaded
from foretime.service.settings import (
    HEAD_BYTES,
    HEAD_SECONDS,
    KEEP_ALIVE_SECONDS,
    MOST_CONNECTIONS,
    SILENT_SECONDS,
    URL_BYTES,
)


class BoundedProtocol(HttpToolsProtocol):
    """A connection whose requests have heads that are neither endless nor endlessly slow."""

    metrics: ClassVar[ServiceMetrics]
    most_of_one: ClassVar[int]
    """Connections that one address may hold."""
    _in_head = False
    _begun = False
    _later = 0
    """Bytes that have come since the chunk in which the head began: the parser keeps a header until it is complete."""
    _timer: asyncio.TimerHandle | None = None
    _cycles: Sequence[RequestResponseCycle] = ()
    """Requests that are being answered, or are to be."""
    _reader_timer: asyncio.TimerHandle | None = None
    _idle_since = 0.0
    """When the connection began, or its last answer was complete; the time of the loop has milliseconds only."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, unless there are too many connections already and none of them is idle."""
        super().connection_made(transport)
        self._idle_since = time.monotonic()
        held = (one for one in self.connections if isinstance(one, BoundedProtocol))
        everybody = [one for one in held if not one.transport.is_closing()]
        neighbours = [one for one in everybody if one.address == self.address]
        bounds = ((neighbours, self.most_of_one), (everybody, MOST_CONNECTIONS))
        if all(self._has_room(among, most) for among, most in bounds):
            self._wait()
        else:
            self._refuse("connections", overloaded(1))

    @property
    def address(self) -> str:
        """Who is connected: an address, or all that one network of IPv6 has."""
        return network_of(self.client[0]) if self.client else ""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way: no request, and no answer that is still to be read."""
        if self._begun:
            return self.timeout_keep_alive_task is not None and self.transport.get_write_buffer_size() == 0
        return time.monotonic() - self._idle_since > SILENT_SECONDS

    def _has_room(self, among: list[BoundedProtocol], most: int) -> bool:
        """Return whether no more connections are held than may be, after the one that is idle longest was closed."""
        if len(among) <= most:
            return True
        idle = [one for one in among if one is not self and one.is_idle]
        if not idle:
            return False
        self.metrics.refused.labels("idle").inc()
        min(idle, key=lambda one: one._idle_since).transport.abort()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_waiting()
        self._stop_waiting_for_reader()
        for cycle in self._cycles:  # uvicorn tells it to the last request of a pipeline alone
            cycle.disconnected = not cycle.response_complete
            cycle.message_event.set()
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
        self._cycles = [*(one for one in self._cycles if not one.response_complete), self.cycle]

    def on_message_complete(self) -> None:
        """Note that a body is complete."""
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request; for the rest of a body that was refused, not for long."""
        super().on_response_complete()
        self._idle_since = time.monotonic()
        if self.transport.is_closing():
            self._wait_for_reader()
        if self.cycle.response_complete and self.cycle.more_body and not self.transport.is_closing():
            self._wait()

    def timeout_keep_alive_handler(self) -> None:
        """End a connection without a next request; also where the last answer is still not read."""
        self.transport.abort()

    def pause_writing(self) -> None:
        """Give a client that has much to read so many seconds; whoever never reads would be waited for for ever."""
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        self._stop_waiting_for_reader()

    def _wait_for_reader(self) -> None:
        if self._reader_timer is None:
            self._reader_timer = self.loop.call_later(KEEP_ALIVE_SECONDS, self.transport.abort)

    def _stop_waiting_for_reader(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None

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
        self._wait_for_reader()


def bounded_protocol(metrics: ServiceMetrics, most_of_one: int) -> type[BoundedProtocol]:
    """Return the protocol of a service, which counts what it refuses, and how many connections an address may hold."""
    return type("CountingProtocol", (BoundedProtocol,), {"metrics": metrics, "most_of_one": most_of_one})


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """Return an address, or the /64 network of one of IPv6: whoever has one of these has all of them."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address) or found.ipv4_mapped is not None:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False))


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
