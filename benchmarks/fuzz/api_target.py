"""The API behind its guard, in this process: bodies and queries, to every route that takes any."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from benchmarks.fuzz.small_run import example_question
from benchmarks.fuzz.target import Target, chosen
from foretime.errors import QuestionError
from foretime.service.app import Service
from foretime.service.settings import API, Settings

SECONDS = 30.0
ROUTES = (
    "POST /runs/run/complete", "POST /runs/run/explain", "POST /runs/run/batch", "POST /compare",
    "POST /runs/run/forecast", "GET /runs/run/complete", "GET /runs/run/explain",
    "GET /runs/run/entities", "GET /runs/run/facts", "GET /runs/run/timeline", "GET /runs/run/neighbours",
    "GET /runs/run/rules", "GET /compare",
)  # fmt: skip
TOKEN = "a-token-of-the-fuzzer"


class Asked:
    """A service in this process, started when it is first asked."""

    def __init__(self, run: Path, routes: tuple[str, ...] = ROUTES) -> None:
        self._run, self._routes = run, routes
        self._loop: asyncio.AbstractEventLoop | None = None

    def read(self, content: bytes, folder: Path) -> None:
        """Send a request; an answer that blames the service is an `AssertionError`, a refusal a `QuestionError`."""
        if not content:
            return
        method, _, path = self._routes[content[0] % len(self._routes)].partition(" ")
        body, query = (content[1:], b"") if method == "POST" else (b"", content[1:])
        status, answer = self._ask(method, f"{API}{path}", query, body)
        assert 200 <= status < 500 or status == 503, f"{method} {path}: {status} {answer[:200]!r}"
        json.loads(answer)
        if status != 200:
            raise QuestionError(f"{status}")

    def _ask(self, method: str, path: str, query: bytes, body: bytes) -> tuple[int, bytes]:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._service = Service([self._run], Settings(token=TOKEN, load_seconds=0))
            self._loop.run_until_complete(self._start())
        return self._loop.run_until_complete(asyncio.wait_for(self._answer(method, path, query, body), SECONDS))

    async def _start(self) -> None:
        self._alive = self._service.api.router.lifespan_context(self._service.api)
        await self._alive.__aenter__()
        while not self._service.catalog.runs:
            await asyncio.sleep(0.05)

    async def _answer(self, method: str, path: str, query: bytes, body: bytes) -> tuple[int, bytes]:
        headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {TOKEN}".encode())]
        headers += [(b"content-type", b"application/json")] if method == "POST" else []
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "query_string": query, "headers": headers, "scheme": "http", "root_path": "",
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2),
        }  # fmt: skip
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        await self._service.app(scope, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def api_target(run: Path) -> Target:
    """Return the API over a run."""
    question = example_question(run)
    query = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in question.items())
    event = f"{question['subject']} {question['predicate']} state 1 {question['time']}"
    bodies: list[dict[str, Any]] = [
        {**question, "top": 3, "already_known": "omit", "type": ["republic"], "where": ["aliases=land 2"]},
        {**question, "top": 1, "without": [event, "visits"], "with": [event], "competitor": "state 3", "full": True},
        {"questions": [question, {**question, "time": None}], "top": 2},
        {**question, "left": "run", "right": "run", "as_of": question["time"], "by": "known"},
        {"subject": question["subject"], "steps": 3, "top": 2, "reasons": 1},
    ]
    texts = [[json.dumps(body).encode()] for body in bodies]
    queries = [
        f"{query}&top=3&type=republic", f"{query}&slot=time", "prefix=sta&limit=3&offset=1",
        "entity=state+1&limit=2&from=2020-01-02", "bins=4&predicate=visits", "entity=state+1&other=state+2",
        "head=visits&body=sues&pattern=follows&min_confidence=0.5", f"{query}&left=run&right=run",
    ]  # fmt: skip
    return Target("api: questions", chosen([*texts, *([one.encode()] for one in queries)]), Asked(run).read, 4)


def event_target(run: Path) -> Target:
    """Return the route that adds events, to a run of its own."""
    asked = Asked(run, ("POST /runs/run/events",))
    event = {"subject": "state 1", "predicate": "visits", "object": "state 2", "time": "2020-03-01"}
    bodies = [{"events": [event]}, {"events": [{**event, "known": "2020-03-02", "object": "state 99"}]}]
    return Target("api: events", chosen([[json.dumps(body).encode() for body in bodies]]), asked.read)
