"""What one client may hold, and every limit that is set through uvicorn, FastAPI or httptools: with real sockets."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from live_service import Live, wait_for

from foretime.service import guard, protocol, server
from foretime.service.app import Service
from foretime.service.protocol import network_of
from foretime.service.settings import KEEP_ALIVE_SECONDS, SECONDS_TO_FINISH, Settings

QUESTION = {"subject": "state 0", "predicate": "visits", "time": "2020-05-01"}
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
FACTS = b"GET /api/v1/runs/small/facts?limit=500 HTTP/1.1\r\nHost: localhost\r\n\r\n"
NEIGHBOUR = "127.0.0.2"
"""Another address of this machine; systems other than Linux have only one."""


def connected(live: Live, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", live.port), timeout=120, source_address=(source, 0))


def asked(connection: socket.socket, words: bytes = HEALTH) -> bytes:
    """Return the whole answer: it is an object of JSON, which may come after its head."""
    connection.sendall(words)
    found = b""
    while not found.endswith(b"}") and (part := connection.recv(65536)):
        found += part
    return found


def until_closed(connection: socket.socket) -> bytes:
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except ConnectionError:
        pass
    return found


@contextmanager
def open_connections(live: Live, count: int, words: bytes) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        found = []
        for _ in range(count):
            found.append(stack.enter_context(connected(live)))
            if words == HEALTH:
                assert asked(found[-1]).startswith(b"HTTP/1.1 200")
            else:
                found[-1].sendall(words)
        yield found


def held(live: Live) -> int:
    return len(live._server.server_state.connections)


def test_eight_hundred_idle_connections_of_one_address_lock_nobody_out(live_with):
    live = live_with()
    with open_connections(live, 800, HEALTH):
        assert held(live) <= live.service.settings.connections == 200
        with connected(live) as one:  # the same address, with more than it may have
            assert asked(one).startswith(b"HTTP/1.1 200")
        with connected(live, NEIGHBOUR) as other:
            assert asked(other).startswith(b"HTTP/1.1 200")
        assert live.get("/runs/small/complete", **QUESTION).status_code == 200
    assert 'foretime_refused_total{reason="idle"}' in live.client.get("/metrics").text


def test_idle_connections_of_many_addresses_make_room_too(live_with, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 20)
    live = live_with()
    with ExitStack() as stack:
        for number in range(2, 42):
            assert asked(stack.enter_context(connected(live, f"127.0.0.{number}"))).startswith(b"HTTP/1.1 200")
        assert held(live) <= 20


def test_the_connection_that_is_idle_longest_is_closed(live_with):
    live = live_with(connections=3)
    with open_connections(live, 3, HEALTH) as (first, second, third):
        assert asked(first).startswith(b"HTTP/1.1 200")  # so that the second is the oldest
        with connected(live) as one:
            assert asked(one).startswith(b"HTTP/1.1 200")
            assert until_closed(second) == b""
            for kept in (first, third):
                assert asked(kept).startswith(b"HTTP/1.1 200")


def test_an_address_that_is_busy_on_all_its_connections_is_refused_and_others_are_not(live_with):
    live = live_with(connections=3)
    with open_connections(live, 3, HEALTH[:-2]):  # heads without an end
        wait_for(lambda: held(live) == 3)
        with connected(live) as one:
            assert until_closed(one).startswith(b"HTTP/1.1 503")
        with connected(live, NEIGHBOUR) as other:
            assert asked(other).startswith(b"HTTP/1.1 200")


def test_silent_connections_make_room_after_a_while(live_with, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(protocol, "SILENT_SECONDS", 1_000.0)
    live = live_with(connections=3)
    with open_connections(live, 3, b""):
        wait_for(lambda: held(live) == 3)
        with connected(live) as one:  # they may only just have come
            assert until_closed(one).startswith(b"HTTP/1.1 503")
        # the clock of the loop counts whole milliseconds: in the same one, no time has gone by
        monkeypatch.setattr(protocol, "SILENT_SECONDS", -1.0)
        with connected(live) as one:
            assert asked(one).startswith(b"HTTP/1.1 200")


def test_what_a_client_says_of_its_address_is_not_believed(live_with):
    live = live_with(connections=1)
    words = HEALTH[:-2] + b"X-Forwarded-For: 10.1.2.3\r\nForwarded: for=10.1.2.3\r\n\r\n"
    with open_connections(live, 1, HEALTH[:-2]), connected(live) as one:
        wait_for(lambda: held(live) >= 1)
        one.sendall(words)
        assert until_closed(one).startswith(b"HTTP/1.1 503")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("127.0.0.1", "127.0.0.2", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
        ("", "", True),
    ],
)
def test_whoever_has_an_address_of_ipv6_has_its_whole_network(one: str, other: str, same: bool):
    assert (network_of(one) == network_of(other)) is same


def test_a_connection_without_a_next_request_is_closed(live_with, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "KEEP_ALIVE_SECONDS", 0.2)
    live = live_with()
    with connected(live) as connection:
        assert asked(connection).startswith(b"HTTP/1.1 200")
        assert until_closed(connection) == b""


@pytest.mark.parametrize("last", [FACTS, FACTS[:-2] + b"Connection: close\r\n\r\n"])
def test_a_client_that_never_reads_is_not_waited_for(live_with, monkeypatch: pytest.MonkeyPatch, last: bytes):
    monkeypatch.setattr(protocol, "KEEP_ALIVE_SECONDS", 0.3)
    monkeypatch.setattr(server, "KEEP_ALIVE_SECONDS", 0.3)
    live = live_with()
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", live.port))
        connection.sendall(FACTS * 99 + last)
        wait_for(lambda: live._server.server_state.total_requests > 1)
        wait_for(lambda: held(live) == 0)  # that of the client of the test is closed as well
    assert "foretime_requests_under_way 1.0" in live.client.get("/metrics").text


def test_no_more_requests_are_under_way_than_are_allowed(live_with, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guard, "REQUESTS_AT_ONCE", 3)
    live = live_with()
    with ThreadPoolExecutor(3) as pool, live.busy():
        waiting = [pool.submit(live.get, "/runs/small/complete", **QUESTION) for _ in range(3)]
        wait_for(lambda: len(live.service.models._jobs) == 3)
        response = httpx.get(f"http://127.0.0.1:{live.port}/healthz")
        assert (response.status_code, response.json()["error"]["code"]) == (503, "overloaded")
    assert [one.result().status_code for one in waiting] == [200] * 3
    assert 'foretime_refused_total{reason="requests"} 1.0' in live.client.get("/metrics").text


def test_a_websocket_is_not_opened(live: Live):
    words = HEALTH[:-2] + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n"
    with connected(live) as connection:
        assert asked(connection, words).startswith(b"HTTP/1.1 200")


def test_no_path_leads_to_another(live: Live):
    response = live.client.get("/api/v1/runs/", follow_redirects=False)
    assert response.status_code == 404


def test_uvicorn_is_told_what_the_document_says(runs_folder: Path):
    service = Service([runs_folder], Settings())
    config = server.server_config(service)
    config.load()
    assert config.timeout_keep_alive == KEEP_ALIVE_SECONDS == 30
    assert config.timeout_graceful_shutdown == SECONDS_TO_FINISH == 30
    assert config.loaded_app is service.app, "nothing stands before the guard that would believe a proxy"
    assert config.ws_protocol_class is None
    assert (config.server_header, config.access_log, config.lifespan) == (False, False, "on")
    assert issubclass(config.http_protocol_class, protocol.BoundedProtocol)  # type: ignore[arg-type]
    assert config.http_protocol_class.most_of_one == Settings().connections  # type: ignore[union-attr]
