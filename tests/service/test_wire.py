"""What comes before a request is complete: heads without an end, connections without a word, too many of them.

uvicorn has no setting against any of it, which is why `foretime.service.protocol` subclasses its protocol.
"""

import json
import socket
import time
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from live_service import Live, wait_for

from foretime.service import protocol
from foretime.service.settings import HEAD_BYTES


def test_uvicorn_has_an_upper_bound_because_its_protocol_is_subclassed():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = next(one for one in project["optional-dependencies"]["serve"] if one.startswith("uvicorn"))
    most = tuple(map(int, bounds.partition("<")[2].split(".")))
    assert tuple(map(int, version("uvicorn").split(".")[:2])) < most
    used = {"connection_made", "connection_lost", "data_received", "on_message_begin", "on_headers_complete"}
    used |= {"on_message_complete", "on_response_complete", "send_400_response"}
    used |= {"timeout_keep_alive_handler", "pause_writing", "resume_writing"}
    assert used <= vars(protocol.HttpToolsProtocol).keys()


def connected(live: Live) -> socket.socket:
    return socket.create_connection(("127.0.0.1", live.port), timeout=120)


def all_of(connection: socket.socket) -> bytes:
    """Return everything that comes until the other side closes."""
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except ConnectionError:
        pass
    return found


def error_in(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-security-policy" in head
    assert b"x-request-id" in head
    return int(head.split()[1]), json.loads(body)["error"]["code"]


@pytest.mark.parametrize(
    ("begin", "slot", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\nX-Endless: ", b"a" * 4096, 431),
        (b"GET /healthz HTTP/1.1\r\n", b"X-Many: b\r\n" * 400, 431),
        (b"GET /", b"c" * 4096, 414),
        (b"GET /healthz HTTP/1.1\r\nX", b"d" * 4096, 431),
    ],
)
def test_a_head_without_an_end_is_refused(live: Live, begin: bytes, slot: bytes, status: int):
    sent = 0
    with connected(live) as connection:
        connection.sendall(begin)
        connection.settimeout(0.02)
        answer = b""
        while not answer and sent < 100 * HEAD_BYTES:
            try:
                connection.sendall(slot)
                sent += len(slot)
                answer = connection.recv(65536)
            except TimeoutError:
                continue
        connection.settimeout(120)
        assert error_in(answer + all_of(connection)) == (status, "too_large")
    assert sent < 20 * HEAD_BYTES  # a server that has no processor for seconds reads as much at once
    assert live.client.get("/healthz").status_code == 200


def test_a_large_head_that_comes_at_once_is_refused(live: Live):
    with connected(live) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: " + b"a" * HEAD_BYTES + b"\r\n\r\n")
        assert error_in(all_of(connection)) == (431, "too_large")


@pytest.mark.parametrize(
    ("words", "expected"),
    [(b"", b""), (b"GET /healthz HTTP/1.1\r\nHost: ", b"HTTP/1.1 408"), (b"\r\n", b"HTTP/1.1 408")],
)
def test_a_silent_connection_is_closed(live: Live, monkeypatch: pytest.MonkeyPatch, words: bytes, expected: bytes):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.5)
    begun = time.monotonic()
    with connected(live) as connection:
        connection.sendall(words)
        assert all_of(connection).startswith(expected)
    assert time.monotonic() - begun > 0.4


def test_the_next_request_on_a_connection_may_not_be_slow_either(live: Live, monkeypatch: pytest.MonkeyPatch):
    whole = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\n\r\n".encode()
    with connected(live) as connection:
        for _ in range(3):  # a connection that speaks is kept for longer than a head may take
            connection.sendall(whole)
            answer = b""
            while not answer.endswith(b"}"):  # its body may come after its head
                answer += (part := connection.recv(65536))
                assert part
            assert answer.startswith(b"HTTP/1.1 200")
            monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
            time.sleep(0.2)
        connection.sendall(whole[:20])
        assert all_of(connection).startswith(b"HTTP/1.1 408")


def test_no_more_connections_are_held_than_are_allowed(live_with, monkeypatch: pytest.MonkeyPatch):
    live = live_with()
    held = [connected(live) for _ in range(2)]
    for connection in held:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
    held.append(connected(live))
    held[-1].sendall(b"GET /healthz HTTP/1.1\r\n")
    live.client.get("/healthz", headers={"Connection": "close"})
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 3)
    with connected(live) as connection:
        answer = all_of(connection)
        assert error_in(answer) == (503, "overloaded")
        assert b"retry-after: 1" in answer
    held.pop().close()
    wait_for(lambda: len(live._server.server_state.connections) < 3)
    with connected(live) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert all_of(connection).startswith(b"HTTP/1.1 200")
    assert 'foretime_refused_total{reason="connections"} 1.0' in live.client.get("/metrics").text


@pytest.mark.parametrize("words", [b"GARBAGE\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/9.9\r\n\r\n"])
def test_what_is_not_http_is_malformed(live: Live, words: bytes):
    with connected(live) as connection:
        connection.sendall(words)
        assert error_in(all_of(connection)) == (400, "malformed")
