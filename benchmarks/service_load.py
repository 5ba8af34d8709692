"""What the service carries: requests a second and their times, what gathering brings, and what happens at 4 × the load.

    python -m benchmarks.service_load runs/icews14-lcge --seconds 10 --out benchmarks/results/service_load.json

The service is `foretime serve` in a process of its own; this process is the load. Questions are the test facts of the
run, each asked for its object and for its subject, by clients that keep their connection and ask again as soon as they
have an answer. The last part does not wait for answers: it means to send 4 × as many questions a second as were carried,
and reports how many it has sent. Requests are made before they are needed, and of answers only status and length are read.
Both processes share the machine: what the load itself costs is reported as `load_cpu_share`.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import numpy as np

from foretime.files import write_json

CLIENTS = (1, 8, 32)
EXPLAINING_CLIENTS = (1, 8)
OVERLOAD = 4
MOST_CONNECTIONS = 400
GATHER_MS = 2.0
PAGES, FACTS_IN_PAGE = 50, 10
"""Questions are drawn from so many places of test, so many facts from each."""


@dataclass
class Seen:
    """What came back: how long each answer took, by status, and what must not happen."""

    seconds: dict[int, list[float]] = field(default_factory=dict)
    without_retry_after: int = 0
    broken: int = 0
    sent: int = 0
    not_sent: int = 0
    sending_seconds: float = 0.0
    elapsed: float = 0.0

    def add(self, status: int, seconds: float, answer: bytes) -> None:
        """Count one answer."""
        self.seconds.setdefault(status, []).append(seconds)
        if status == 503 and b"retry-after:" not in answer.lower():
            self.without_retry_after += 1

    def statuses(self) -> dict[str, int]:
        """Return how many answers each status has."""
        return {str(status): len(times) for status, times in sorted(self.seconds.items())}

    def summary(self) -> dict[str, Any]:
        """Return requests a second and percentiles of those that were answered; without any there are none."""
        times = self.seconds.get(200, [])
        found: list[float | None] = [None] * 3
        if times:
            found = (1000 * np.percentile(times, [50, 95, 99])).round(2).tolist()
        rate = round(len(times) / self.elapsed, 1)
        return {"requests_per_second": rate, "p50_ms": found[0], "p95_ms": found[1], "p99_ms": found[2]}


class Connection(asyncio.Protocol):
    """A client that keeps its connection. It reads no more of an answer than its status and its length."""

    def __init__(self, seen: Seen, free: Callable[[Connection], None]) -> None:
        self._seen, self._free = seen, free
        self._transport: asyncio.Transport | None = None
        self._answer, self._needed, self._begun = b"", 0, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note an answer that will not come."""
        self._transport = None
        if self._begun:
            self._begun = 0.0
            self._seen.broken += 1
            self._free(self)

    @property
    def is_open(self) -> bool:
        """Whether something can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def send(self, request: bytes) -> None:
        """Send a request."""
        assert self._transport is not None
        self._answer, self._needed, self._begun = b"", 0, time.perf_counter()
        self._seen.sent += 1
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Take a part of an answer; at its end the connection is free."""
        self._answer = self._answer + data if self._answer else data
        if not self._needed:
            end = self._answer.find(b"\r\n\r\n")
            if end < 0:
                return
            place = self._answer.find(b"content-length: ", 0, end) + 16
            self._needed = end + 4 + int(self._answer[place : self._answer.index(b"\r", place)])
        if len(self._answer) >= self._needed:
            self._seen.add(int(self._answer[9:12]), time.perf_counter() - self._begun, self._answer)
            self._begun = 0.0
            self._free(self)

    def close(self) -> None:
        """End the connection."""
        if self._transport is not None:
            self._transport.close()


async def connect(port: int, count: int, seen: Seen, free: Callable[[Connection], None]) -> list[Connection]:
    """Return so many connections."""
    loop = asyncio.get_running_loop()
    made = [await loop.create_connection(lambda: Connection(seen, free), "127.0.0.1", port) for _ in range(count)]
    return [protocol for _, protocol in made]


async def closed_load(port: int, requests: Iterator[bytes], clients: int, seconds: float) -> Seen:
    """Let so many clients ask one question after the other."""
    seen, left, done = Seen(), clients, asyncio.Event()
    until = 0.0

    def ask(connection: Connection) -> None:
        nonlocal left
        if connection.is_open and time.perf_counter() < until:
            connection.send(next(requests))
            return
        left -= 1
        if left == 0:
            done.set()

    every = await connect(port, clients, seen, ask)
    begun = time.perf_counter()
    until = begun + seconds
    for connection in every:
        ask(connection)
    await done.wait()
    seen.elapsed = seen.sending_seconds = time.perf_counter() - begun
    for connection in every:
        connection.close()
    return seen


