"""Clients that leave before their answer is there: one line of the log each, and nothing that looks like a bug."""

import contextlib
import itertools
import json
import logging
import socket
import struct
import time

import pytest
from live_service import Live, wait_for

HOST = b"Host: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"
QUESTION = b"/api/v1/runs/small/complete"
FACTS = b"GET /api/v1/runs/small/facts?limit=500 HTTP/1.1\r\n" + HOST + b"\r\n"
BATCH = json.dumps(
    {"questions": [{"subject": "state 0", "predicate": "visits", "time": "2020-05-01"}] * 100, "top": 10}
).encode()


def post(path: bytes, length: bytes) -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + JSON + length + b"\r\n\r\n"


HALVES = {
    "a head": FACTS[:30],
    "a body": post(QUESTION, b"Content-Length: 99") + b"{",
    "a body that is waited for": post(QUESTION, b"Expect: 100-continue\r\nContent-Length: 99"),
    "a large body": post(QUESTION, b"Content-Length: 200000") + b" " * 150_000,
    "a chunk": post(QUESTION, b"Transfer-Encoding: chunked") + b"30000\r\n" + b" " * 150_000,
    "a body that is too large": post(QUESTION, b"Transfer-Encoding: chunked") + b"f0000\r\n" + b" " * 550_000,
}
WHOLE = {
    "a question": b"GET "
    + QUESTION
    + b"?subject=state+0&predicate=visits&time=2020-05-01 HTTP/1.1\r\n"
    + HOST
    + b"\r\n",
    "a batch": post(b"/api/v1/runs/small/batch", b"Content-Length: %d" % len(BATCH)) + BATCH,
    "a pipeline": FACTS * 50,
}
WAITS = (0.0, 0.002, 0.02, 0.1)


def leave(live: Live, words: bytes, wait: float, reset: bool) -> None:
    """Send something, and close the connection after a while, or reset it."""
    connection = socket.create_connection(("127.0.0.1", live.port))
    with contextlib.suppress(OSError):  # refused already
        connection.sendall(words)
    time.sleep(wait)
    if reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("kind", [*HALVES, *WHOLE])
def test_a_client_that_leaves_is_a_line_and_no_bug(
    live: Live, kind: str, reset: bool, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    for wait in WAITS:
        leave(live, {**HALVES, **WHOLE}[kind], wait, reset)
    wait_for(lambda: "foretime_requests_under_way 1.0" in live.client.get("/metrics").text)
    records = [one for one in caplog.records if one.name.startswith(("foretime", "uvicorn", "asyncio"))]
    assert [one.getMessage() for one in records if one.levelno >= logging.WARNING] == []
    assert [one for one in records if one.exc_info] == []
    requests = [one for one in records if one.getMessage() == "request"]
    assert len({one.id for one in requests}) == len(requests)
    if kind == "a body":
        assert {one.status for one in requests} <= {408, 499}
        assert 499 in {one.status for one in requests}


def test_whoever_leaves_while_the_answer_is_written_frees_the_place(live: Live, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    for _ in itertools.repeat(None, 20):
        with socket.create_connection(("127.0.0.1", live.port)) as connection:
            connection.sendall(FACTS * 20)
            connection.recv(1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_for(lambda: "foretime_requests_under_way 1.0" in live.client.get("/metrics").text)
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []
