"""Requests that mean no good: what they send, how they end, and what may come back."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

SIGNS = [
    "é", "ß", "İ", "\u202e", "\u0000", "\ud800", "💥", "ﷺ", "Z͑ͫ̓", "\ufeff", "%", "'", '"', "<script>", "\\", "{{7*7}}",
]  # fmt: skip
PATHS = ["complete", "explain", "entities", "predicates", "rules", "facts", "timeline", "neighbours", "report", "batch"]
POSTED = ["complete", "explain", "batch", "forecast"]
FIELDS = [
    "subject", "predicate", "object", "time", "start", "end", "top", "already_known", "competitor", "slot", "prefix",
    "type", "where", "limit", "offset", "head", "body", "pattern", "min_confidence", "entity", "other", "from", "to",
    "bins", "x", "without", "with", "past_only", "as_of", "by", "steps", "reasons", "full", "left", "right", "questions",
]  # fmt: skip
TRAVERSALS = [
    "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/config.toml", "....//....//etc", "/etc/passwd",
    "..\\..\\windows", "%00", "small/../world", ".", "..", "world%2f..%2fworld", "~root", "file:///etc/passwd",
    "..;/config.toml", "%252e%252e%252fconfig.toml", "config.toml", "best.safetensors", "//etc/passwd", "\x7f", "%c0%ae",
]  # fmt: skip
TIMES = [
    "-9999999-01-01", "999999-12-31", "0000-00-00", "9223372036854775807", "-9223372036854775809", "2024-02-30",
    "2020-05-01T25:61", "1e400", "####", "195#", "2020-W99", "2020-05-01" + " " * 50, "\u0662\u0660\u0662\u0660-01-01", "?",
]  # fmt: skip
NUMBERS = [0, -1, 1, 10**9, 2**63, 2**64, -(2**63) - 1, 10**30, 1e308, 1e-320, -0.0, float("inf"), float("nan"), True]
EXTRAS = {
    "complete": ("top", "already_known", "as_of", "by", "past_only", "type", "where", "without", "with", "time"),
    "explain": ("top", "already_known", "as_of", "by", "past_only", "type", "where", "without", "with", "competitor", "slot"),
    "forecast": ("top", "start", "steps", "reasons"),
}  # fmt: skip
"""The fields, beside those of a fact, that each question may have."""
METHODS = [
    "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "OPTIONS", "HEAD", "BREW", "get", "GE T", "P" * 300, "", "M-SEARCH",
]  # fmt: skip
SECRETS = ["/api/v1/runs", "/api/v1/runs/{run}", "/api/v1/runs/{run}/complete?subject=a", "/metrics", "/api/v1/compare"]
"""Paths that need the token."""
REFUSED = frozenset({0, 400, 401, 403, 404, 405, 408, 411, 413, 414, 415, 421, 422, 426, 431, 501, 503})


class Door(NamedTuple):
    """The service that is asked: what every head has, the token, the name of a run, and names that it knows."""

    host: str
    token: str
    run: str
    names: tuple[str, ...]

    @property
    def head(self) -> str:
        """The headers of a request that is let in."""
        return f"Host: {self.host}\r\nConnection: close\r\n{self.authorization}".removesuffix("\r\n")

    @property
    def authorization(self) -> str:
        """The header with the token, if there is one."""
        return f"Authorization: Bearer {self.token}\r\n" if self.token else ""

    def path(self, end: str) -> str:
        """Return a path of the run."""
        return f"/api/v1/runs/{self.run}/{end}"

    def got(self, path: str) -> bytes:
        """Return a GET."""
        return f"GET {path} HTTP/1.1\r\n{self.head}\r\n\r\n".encode("utf-8", "surrogatepass")

    def posted(self, path: str, body: bytes, kind: str = "application/json") -> bytes:
        """Return a POST."""
        lines = f"POST {path} HTTP/1.1\r\n{self.head}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        return lines.encode() + body


class Sent(NamedTuple):
    """What is sent, in pieces, and how it ends."""

    pieces: tuple[bytes, ...]
    ends: str = "wait"
    """`wait` for the answer, `half`-close first, or `abort` without reading."""
    inside: bool = True
    """Whether it may be let in: without the token it may not."""


def strange_text(dice: random.Random) -> str:
    """Return text of odd characters."""
    return "".join(dice.choice(SIGNS) for _ in range(dice.randrange(1, 12)))


def strange_value(dice: random.Random, depth: int = 0) -> object:
    """Return a value of JSON that no field expects."""
    kinds: list[Callable[[], object]] = [
        lambda: strange_text(dice),
        lambda: dice.choice([*NUMBERS, None]),
        lambda: "x" * dice.choice([501, 5_000, 50_000]),
        lambda: "2024-01-04",
        lambda: dice.choice(TIMES),
        lambda: "9" * 60,
    ]
    if depth < 3:
        kinds.append(lambda: [strange_value(dice, depth + 1) for _ in range(3)])
        kinds.append(lambda: {strange_text(dice): strange_value(dice, depth + 1)})
    return dice.choice(kinds)()


def huge(dice: random.Random, door: Door) -> Sent:
    """Send too much: in the URL, in a header, in a name, in a batch."""
    size = dice.choice([5_000, 20_000, 300_000])
    kind = dice.randrange(5)
    if kind == 0:
        return Sent((door.got(door.path(f"entities?prefix={'a' * size}")),))
    if kind == 1:
        return Sent((f"GET /api/v1/runs HTTP/1.1\r\n{door.head}\r\nX-Long: {'b' * size}\r\n\r\n".encode(),))
    if kind == 2:
        return Sent((door.posted(door.path("complete"), b'{"subject": "' + b"c" * size + b'"}'),))
    if kind == 3:
        many = "".join(f"X-{number}: y\r\n" for number in range(size // 20))
        return Sent((f"GET /api/v1/runs HTTP/1.1\r\n{door.head}\r\n{many}\r\n".encode(),))
    batch = json.dumps({"questions": [{"subject": "d"}] * (size // 20)}).encode()
    return Sent((door.posted(door.path("batch"), batch),))


def malformed(dice: random.Random, door: Door) -> Sent:
    """Send what is no HTTP, or no JSON."""
    bodies = [
        b"{", b"\xff\xfe\x00", b"[" * 50_000, b"null", b"[]", b'"x"', b"{'a': 1}", b'{"top": 1e999}', b"{}" * 100,
        b"\x00", b'{"top": ' + b"9" * 5_000 + b"}", b'{"subject": "\\ud800"}', b'{"a": NaN}', b'{"questions": {}}',
        b"", b" ", b"\xef\xbb\xbf{}", '{"subject": "a"}'.encode("utf-16"), b'{"subject": "a", "subject": 1}',
    ]  # fmt: skip
    host = door.head.encode() + b"\r\n\r\n"
    lines = [
        b"GARBAGE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\n" + host,
        b"\x16\x03\x01\x02\x00",
        b"POST /api/v1/runs/world/complete HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"BREW /api/v1/runs HTTP/1.1\r\n" + host,
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\nHost: localhost\n\n",
        b"\r\n\r\n\r\nGET / HTTP/1.0\r\n\r\n",
        b"GET http://localhost/ HTTP/1.1\r\n" + host,
        b"\x00" * 100,
    ]
    if dice.random() < 0.3:
        return Sent((dice.choice(lines),), "half")
    return Sent((door.posted(door.path(dice.choice(PATHS)), dice.choice(bodies)),))


def strange(dice: random.Random, door: Door) -> Sent:
    """Send odd values in fields that there are."""
    chosen = dice.sample(FIELDS, dice.randrange(1, 8))
    if dice.random() < 0.2:  # real names, in any place
        mixed = {slot: dice.choice(door.names) for slot in dice.sample(FIELDS[:6], 3)}
        return Sent((door.posted(door.path(dice.choice(PATHS[:2])), json.dumps(mixed).encode()),))
    if dice.random() < 0.5:
        body = json.dumps({field: strange_value(dice) for field in chosen}).encode()
        return Sent((door.posted(door.path(dice.choice([*PATHS, *POSTED])), body),))
    query = "&".join(f"{field}={quote(strange_text(dice), errors='surrogatepass')}" for field in chosen)
    path = dice.choice([*PATHS, "rules/-1/groundings", "rules/9999999999999999999/groundings", "rules/x/groundings"])
    return Sent((door.got(door.path(f"{path}?{query}")),))


def extreme(dice: random.Random, door: Door) -> Sent:
    """Ask real questions with values at their bounds, and beyond."""
    fact = dict(zip(("subject", "predicate", "object", "time"), door.names, strict=False))
    fact.pop(dice.choice(list(fact)))
    extra = {
        "top": dice.choice([1, 10, 50, 100, 101, dice.choice(NUMBERS)]),
        "already_known": dice.choice(["mark", "omit", "drop", 3]),
        "as_of": dice.choice([dice.choice(TIMES), door.names[3]]),
        "by": dice.choice(["happened", "known", ""]),
        "past_only": dice.choice([True, False, "yes", 2]),
        "type": [dice.choice([dice.choice(SIGNS), "republic", "kingdom"])] * dice.choice([1, 20, 21]),
        "where": [dice.choice([f"{dice.choice(SIGNS)}={dice.choice(SIGNS)}", "type=republic"])]
        * dice.choice([1, 20, 21]),
        "without": [" ".join(door.names)] * dice.choice([1, 20]),
        "with": [f"{door.names[2]} {door.names[1]} {door.names[0]} {dice.choice([dice.choice(TIMES), door.names[3]])}"],
        "competitor": dice.choice(door.names),
        "time": dice.choice([dice.choice(TIMES), door.names[3]]),
        "start": dice.choice(TIMES),
        "steps": dice.choice([1, 365, dice.choice(NUMBERS)]),
        "reasons": dice.choice([0, 5, dice.choice(NUMBERS)]),
        "slot": dice.choice(["subject", "predicate", "object", "time", "all"]),
    }
    kind = dice.choice(POSTED)
    if kind == "batch":
        asked: dict[str, object] = {"questions": [fact] * dice.choice([1, 5, 100, 101]), "top": dice.choice([1, 100])}
    else:
        fits = EXTRAS[kind] if dice.random() < 0.9 else tuple(extra)
        asked = fact | {name: extra[name] for name in dice.sample(fits, dice.randrange(0, 3))}
    return Sent((door.posted(door.path(kind), json.dumps(asked).encode()),))


def nested(dice: random.Random, door: Door) -> Sent:
    """Send JSON that is nested deeply, in a field or as a whole."""
    depth = dice.choice([50, 500, 5_000, 100_000])
    inner = dice.choice(["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "[" * depth])
    body = inner if dice.random() < 0.5 else f'{{"{dice.choice(FIELDS)}": {inner}}}'
    return Sent((door.posted(door.path(dice.choice(POSTED)), body.encode()),))


def traversal(dice: random.Random, door: Door) -> Sent:
    """Ask for files that are not served."""
    bad = dice.choice(TRAVERSALS)
    beside = [f"/{bad}", f"/static/{bad}", f"/runs/{bad}", f"/api/v1/runs/{bad}", f"/api/v1/runs/{bad}/complete"]
    within = [f"/api/v1/compare?left={bad}&right={bad}", door.path(f"facts?entity={bad}"), door.path(bad)]
    return Sent((door.got(dice.choice(beside + within)),))


def odd_method(dice: random.Random, door: Door) -> Sent:
    """Use methods that a path has not."""
    path = dice.choice([door.path(dice.choice(PATHS)), "/", "/healthz", "/api/v1/runs", "*", door.path("events/last")])
    method = dice.choice(METHODS)
    if method == "DELETE" and path.endswith("events/last"):
        path += "s"  # that one takes the last update back
    return Sent((f"{method} {path} HTTP/1.1\r\n{door.head}\r\n\r\n".encode(),), "half")


def odd_head(dice: random.Random, door: Door) -> Sent:
    """Send headers that contradict each other, lie, or are none."""
    length = dice.choice(["-1", "1e3", "0x10", "99999999999999999999", "5, 6", "", " 7", "18446744073709551617", "+3"])
    lines = [
        f"Content-Length: {length}",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
        "Transfer-Encoding: gzip, chunked",
        f"Transfer-Encoding: {strange_text(dice)}",
        "Expect: 100-continue",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x",
        "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
        "Content-Encoding: gzip\r\nContent-Length: 2",
        f"X-{strange_text(dice)}: {strange_text(dice)}",
        "no colon here",
        " folded: yes",
        ": no name",
        "X-Null: a\x00b",
        "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: https",
        "Range: bytes=0-,0-,0-",
        "Cookie: " + "a=b; " * 500,
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors",
        "If-None-Match: " + "*" * 900,
    ]
    chunks = ["", "{}", "ffffffffffffffff\r\n{}", "2;a=b\r\n{}\r\n0\r\n\r\n", "-1\r\n", "zz\r\n", "0\r\nX: y\r\n\r\n"]
    method = dice.choice(["GET", "POST"])
    path = dice.choice(["/healthz", "/", door.path("complete"), door.path("facts")])
    head = f"{method} {path} HTTP/1.1\r\n{door.head}\r\n{dice.choice(lines)}\r\nContent-Type: application/json\r\n\r\n"
    return Sent((f"{head}{dice.choice(chunks)}".encode("utf-8", "surrogatepass"),), "half")


def without_token(dice: random.Random, door: Door) -> Sent:
    """Ask for what needs the token without it, or with another one."""
    token = door.token
    wrong = [
        "", f"Authorization: Bearer {token[:-1]}", f"Authorization: Bearer {token}x", f"Authorization: {token}",
        f"Authorization: Basic {token}", "Authorization: Bearer", f"Authorization: Bearer {token.swapcase()}",
        f"Authorization: Bearer {token[::-1]}", f"Cookie: token={token}", f"X-Authorization: Bearer {token}",
        f"Authorization: Bearer \x00{token}", "Authorization: Bearer " + "a" * 5_000, f"authorization : Bearer {token}",
        f"Authorization: Bearer wrong\r\nAuthorization: Bearer {token}", f"Proxy-Authorization: Bearer {token}",
        "Authorization: Bearer \udcff", f"Authorization:\r\n Bearer {token}x", "Host: localhost",
    ]  # fmt: skip
    path = dice.choice(SECRETS).replace("{run}", door.run)
    odd = dice.choice(["", "", "", "?x=1", "#", "/", "%2f", ";a", "//"])
    path = dice.choice([path + odd, path.replace("/api", "//api", 1), path.replace("/v1", "/./v1"), path.upper(), path])
    body = json.dumps({"events": [dict(zip(("subject", "predicate", "object", "time"), door.names, strict=False))]})
    header = dice.choice(wrong)
    lines = f"Host: {door.host}\r\nConnection: close\r\n" + (f"{header}\r\n" if header else "")
    if dice.random() < 0.3:
        head = f"POST {door.path('events')} HTTP/1.1\r\n{lines}Content-Type: application/json\r\n"
        text = f"{head}Content-Length: {len(body.encode())}\r\n\r\n{body}"
    else:
        text = f"{dice.choice(['GET', 'HEAD', 'POST', 'DELETE'])} {path} HTTP/1.1\r\n{lines}\r\n"
    return Sent((text.encode("utf-8", "surrogateescape"),), "half", inside=not door.token)


def pipelined(dice: random.Random, door: Door) -> Sent:
    """Send several requests at once, some of them none."""
    open_head = door.head.replace("Connection: close\r\n", "")
    several = [
        f"GET {dice.choice(['/healthz', '/nothing'])} HTTP/1.1\r\n{open_head}\r\n\r\n".encode() for _ in range(9)
    ]
    last = dice.choice([malformed, strange, traversal, odd_head])(dice, door)
    return Sent((b"".join([*several[: dice.randrange(1, 10)], *last.pieces]),), "half")


def half_closed(dice: random.Random, door: Door) -> Sent:
    """Stop in the middle: the head or the body is never complete."""
    whole = dice.choice([strange, extreme, huge])(dice, door).pieces[0]
    return Sent((whole[: dice.randrange(len(whole))],), "half")


def aborted(dice: random.Random, door: Door) -> Sent:
    """Ask, and leave without reading."""
    return Sent(dice.choice([strange, extreme, pipelined])(dice, door).pieces, "abort")


def in_pieces(dice: random.Random, door: Door) -> Sent:
    """Send a request in many small pieces."""
    whole = dice.choice([strange, extreme, odd_head])(dice, door)
    content, size = whole.pieces[0][:4_000], dice.choice([7, 50, 400])
    pieces = tuple(content[begin : begin + size] for begin in range(0, len(content), size))
    return Sent(pieces, "half")


Kind = Callable[[random.Random, Door], Sent]
KINDS: dict[str, Kind] = {
    kind.__name__: kind
    for kind in (
        huge, malformed, strange, extreme, nested, traversal, odd_method, odd_head, without_token, pipelined, half_closed,
        aborted, in_pieces,
    )
}  # fmt: skip
