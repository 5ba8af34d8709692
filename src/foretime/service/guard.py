"""The guard before the application: what a request may be, what every response carries, and what is logged."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import secrets
import time
from collections.abc import Iterator, Mapping

from starlette.requests import ClientDisconnect, Request
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
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
PROTECTED = (f"{API}/", "/metrics")
OPEN = (f"{API}/docs", f"{API}/openapi.json")
"""The schema is the same for everybody and holds no data."""
ASKING = ("/complete", "/explain", "/forecast", "/batch", "/compare")
"""How the paths end that need a model."""
UNLOGGED = ("/healthz", "/readyz", "/metrics")
"""Routes that are polled, and would fill the log."""
LEFT = 499
"""The status in the log of a request whose client has left."""
SECONDS_TO_HEAR = 1.0
"""How long the loop may take to learn that a connection is gone."""
log = logging.getLogger(__name__)


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
                if not any(name == b"cache-control" for name, _ in given):
                    given.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*given, *own]}
            await _deliver(message, send, receive)

        self._under_way += 1
        self._metrics.under_way.set(self._under_way)
        try:
            await self._answer(scope, receive, send_guarded)
        except ClientDisconnect:
            status = LEFT
        except Exception:
            log.exception("a bug", extra={"id": request_id})
            if status == 0:
                await bug().response()(scope, receive, send_guarded)
        finally:
            self._under_way -= 1
            self._record(scope, status, time.perf_counter() - begun, request_id)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, await self._admit(scope, receive), send)
        except Problem as problem:
            await problem.response()(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive) -> Receive:
        """Return the source of messages of a request that may be answered, its body already read."""
        path, headers = scope["path"], dict(reversed(scope["headers"]))  # the first of each name
        if self._under_way > REQUESTS_AT_ONCE:
            self._metrics.refused.labels("requests").inc()
            raise overloaded(1)
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > URL_BYTES:
            raise Problem(414, "too_large", f"the URL has more than {URL_BYTES} bytes; send a POST")
        if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > HEAD_BYTES:
            self._metrics.refused.labels("head").inc()
            raise head_too_large(431)
        self._check_caller(path, headers)
        if path.startswith(API) and path.endswith(ASKING):
            self._models.check_room()  # a refusal should cost as little as possible
        body = await _read(scope, headers, receive)
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if body and scope["method"] == "POST" and kind != b"application/json":
            raise Problem(415, "not_json", "the body is not declared as JSON; send Content-Type: application/json")
        messages: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def replay() -> Message:
            return next(messages, None) or await receive()

        return replay

    def _check_caller(self, path: str, headers: Mapping[bytes, bytes]) -> None:
        """Refuse other sites, foreign names for this machine, and requests without the token."""
        protected = path.startswith(PROTECTED)
        # a page of another site could not read the answer, but have much computed
        asks = headers.get(b"sec-fetch-site") == b"cross-site" and headers.get(b"sec-fetch-mode") != b"navigate"
        if protected and asks:
            raise Problem(403, "cross_site", "a page of another site may not ask; open the page of the service itself")
        if self._token is None:  # with a host name of its own, a page elsewhere could read from here
            host = headers.get(b"host", b"").decode("latin-1")
            name = host.partition("]")[0] if host.startswith("[") else host.partition(":")[0]
            if name and not is_loopback(name):
                raise Problem(421, "wrong_host", "without a token the service answers to localhost only")
        elif protected and path not in OPEN:
            kind, _, token = headers.get(b"authorization", b"").partition(b" ")
            if kind.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self._token):
                problem = Problem(401, "unauthorized", "send the token: Authorization: Bearer TOKEN")
                problem.headers["WWW-Authenticate"] = "Bearer"
                raise problem

    def _record(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in ("GET", "POST", "DELETE", "HEAD", "OPTIONS") else "other"
        self._metrics.under_way.set(self._under_way)
        self._metrics.requests.labels(route, method, str(status)).inc()
        self._metrics.request_seconds.labels(route).observe(seconds)
        if route not in UNLOGGED:
            run = scope.get("path_params", {}).get("run", "")
            details = {"id": request_id, "method": method, "route": route, "run": run[:100], "status": status}
            log.info("request", extra={**details, "ms": round(1000 * seconds, 2)})


def head_too_large(status: int) -> Problem:
    """Return the problem of a head with too many bytes."""
    found = Problem(status, "too_large", f"the head of the request has more than {HEAD_BYTES} bytes; send less")
    found.headers["Connection"] = "close"
    return found


async def _deliver(message: Message, send: Send, receive: Receive) -> None:
    """Send a message; raise `ClientDisconnect` if there is nobody any more to send it to."""
    try:
        await send(message)
    except (OSError, RuntimeError):  # uvloop raises them for a socket that has just been closed
        await asyncio.sleep(0)  # the protocol hears of it in the next turn of the loop
        with contextlib.suppress(TimeoutError, RuntimeError):
            async with asyncio.timeout(SECONDS_TO_HEAR):
                if (await receive())["type"] == "http.disconnect":
                    raise ClientDisconnect from None
        raise


async def _read(scope: Scope, headers: Mapping[bytes, bytes], receive: Receive) -> bytes:
    """Return the complete body; one that is too large or too slow is abandoned at once."""
    too_large = Problem(413, "too_large", f"the body has more than {BODY_BYTES} bytes; ask in several requests")
    declared, body = headers.get(b"content-length", b""), b""
    if declared.isdigit() and len(declared) < 20 and int(declared) > BODY_BYTES:
        raise too_large
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in Request(scope, receive).stream():
                body += chunk
                if len(body) > BODY_BYTES:
                    raise too_large
    except TimeoutError:
        message = f"the body did not arrive within {BODY_SECONDS:g} s; send it faster"
        raise Problem(408, "too_slow_to_read", message) from None
    return body
