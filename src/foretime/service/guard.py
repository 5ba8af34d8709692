"""The door: what a request must bring, how large it may be, what every response carries, and what is noted of it."""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import time
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foretime.service.lanes import Lane
from foretime.service.metrics import ServiceMetrics
from foretime.service.problems import Problem, bug, overloaded
from foretime.service.settings import (
    API,
    BODY_BYTES,
    BODY_SECONDS,
    HEAD_BYTES,
    REQUESTS_AT_ONCE,
    URL_BYTES,
    Settings,
    is_loopback,
)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (name.encode(), value.encode())
    for name, value in {
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }.items()
]
PROTECTED = (f"{API}/", "/metrics")
OPEN = (f"{API}/docs", f"{API}/openapi.json")
"""What the API can be asked, which is the same for everybody and holds no data."""
ASKING = ("/complete", "/explain", "/batch", "/compare")
"""The ends of paths that need a model."""
UNNOTED = ("/healthz", "/readyz", "/metrics")
"""Routes that are asked every few seconds, and would fill the log."""
log = logging.getLogger(__name__)


class _Gone(Exception):  # noqa: N818, no error
    """The client has gone before its request was whole."""


class Guard:
    """Wraps the application. Nothing behind it sees a request that is too large, too slow or not allowed."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: ServiceMetrics, models: Lane) -> None:
        self.app, self._metrics, self._models = app, metrics, models
        self._token = None if settings.token is None else settings.token.encode()
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun, request_id, status = time.perf_counter(), secrets.token_hex(8), 0
        own = [*HEADERS, (b"x-request-id", request_id.encode())]

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = list(message.get("headers", []))
                if not _value(given, b"cache-control"):
                    given.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*given, *own]}
            await send(message)

        self._under_way += 1
        self._metrics.under_way.set(self._under_way)
        try:
            body = await self._admit(scope, receive)
            await self.app(scope, _replay(body, receive), send_guarded)
        except Problem as problem:
            await problem.response()(scope, receive, send_guarded)
        except _Gone:
            status = 499
        except Exception:
            log.exception("a bug", extra={"id": request_id})
            if status == 0:
                await bug().response()(scope, receive, send_guarded)
        finally:
            self._under_way -= 1
            self._note(scope, status, time.perf_counter() - begun, request_id)

    async def _admit(self, scope: Scope, receive: Receive) -> bytes:
        """Return the body of a request that may be answered."""
        headers = scope["headers"]
        if self._under_way > REQUESTS_AT_ONCE:
            self._metrics.refused.labels("requests").inc()
            raise overloaded(1)
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > URL_BYTES:
            raise Problem(414, "too_large", f"the URL has more than {URL_BYTES} bytes; send a POST")
        if sum(len(name) + len(value) + 4 for name, value in headers) > HEAD_BYTES:
            self._metrics.refused.labels("head").inc()
            raise head_too_large(431)
        if scope["path"].startswith(PROTECTED):
            _check_site(headers)
        if self._token is None:
            self._check_host(_value(headers, b"host"))
        elif scope["path"].startswith(PROTECTED) and scope["path"] not in OPEN:
            self._check_token(_value(headers, b"authorization"))
        if scope["path"].startswith(API) and scope["path"].endswith(ASKING):
            self._models.check_room()  # a refusal should cost as little as it can
        declared = _value(headers, b"content-length")
        if declared.isdigit() and len(declared) < 20 and int(declared) > BODY_BYTES:
            raise _too_large()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _read(receive)
        except TimeoutError:
            raise Problem(
                408, "too_slow_to_read", f"the body did not come within {BODY_SECONDS:g} s; send it faster"
            ) from None
        kind = _value(headers, b"content-type").partition(b";")[0].strip().lower()
        if body and scope["method"] == "POST" and kind != b"application/json":
            raise Problem(415, "not_json", "the body is not declared as JSON; send Content-Type: application/json")
        return body

    def _check_host(self, host: bytes) -> None:
        """Refuse a foreign name for this machine: a page elsewhere could use one to read from here."""
        name = host.decode("latin-1")
        name = name.partition("]")[0] if name.startswith("[") else name.partition(":")[0]
        if name and not is_loopback(name):
            raise Problem(421, "wrong_host", "without a token the service answers to localhost only")

    def _check_token(self, given: bytes) -> None:
        kind, _, token = given.partition(b" ")
        if kind.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self._token or b""):
            problem = Problem(401, "unauthorized", "bring the token: Authorization: Bearer TOKEN")
            problem.headers["WWW-Authenticate"] = "Bearer"
            raise problem

    def _note(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in ("GET", "POST", "HEAD", "OPTIONS") else "other"
        self._metrics.under_way.set(self._under_way)
        self._metrics.requests.labels(route, method, str(status)).inc()
        self._metrics.request_seconds.labels(route).observe(seconds)
        if route not in UNNOTED:
            run = scope.get("path_params", {}).get("run", "")
            details = {"id": request_id, "method": method, "route": route, "run": run[:100], "status": status}
            log.info("request", extra={**details, "ms": round(1000 * seconds, 2)})


def _value(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes:
    return next((value for key, value in headers if key == name), b"")


def _check_site(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse what a page elsewhere sends without its reader: it could not read the answer, but have much computed."""
    if _value(headers, b"sec-fetch-site") == b"cross-site" and _value(headers, b"sec-fetch-mode") != b"navigate":
        raise Problem(403, "cross_site", "a page of another site may not ask; open the page of the service itself")


def head_too_large(status: int) -> Problem:
    """Return the problem of a head with too many bytes."""
    found = Problem(status, "too_large", f"the head of the request has more than {HEAD_BYTES} bytes; send less")
    found.headers["Connection"] = "close"
    return found


def _too_large() -> Problem:
    return Problem(413, "too_large", f"the body has more than {BODY_BYTES} bytes; ask in several requests")


async def _read(receive: Receive) -> bytes:
    """Return the whole body; one that is too large is given up at once."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > BODY_BYTES:
            raise _too_large()
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a source of messages that gives a body which has been read already."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
