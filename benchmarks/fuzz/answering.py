"""Sending bytes as they are, and reading every answer that comes back."""

from __future__ import annotations

import re
import socket
import struct
from typing import NamedTuple

from benchmarks.fuzz.hostile import REFUSED, Sent

SECONDS = 40.0
_STATUS = re.compile(rb"^HTTP/1\.[01] (\d{3}) ", re.MULTILINE)


class Came(NamedTuple):
    """What came back: the statuses of all answers, 0 alone where there was none, and the bytes."""

    statuses: tuple[int, ...]
    content: bytes

    def fault(self, sent: Sent) -> str:
        """Return what an answer should not have been, nothing if all is well."""
        bad = [status for status in self.statuses if status >= 500 and status not in (501, 503)]
        if bad or 501 in self.statuses:
            return f"status {(bad or [501])[0]}"
        if 503 in self.statuses and b"retry-after:" not in self.content.lower():
            return "503 without Retry-After"
        if b"root:" in self.content or b"[training]" in self.content:
            return "a file came back"
        if not sent.inside and not REFUSED.issuperset(self.statuses):
            return f"let in without the token: {self.statuses}"
        return ""


def exchange(port: int, sent: Sent, source: str = "127.0.0.1") -> Came:
    """Send a request from an address of this machine, and return what came back."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS, source_address=(source, 0)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for piece in sent.pieces:
                connection.sendall(piece)
            if sent.ends == "abort":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return Came((0,), b"")
            if sent.ends == "half":
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused before it was whole; the answer may be there all the same
        content = read_all(connection)
    return Came(tuple(int(found) for found in _STATUS.findall(content)) or (0,), content)


def read_all(connection: socket.socket) -> bytes:
    """Return everything until the other side closes; whoever keeps a client waiting for ever is a `TimeoutError`."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)
