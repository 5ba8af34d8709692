"""A thousand requests that mean no good, and whatever the schema allows: never a 5xx, and no growth of memory."""

import random
from collections import Counter
from typing import Any

import httpx
import pytest
import schemathesis
from benchmarks.fuzz.answering import Came, exchange
from benchmarks.fuzz.hostile import KINDS, REFUSED, Door, Sent
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from live_service import Live
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

REQUESTS = 1_000
EXAMPLES = 8
GROWTH_AT_MOST = 40e6


def test_a_thousand_hostile_requests_break_nothing_and_leave_nothing(process):
    """`make check-fuzz LONG=1` sends a hundred thousand, of the same kinds, to a service with a token too."""
    started = process()
    example = httpx.get(f"{started.url}/api/v1/runs/world").json()["example"]
    names = tuple(example[slot] for slot in ("subject", "predicate", "object", "time"))
    door, kinds = Door(f"127.0.0.1:{started.port}", "", "world", names), list(KINDS.values())
    for number in range(REQUESTS // 4):  # what is loaded at first use is loaded now
        exchange(started.port, kinds[number % len(kinds)](random.Random(number), door))
    before = started.resident()
    seen: Counter[int] = Counter()
    for number in range(REQUESTS):
        sent = kinds[number % len(kinds)](random.Random(number), door)
        came = exchange(started.port, sent)
        seen.update(came.statuses)
        assert not came.fault(sent), (came, sent)
    assert started.resident() - before < GROWTH_AT_MOST
    assert sum(seen[status] for status in (400, 404, 405, 413, 414, 422)) > REQUESTS / 2
    assert seen[200] > REQUESTS / 50
    assert started.stop() == 0
    assert not [line for line in started.lines if "traceback" in line]


def test_what_must_not_come_back_would_be_seen():
    inside, outside = Sent((b"",)), Sent((b"",), inside=False)
    assert Came((200, 404), b"").fault(inside) == ""
    assert Came((503,), b"retry-after: 1").fault(inside) == ""
    assert Came((503,), b"").fault(inside)
    assert Came((200, 500), b"").fault(inside)
    assert Came((200,), b"root:x:0:0").fault(inside)
    assert Came((401, 200), b"").fault(outside)
    assert all(Came((status,), b"retry-after: 1").fault(outside) == "" for status in REFUSED - {501})


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
