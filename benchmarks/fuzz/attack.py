"""Hostile requests to a real `foretime serve` on this machine: bounded in count and time, and it stops by itself.

    make check-fuzz                # a few thousand requests
    make check-fuzz LONG=1         # at least 100,000; writes the figures

It must never answer with a 5xx but 503, which says when to come back; never let anybody in without the token; answer a
plain question with the same bytes before, in between and after; hold no more than `GROWTH_AT_MOST_MB` more memory; and
log no traceback. Otherwise the exit code is 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.service.live_service import Process

from benchmarks.fuzz.answering import Came, exchange
from benchmarks.fuzz.figures import write_part
from benchmarks.fuzz.hostile import KINDS, Door, Sent
from benchmarks.fuzz.small_run import example_question, train_small_run

TOKEN = "a-Token-for-the-Attack-0123456789"
LONG, SHORT = 100_000, 3_000
CLIENTS = 6
SLOW_AT_ONCE = 40
"""Slow clients at the same time: each holds a connection until it is given up."""
EVERY = 500
"""How often a plain question is asked in between."""
SECONDS_TO_ANSWER = 60.0
WARM = 0.1
"""The share of the requests after which memory is measured first."""
GROWTH_AT_MOST_MB = 64
MOST_SECONDS = 3 * 3600


class Attack:
    """What is sent to one service, and what has come back so far."""

    def __init__(self, started: Process, door: Door, question: dict[str, str]) -> None:
        self._started, self._door = started, door
        self._plain = Sent((door.got(door.path(f"complete?{urlencode(question)}")),))
        self._expected = self._answer()
        self.statuses: dict[str, Counter[int]] = defaultdict(Counter)
        self.faults: list[dict[str, Any]] = []
        self.plain_questions = 0
        self._until = time.monotonic() + MOST_SECONDS

    def send(self, first: int, count: int) -> None:
        """Send requests of all kinds in turn, each drawn by its own number, from several clients at once."""
        with ThreadPoolExecutor(CLIENTS) as pool:
            for begin in range(first, first + count, EVERY):
                if time.monotonic() > self._until:
                    raise SystemExit("the attack takes too long; the service is stopped")
                for _ in pool.map(self._send_one, range(begin, min(begin + EVERY, first + count))):
                    pass
                self.ask_plainly()

    def send_slowly(self, waves: int) -> None:
        """Begin requests and never go on; each must be given up by the service."""
        head = self._door.posted(self._door.path("complete"), b"x" * 100)
        begun = [b"", b"G", head[:40], head[: head.index(b"\r\n\r\n") + 5], b"GET / HTTP/1.1\r\nX-Slow: "]
        for wave in range(waves):
            sent = [Sent((begun[number % len(begun)],)) for number in range(SLOW_AT_ONCE)]
            with ThreadPoolExecutor(SLOW_AT_ONCE) as pool:
                for one, came in zip(sent, pool.map(self._exchanged, sent), strict=True):
                    self._note("slow", one, came, wave)
            self.ask_plainly()

    def ask_plainly(self) -> None:
        """Ask a plain question, whose answer must be the bytes that it was before."""
        self.plain_questions += 1
        if (answer := self._answer()) != self._expected:
            self.faults.append({"kind": "plain", "fault": "another answer", "request": repr(answer[:300])})

    def _answer(self) -> bytes:
        """Return the body of the answer; a service that is busy may say so for a while, with a 503."""
        until = time.monotonic() + SECONDS_TO_ANSWER
        while True:
            head, _, body = exchange(self._started.port, self._plain).content.partition(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 503") or time.monotonic() > until:
                return body
            time.sleep(1)

    def _send_one(self, number: int) -> None:
        dice = random.Random(number)
        name = list(KINDS)[number % len(KINDS)]
        sent = KINDS[name](dice, self._door)
        self._note(name, sent, self._exchanged(sent, f"127.0.0.{2 + number % CLIENTS}"), number)

    def _exchanged(self, sent: Sent, source: str = "127.0.0.1") -> Came | str:
        try:
            return exchange(self._started.port, sent, source)
        except OSError as error:
            return f"{type(error).__name__}: {error}"

    def _note(self, kind: str, sent: Sent, came: Came | str, number: int) -> None:
        fault = came if isinstance(came, str) else came.fault(sent)
        self.statuses[kind].update([0] if isinstance(came, str) else came.statuses)
        if fault:
            what = "" if isinstance(came, str) else repr(came.content[:300])
            request = repr(b"".join(sent.pieces)[:600])
            self.faults.append({"kind": kind, "number": number, "fault": fault, "request": request, "answer": what})


def attack(run: Path, requests: int, waves: int, token: str) -> dict[str, Any]:
    """Attack a service of a run, and return what came back and what is wrong with it."""
    question, begun = example_question(run), time.monotonic()
    started = Process(run, **({"FORETIME_TOKEN": token} if token else {}))
    try:
        names = (question["subject"], question["predicate"], "state 1", question["time"])
        sent = Attack(started, Door(f"127.0.0.1:{started.port}", token, run.name, names), question)
        warm = int(WARM * requests)
        sent.send(0, warm)
        before = resident_mb(started)
        sent.send(warm, requests - warm)
        sent.send_slowly(waves)
        after = resident_mb(started)
        code = started.stop()
    finally:
        started.end()
    tracebacks = [line for line in started.lines if "traceback" in line.lower()]
    faults = sent.faults + [{"fault": "a traceback in the log", "request": line[:3000]} for line in tracebacks[:5]]
    if after - before > GROWTH_AT_MOST_MB:
        faults.append({"fault": f"memory grew from {before:.0f} to {after:.0f} MB"})
    if code != 0:
        faults.append({"fault": f"the service ended with {code}"})
    return {
        "requests": sum(counts.total() for counts in sent.statuses.values()),
        "plain_questions": sent.plain_questions,
        "statuses": {kind: {str(one): counts[one] for one in sorted(counts)} for kind, counts in sent.statuses.items()},
        "resident_mb_before": round(before),
        "resident_mb_after": round(after),
        "lines_of_log": len(started.lines),
        "tracebacks": len(tracebacks),
        "seconds": round(time.monotonic() - begun),
        "faults": faults,
    }


def resident_mb(started: Process) -> float:
    """Return how much memory the service holds, as the system counts it."""
    lines = Path(f"/proc/{started.running.pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS:"))


def main() -> None:
    """Attack a service with a token, and one without; say what was found, and write the figures of a long attack."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="at least 100,000 requests in place of a few thousand")
    parser.add_argument("--requests", type=int, help="how many requests")
    parser.add_argument("--run", type=Path, help="the run that is served (default: a small one that is trained)")
    given = parser.parse_args()
    requests = given.requests or (LONG if given.long else SHORT)
    with tempfile.TemporaryDirectory() as folder:
        run = given.run or train_small_run(Path(folder))
        found = {
            "with a token": attack(run, requests * 4 // 5, 4 if given.long else 1, TOKEN),
            "without a token": attack(run, requests - requests * 4 // 5, 0, ""),
        }
    for name, one in found.items():
        print(f"{name}: {one['requests']:,} requests in {one['seconds']} s, {one['resident_mb_before']} MB before and")
        print(f"  {one['resident_mb_after']} MB after, {len(one['faults'])} faults")
        for kind, statuses in one["statuses"].items():
            print(f"  {kind}: " + ", ".join(f"{count:,} × {status}" for status, count in statuses.items()))
        for fault in one["faults"][:20]:
            print(f"  FAULT {fault}")
    if given.long:
        write_part("requests", found)
    if any(one["faults"] for one in found.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
