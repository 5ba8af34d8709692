"""A thousand requests that mean no good, and whatever the schema allows: never a 5xx, and no growth of memory."""

import json
import random
import socket
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from live_service import Live
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

REAL: list[str] = []
"""Names and times of the graph; the test fills it."""
REQUESTS = 1_000
EXAMPLES = 8
GROWTH_AT_MOST = 40e6
SIGNS = [
    "é", "ß", "İ", "\u202e", "\u0000", "\ud800", "💥", "ﷺ", "Z͑ͫ̓", "\ufeff", "%", "'", '"', "<script>", "\\", "{{7*7}}",
]  # fmt: skip
PATHS = ["complete", "explain", "entities", "predicates", "rules", "facts", "timeline", "neighbours", "report", "batch"]
FIELDS = [
    "subject", "predicate", "object", "time", "start", "end", "top", "already_known", "competitor", "slot", "prefix",
    "type", "where",
    "limit", "offset", "head", "body", "pattern", "min_confidence", "entity", "other", "from", "to", "bins", "x",
]  # fmt: skip
TRAVERSALS = [
    "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/config.toml", "....//....//etc", "/etc/passwd",
    "..\\..\\windows", "%00", "small/../world", ".", "..", "world%2f..%2fworld", "~root", "file:///etc/passwd",
]  # fmt: skip


def strange_text(dice: random.Random) -> str:
    return "".join(dice.choice(SIGNS) for _ in range(dice.randrange(1, 12)))


def strange_value(dice: random.Random, depth: int = 0) -> object:
    kinds: list[Callable[[], object]] = [
        lambda: strange_text(dice),
        lambda: dice.choice([0, -1, 10**30, 1e308, -0.0, True, None, float("inf")]),
        lambda: "x" * dice.choice([501, 5_000, 50_000]),
        lambda: "2024-01-04",
        lambda: "99999999-99-99",
        lambda: "9" * 60,
    ]
    if depth < 3:
        kinds.append(lambda: [strange_value(dice, depth + 1) for _ in range(3)])
        kinds.append(lambda: {strange_text(dice): strange_value(dice, depth + 1)})
    return dice.choice(kinds)()


def huge(dice: random.Random, host: str) -> bytes:
    size = dice.choice([5_000, 20_000, 300_000])
    kind = dice.randrange(4)
    if kind == 0:
        return f"GET /api/v1/runs/world/entities?prefix={'a' * size} HTTP/1.1\r\n{host}\r\n\r\n".encode()
    if kind == 1:
        return f"GET /api/v1/runs HTTP/1.1\r\n{host}\r\nX-Long: {'b' * size}\r\n\r\n".encode()
    if kind == 2:
        return posted("/api/v1/runs/world/complete", b'{"subject": "' + b"c" * size + b'"}', host)
    many = json.dumps({"questions": [{"subject": "d"}] * (size // 20)}).encode()
    return posted("/api/v1/runs/world/batch", many, host)


def malformed(dice: random.Random, host: str) -> bytes:
    bodies = [
        b"{", b"\xff\xfe\x00", b"[" * 50_000, b"null", b"[]", b'"x"', b"{'a': 1}", b'{"top": 1e999}', b"{}" * 100,
        b"\x00", b'{"top": ' + b"9" * 5_000 + b"}", b'{"subject": "\\ud800"}', b'{"a": NaN}', b'{"questions": {}}',
    ]  # fmt: skip
    lines = [
        b"GARBAGE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\n" + host.encode() + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"POST /api/v1/runs/world/complete HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"BREW /api/v1/runs HTTP/1.1\r\n" + host.encode() + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    ]
    if dice.random() < 0.3:
        return dice.choice(lines)
    return posted(f"/api/v1/runs/world/{dice.choice(PATHS)}", dice.choice(bodies), host)


def strange(dice: random.Random, host: str) -> bytes:
    chosen = dice.sample(FIELDS, dice.randrange(1, 8))
    if dice.random() < 0.2:  # real names, in any place
        mixed = {slot: dice.choice(REAL) for slot in dice.sample(FIELDS[:6], 3)}
        return posted(f"/api/v1/runs/world/{dice.choice(PATHS[:2])}", json.dumps(mixed).encode(), host)
    if dice.random() < 0.5:
        body = json.dumps({field: strange_value(dice) for field in chosen}).encode()
        return posted(f"/api/v1/runs/world/{dice.choice(PATHS)}", body, host)
    query = "&".join(f"{field}={quote(strange_text(dice), errors='surrogatepass')}" for field in chosen)
    path = dice.choice([*PATHS, "rules/-1/groundings", "rules/9999999999999999999/groundings", "rules/x/groundings"])
    return f"GET /api/v1/runs/world/{path}?{query} HTTP/1.1\r\n{host}\r\n\r\n".encode()


def traversal(dice: random.Random, host: str) -> bytes:
    bad = dice.choice(TRAVERSALS)
    beside = [f"/{bad}", f"/static/{bad}", f"/runs/{bad}", f"/api/v1/runs/{bad}", f"/api/v1/runs/{bad}/complete"]
    within = [f"/api/v1/compare?left={bad}&right={bad}", f"/api/v1/runs/world/facts?entity={bad}"]
    path = dice.choice(beside + within)
    return f"GET {path} HTTP/1.1\r\n{host}\r\n\r\n".encode()


def posted(path: str, body: bytes, host: str) -> bytes:
    head = f"POST {path} HTTP/1.1\r\n{host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def status_of(port: int, request: bytes) -> int:
    """Send bytes as they are and return the status, 0 if the connection was closed without one."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused before it was whole; the answer may be there all the same
        try:
            answer = connection.makefile("rb").read(200)
        except OSError:
            return 0
    assert b"root:" not in answer
    return int(answer.split()[1]) if answer.startswith(b"HTTP/") else 0


def test_a_thousand_hostile_requests_break_nothing_and_leave_nothing(process):
    started = process()
    REAL[:] = filter(None, httpx.get(f"{started.url}/api/v1/runs/world").json()["example"].values())
    dice, kinds = random.Random(7), (huge, malformed, strange, traversal)
    host = f"Host: 127.0.0.1:{started.port}"
    for number in range(REQUESTS // 4):  # what is loaded at first use is loaded now
        status_of(started.port, kinds[number % 4](dice, host))
    before = started.resident()
    seen: Counter[int] = Counter()
    for number in range(REQUESTS):
        request = kinds[number % 4](dice, host)
        status = status_of(started.port, request)
        seen[status] += 1
        assert status < 500, (status, request[:300])
    assert started.resident() - before < GROWTH_AT_MOST
    assert sum(seen[status] for status in (400, 404, 413, 414, 422)) > REQUESTS / 2
    assert started.stop() == 0
    assert not [line for line in started.lines if "traceback" in line]


def with_real_names(case: Any, fact: dict[str, str], left_out: str) -> None:
    """Put a real question, real names and a rule that there is in the place of what was drawn; the rest stays."""
    names = {"entity": "subject", "other": "object", "predicate": "predicate", "head": "predicate", "body": "predicate"}
    question = {slot: value for slot, value in fact.items() if slot != left_out}
    if "rule" in (case.path_parameters or {}):
        case.path_parameters["rule"] = 0
    given = case.body if case.method.upper() == "POST" else case.query
    if not isinstance(given, dict) or case.path.endswith(("/entities", "/predicates", "/groundings")):
        return
    if case.path.endswith("/batch"):
        filled = {**given, "questions": [question for _ in given["questions"]]}
    elif case.path.endswith(("/complete", "/explain", "/compare")):
        kept = {field: value for field, value in given.items() if field in ("top", "already_known", "slot")}
        runs = {"left": "world", "right": "world"} if case.path.endswith("/compare") else {}
        filled = {**kept, **question, **runs}
    else:
        kept = {field: value for field, value in given.items() if field not in ("from", "to")}
        filled = {field: fact[names[field]] if field in names else value for field, value in kept.items()}
        if "other" in filled:
            filled["entity"] = fact["subject"]
    if case.method.upper() == "POST":
        case.body = filled
    else:
        case.query = filled


def answered_as_the_schema_says(live: Live, operation: Any, mode: GenerationMode, fact: dict[str, str]) -> Counter[int]:
    seen: Counter[int] = Counter()

    @settings(
        max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        if "run" in (case.path_parameters or {}):
            case.path_parameters["run"] = "world"  # any other name is a 404
        if mode is GenerationMode.POSITIVE and seen.total() % 2:  # every other one is left as it was drawn
            with_real_names(case, fact, list(fact)[seen.total() // 2 % len(fact)])
        response = case.call(base_url=f"http://127.0.0.1:{live.port}")
        seen[response.status_code] += 1
        case.validate_response(response, checks=[not_a_server_error, response_schema_conformance])

    ask()
    return seen


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_whatever_the_schema_allows_or_forbids_is_answered_as_it_says(live: Live, mode: GenerationMode):
    schema = schemathesis.openapi.from_dict(live.found("/openapi.json"))
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 15
    fact = {name: value for name, value in live.found("/runs/world")["example"].items() if value is not None}
    for operation in operations:
        try:
            seen = answered_as_the_schema_says(live, operation, mode, fact)
        except Unsatisfiable:  # a path without parameters cannot be asked wrongly
            assert mode is GenerationMode.NEGATIVE
            assert not [*operation.query, *operation.body]
            continue
        if "/events" in operation.path and (mode is GenerationMode.POSITIVE or not operation.body):
            assert seen[403] == seen.total(), "what writes needs a token, and this service has none"
        elif operation.path.endswith("/forecast"):
            assert seen[422], "this run does not forecast"
            assert not seen[200]
        elif mode is GenerationMode.POSITIVE:
            assert seen[200] >= max(1, seen.total() // 4), (operation.label, seen)
        elif not operation.path.endswith(("/runs", "/{run}", "/report")) and operation.path.startswith("/api"):
            assert seen[422] or seen[400], (operation.label, seen)
