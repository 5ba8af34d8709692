"""What the service carries: requests a second and their times, what gathering brings, and what happens at 4 × the load.

    python benchmarks/service_load.py runs/icews14-lcge --seconds 10 --out benchmarks/results/service_load.json

The service is `foretime serve` in a process of its own; this process is the load. Questions are the test facts of the
run, each asked for its object and for its subject, by clients that keep their connection and ask again as soon as they
have an answer. The last part does not wait for answers: it sends 4 × as many questions a second as were carried.
Both processes share the machine: what the load itself costs is told as `load_cpu_share`.
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
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

from foretime.files import write_json

CLIENTS = (1, 8, 32)
EXPLAINING_CLIENTS = (1, 8)
OVERLOAD = 4
MOST_CONNECTIONS = 400
GATHER_MS = 2.0


@dataclass
class Seen:
    """What came back: how long each answer took, by status, and what must not happen."""

    seconds: dict[int, list[float]] = field(default_factory=dict)
    without_retry_after: int = 0
    broken: int = 0
    not_sent: int = 0
    elapsed: float = 0.0

    def add(self, status: int, seconds: float, headers: bytes) -> None:
        """Count one answer."""
        self.seconds.setdefault(status, []).append(seconds)
        self.without_retry_after += status == 503 and b"retry-after:" not in headers.lower()

    def statuses(self) -> dict[str, int]:
        """Return how many answers each status has."""
        return {str(status): len(times) for status, times in sorted(self.seconds.items())}

    def summary(self) -> dict[str, Any]:
        """Return requests a second and percentiles of those that were answered."""
        times = 1000 * np.array(self.seconds.get(200, [0.0]))
        p50, p95, p99 = np.percentile(times, [50, 95, 99]).round(2).tolist()
        rate = len(self.seconds.get(200, [])) / self.elapsed
        return {"requests_per_second": round(rate, 1), "p50_ms": p50, "p95_ms": p95, "p99_ms": p99}


class Connection:
    """A client that keeps its connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, seen: Seen) -> None:
        """Send one request and count its answer."""
        begun = time.perf_counter()
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = self._streams
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.split(b":")[1]))
            seen.add(int(head.split(b" ", 2)[1]), time.perf_counter() - begun, head)
        except (OSError, asyncio.IncompleteReadError, StopIteration):
            seen.broken += 1
            self.close()

    def close(self) -> None:
        """End the connection."""
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


async def closed_load(port: int, paths: Iterator[str], clients: int, seconds: float) -> Seen:
    """Let so many clients ask one question after the other."""
    seen, begun = Seen(), time.perf_counter()

    async def ask() -> None:
        connection = Connection(port)
        while time.perf_counter() - begun < seconds:
            await connection.get(next(paths), seen)
        connection.close()

    await asyncio.gather(*(ask() for _ in range(clients)))
    seen.elapsed = time.perf_counter() - begun
    return seen


async def open_load(port: int, paths: Iterator[str], rate: float, seconds: float) -> Seen:
    """Send so many questions a second, whether the earlier ones have been answered or not."""
    seen, free, tasks = Seen(), [Connection(port) for _ in range(MOST_CONNECTIONS)], set[asyncio.Task[None]]()
    every, begun = list(free), time.perf_counter()

    async def ask(connection: Connection) -> None:
        await connection.get(next(paths), seen)
        free.append(connection)

    sent = 0
    while (now := time.perf_counter() - begun) < seconds:
        while sent < now * rate:
            sent += 1
            if free:
                task = asyncio.create_task(ask(free.pop()))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            else:
                seen.not_sent += 1
        await asyncio.sleep(0.001)
    await asyncio.gather(*tasks)
    seen.elapsed = time.perf_counter() - begun
    for connection in every:
        connection.close()
    return seen


class Served:
    """`foretime serve` in a process of its own."""

    def __init__(self, run: Path, gather_ms: float, threads: int) -> None:
        words = ["serve", str(run), "--port", "0", "--gather-ms", str(gather_ms), "--threads", str(threads)]
        self.process = subprocess.Popen([sys.executable, "-m", "foretime", *words], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        first = self.process.stderr.readline()
        if "listens on" not in first:
            raise SystemExit(first + self.process.stderr.read())
        self.url, self.name = first.split()[-1], run.resolve().name
        self.port = int(self.url.rpartition(":")[2])
        os.set_blocking(self.process.stderr.fileno(), False)
        while not self._ready():
            self.drain()
            time.sleep(0.1)

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz") as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def drain(self) -> None:
        """Read the log away, so that nobody waits for a full pipe."""
        assert self.process.stderr is not None
        while os.read(self.process.stderr.fileno(), 1 << 20) if self._has_log() else b"":
            pass

    def _has_log(self) -> bool:
        import select

        return bool(select.select([self.process.stderr], [], [], 0)[0])

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
        while self.process.poll() is None:
            self.drain()
            time.sleep(0.05)
        return self.process.returncode


@contextmanager
def served(run: Path, gather_ms: float, threads: int) -> Iterator[Served]:
    """Serve a run for a while."""
    started = Served(run, gather_ms, threads)
    try:
        yield started
    finally:
        code = started.stop()
        print(f"stopped with {code}", file=sys.stderr)


def questions(service: Served, view: str) -> Iterator[str]:
    """Yield paths that ask for the object and for the subject of test facts, over and over."""
    facts = service.json(f"/runs/{service.name}/facts?split=test&limit=500")["facts"]
    times = ("time", "start", "end")
    asked = [
        f"/api/v1/runs/{service.name}/{view}?" + urlencode({**pieces, "top": 10})
        for fact in facts
        for left_out in ("object", "subject")
        if (pieces := {k: fact[k] for k in ("subject", "predicate", "object", *times) if fact[k] and k != left_out})
    ]
    np.random.default_rng(0).shuffle(asked)
    return itertools.cycle(asked)


def measure(service: Served, load: Any) -> tuple[Seen, dict[str, float]]:
    """Run a load; return what was seen, and by how much the counters of the service have grown."""
    before, own = service.metrics(), time.process_time()
    draining = asyncio.run(_drained(service, load))
    after = service.metrics()
    grown = {name: value - before.get(name, 0.0) for name, value in after.items()}
    grown["load_cpu_seconds"] = time.process_time() - own
    return draining, grown


async def _drained(service: Served, load: Any) -> Seen:
    async def drain() -> None:
        while True:
            service.drain()
            await asyncio.sleep(0.05)

    draining = asyncio.create_task(drain())
    try:
        seen: Seen = await load
    finally:
        draining.cancel()
    return seen


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
    asyncio.run(_drained(service, closed_load(service.port, paths, 4, min(2.0, seconds))))  # warm
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
    seen, _ = measure(service, open_load(service.port, paths, OVERLOAD * capacity, seconds))
    other = {status: count for status, count in seen.statuses().items() if status not in ("200", "503")}
    after = service.metrics()["process_resident_memory_bytes"]
    found = {
        "asked_per_second": round(OVERLOAD * capacity, 1),
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