async def open_load(port: int, requests: Iterator[bytes], rate: float, seconds: float) -> Seen:
    """Send so many questions a second, whether the earlier ones have been answered or not."""
    seen = Seen()
    free: list[Connection] = []
    every = await connect(port, MOST_CONNECTIONS, seen, free.append)
    free += every
    begun = time.perf_counter()
    due = 0
    while (now := time.perf_counter() - begun) < seconds:
        for _ in range(int(now * rate) - due):
            due += 1
            while free and not free[-1].is_open:
                free.pop()
            if free:
                free.pop().send(next(requests))
            else:
                seen.not_sent += 1
        await asyncio.sleep(0.001)
    seen.sending_seconds = time.perf_counter() - begun
    while len(free) < sum(connection.is_open for connection in every):
        await asyncio.sleep(0.01)
    seen.elapsed = time.perf_counter() - begun
    for connection in every:
        connection.close()
    return seen


def run_load(load: Coroutine[Any, Any, Seen]) -> Seen:
    """Run a load on the quickest loop that there is."""
    try:
        from uvloop import new_event_loop
    except ModuleNotFoundError:
        return asyncio.run(load)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(load)


class Served:
    """`foretime serve` in a process of its own."""

    def __init__(self, run: Path, gather_ms: float, threads: int) -> None:
        words = ["serve", str(run), "--port", "0", "--gather-ms", str(gather_ms), "--threads", str(threads)]
        words += ["--connections", str(2 * MOST_CONNECTIONS)]  # all come from this machine
        # a file, which takes the log without anybody who reads it
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115, it is open for as long as the process
        self.process = subprocess.Popen([sys.executable, "-m", "foretime", *words], stderr=self._log)
        while "listens on" not in (first := self._first_line()):
            if self.process.poll() is not None:
                raise SystemExit(first)
            time.sleep(0.1)
        self.url, self.name = first.split()[-1], run.resolve().name
        self.port = int(self.url.rpartition(":")[2])
        while not self._ready():
            time.sleep(0.1)

    def _first_line(self) -> str:
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), min(size, 1000), 0).decode().partition("\n")[0]

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz") as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def json(self, path: str) -> Any:
        """Return what a path of the API says."""
        with urllib.request.urlopen(f"{self.url}/api/v1{path}") as response:
            return json.loads(response.read())

    def metrics(self) -> dict[str, float]:
        """Return all counters."""
        with urllib.request.urlopen(f"{self.url}/metrics") as response:
            lines = response.read().decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}

    def stop(self) -> int:
        """End the process gracefully and return its code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()


@contextmanager
def served(run: Path, gather_ms: float, threads: int) -> Iterator[Served]:
    """Serve a run for a while."""
    started = Served(run, gather_ms, threads)
    try:
        yield started
    finally:
        code = started.stop()
        print(f"stopped with {code}", file=sys.stderr)


def questions(service: Served, view: str) -> Iterator[bytes]:
    """Yield requests for the object and for the subject of test facts, drawn from all of test, over and over."""
    generator, path = np.random.default_rng(0), f"/runs/{service.name}/facts?split=test"
    total = service.json(f"{path}&limit=1")["total"]
    offsets = generator.integers(0, max(1, total - FACTS_IN_PAGE), PAGES).tolist()
    facts = [
        fact for offset in offsets for fact in service.json(f"{path}&limit={FACTS_IN_PAGE}&offset={offset}")["facts"]
    ]
    times = ("time", "start", "end")
    asked = [
        f"GET /api/v1/runs/{service.name}/{view}?{urlencode({**slots, 'top': 10})} HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{service.port}\r\n\r\n".encode()
        for fact in facts
        for left_out in ("object", "subject")
        if (slots := {k: fact[k] for k in ("subject", "predicate", "object", *times) if fact[k] and k != left_out})
    ]
    generator.shuffle(asked)
    return itertools.cycle(asked)


def measure(service: Served, load: Coroutine[Any, Any, Seen]) -> tuple[Seen, dict[str, float]]:
    """Run a load; return what was seen, and by how much the counters of the service have grown."""
    before, own = service.metrics(), time.process_time()
    seen = run_load(load)
    own = time.process_time() - own
    after = service.metrics()
    grown = {name: value - before.get(name, 0.0) for name, value in after.items()}
    return seen, {**grown, "load_cpu_seconds": own}


def where_time_goes(view: str, seen: Seen, grown: dict[str, float]) -> dict[str, Any]:
    """Return the mean time of a request in parts, by the counters of the service."""
    route = f'{{route="/api/v1/runs/{{run}}/{view}"}}'
    requests = max(1.0, grown.get(f"foretime_request_seconds_count{route}", 0.0))
    jobs = max(1.0, grown.get('foretime_job_wait_seconds_count{lane="models"}', 0.0))
    batches = max(1.0, grown.get(f'foretime_work_seconds_count{{kind="{view}"}}', 0.0))
    whole = grown.get(f"foretime_request_seconds_sum{route}", 0.0) / requests
    waiting = grown.get('foretime_job_wait_seconds_sum{lane="models"}', 0.0) / jobs
    work = grown.get(f'foretime_work_seconds_sum{{kind="{view}"}}', 0.0)
    working = work / batches  # a question is under way for as long as those beside it
    return {
        "request_ms": round(1000 * whole, 2),
        "waiting_ms": round(1000 * waiting, 2),
        "model_ms": round(1000 * working, 2),
        "http_and_json_ms": round(1000 * max(0.0, whole - waiting - working), 2),
        "model_ms_per_question": round(1000 * work / jobs, 3),
        "questions_together": round(jobs / batches, 2),
        "model_thread_busy": round(work / seen.elapsed, 3),
        "service_cpu_cores": round(grown["process_cpu_seconds_total"] / seen.elapsed, 2),
        "load_cpu_share": round(grown["load_cpu_seconds"] / seen.elapsed, 2),
    }


def carried(service: Served, view: str, clients: tuple[int, ...], seconds: float) -> dict[str, Any]:
    """Return what is carried at each number of clients, none of which may be refused or broken."""
    paths, found = questions(service, view), {}
    run_load(closed_load(service.port, paths, 4, min(2.0, seconds)))  # warm
    for count in clients:
        seen, grown = measure(service, closed_load(service.port, paths, count, seconds))
        found[str(count)] = {**seen.summary(), "statuses": seen.statuses(), "broken": seen.broken,
                             "time": where_time_goes(view, seen, grown)}  # fmt: skip
        print(f"{view:9} {count:3} clients  {found[str(count)]}")
    return found


def overload(service: Served, capacity: float, seconds: float) -> dict[str, Any]:
    """Return what happens when more is asked than can be carried: answers, 503 with Retry-After, and nothing else."""
    paths = questions(service, "complete")
    before = service.metrics()["process_resident_memory_bytes"]
    seen, grown = measure(service, open_load(service.port, paths, OVERLOAD * capacity, seconds))
    other = {status: count for status, count in seen.statuses().items() if status not in ("200", "503")}
    after = service.metrics()["process_resident_memory_bytes"]
    found = {
        "wanted_per_second": round(OVERLOAD * capacity, 1),
        "sent_per_second": round(seen.sent / seen.sending_seconds, 1),
        "sent_times_what_is_carried": round(seen.sent / seen.sending_seconds / capacity, 2),
        "load_cpu_share": round(grown["load_cpu_seconds"] / seen.elapsed, 2),
        "answered": seen.summary(),
        "statuses": seen.statuses(),
        "other_statuses": other,
        "503_without_retry_after": seen.without_retry_after,
        "broken_connections": seen.broken,
        "not_sent_because_all_connections_waited": seen.not_sent,
        "memory_growth_mb": round((after - before) / 1e6, 1),
    }
    print(f"overload  {found}")
    return found


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each of the parts")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    run, seconds, threads = arguments.run, arguments.seconds, arguments.threads
    result: dict[str, Any] = {"run": run.resolve().name, "cores": os.cpu_count(), "python": platform.python_version()}
    with served(run, 0.0, threads) as alone:
        result["complete_one_by_one"] = carried(alone, "complete", CLIENTS[-1:], seconds)
    with served(run, GATHER_MS, threads) as gathering:
        result["settings"] = gathering.json(f"/runs/{run.resolve().name}")["config"]["model"]
        result["complete"] = carried(gathering, "complete", CLIENTS, seconds)
        result["explain"] = carried(gathering, "explain", EXPLAINING_CLIENTS, seconds)
        most = str(CLIENTS[-1])
        capacity = result["complete"][most]["requests_per_second"]
        result["gathering_ratio"] = round(capacity / result["complete_one_by_one"][most]["requests_per_second"], 2)
        print(f"gathering brings {result['gathering_ratio']} times as many requests a second at {most} clients")
        result["overload"] = overload(gathering, capacity, seconds)
    if arguments.out:
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
