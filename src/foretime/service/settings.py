"""The settings of the service, and bounds on what a request may cost."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

API = "/api/v1"
NAME_LENGTH = 500
TIME_LENGTH = 64
CHANGE_LENGTH = 2_000
MOST_CHANGES = 20
"""Events, rules and predicates that one question may leave out, and events that it may add."""
MOST_ANSWERS = 100
MOST_REASONS = 50
MOST_FORECASTS = 100
MOST_FORECAST_REASONS = 5
MOST_EXPLAINED_EVENTS = 20
"""Events of a forecast that are explained: each takes as long as an explanation that is asked for by itself."""
MOST_EVENTS = 1_000
"""Events in one update."""
VIEWS_KEPT = 4
"""Days as of which a run was asked last, and is ready to be asked again."""
MOST_QUESTIONS = 100
"""Questions in one batch."""
BATCHES_AT_ONCE = 8
"""Concurrent batches; more are refused, because their answers are held until all are there."""
SUGGESTIONS_IN_BATCH = 10
"""Unknown names of one batch for which the nearest ones are looked up."""
JOB_SECONDS = 0.5
"""How long questions that are asked together may occupy the models, as far as can be estimated."""
MOST_NAMES = 200
MOST_RULES = 200
MOST_GROUNDINGS = 100
GROUNDING_SECONDS = 1.0
"""How long groundings of a rule are looked for; meanwhile nothing else is looked up."""
MOST_FACTS = 500
MOST_BINS = 400
MOST_OFFSET = 1_000_000
MOST_RUNS = 32
"""Runs that are held in memory at once."""
BODY_BYTES = 256 * 1024
URL_BYTES = 8 * 1024
HEAD_BYTES = 32 * 1024
"""What comes before the body: the address and all headers."""
HEAD_SECONDS = 10.0
"""How long the head of a request may take to arrive; also how long a new connection may be silent."""
SILENT_SECONDS = 1.0
"""How long a connection without a word is kept for certain; after that others may need its place."""
MOST_CONNECTIONS = 800
"""Connections, whoever holds them; a process may often open no more than 1024 files."""
BODY_SECONDS = 10.0
"""How long the body of a request may take to arrive."""
KEEP_ALIVE_SECONDS = 30
"""How long a connection may wait for its next request, and for its client to read the last answer."""
SECONDS_TO_FINISH = 30
"""How long requests under way may take when the service is asked to stop."""
SECONDS_TO_STOP = 45
"""When the process ends at the latest after it was asked to stop, whatever hangs."""
REQUESTS_AT_ONCE = 512
"""Concurrent requests of any kind; the queues of the lanes are shorter."""


@dataclass(frozen=True)
class Settings:
    """How the service runs: what `foretime.serve` is given, all times in seconds."""

    host: str = "127.0.0.1"
    port: int = 8420
    token: str | None = None
    look_again: float = 5.0
    queue: int = 64
    gather: float = 0.002
    deadline: float = 10.0
    grace: float = 30.0
    """How long after its deadline a question that still runs is an overrun: the service is not ready then."""
    give_up: float = 300.0
    """How long after that the process ends itself, if the question still runs."""
    load_seconds: float = 120.0
    """How long a run may take to be tried in a process of its own; with 0 runs are loaded without being tried."""
    load_memory: float = 8.0
    """How many GiB of memory that process may take; with 0 as much as there is."""
    connections: int = 200
    """Connections that one address may hold."""
    threads: int = 0
    device: str | None = None
    """Where the models compute; None for the device of each run."""


MOST: dict[str, float] = {
    "port": 65_535, "look_again": 86_400.0, "queue": 10_000, "gather": 1.0, "deadline": 600.0, "grace": 86_400.0,
    "give_up": 86_400.0, "load_seconds": 86_400.0, "load_memory": 65_536.0, "connections": 100_000, "threads": 256,
}  # fmt: skip
"""What each number of the settings may be at the most; none may be below 0."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
