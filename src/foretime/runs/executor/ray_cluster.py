"""Tasks on the nodes of a Ray cluster: each in a process as on one machine, which a small task of Ray starts there.

What travels over the network is the name of a function with its arguments, what the tasks report, and how they end.
Graphs, weights and answers are files in a folder that all nodes share.
"""

from __future__ import annotations

import os
import queue
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import foretime
from foretime.errors import ConfigError
from foretime.runs.executor.base import FAILED, SECONDS_BETWEEN_LOOKS, End, Executor, Report, Task
from foretime.runs.executor.processes import Child

ON_HEAD = {"node:__internal_head__": 0.001}
SECONDS_TO_SAVE = 600.0
"""How long a node waits for a process that was asked to stop."""
SECONDS_TO_ANSWER = 10.0
MEMORY_FOR_OBJECTS = 100_000_000
"""Bytes that a cluster of this machine takes for objects: only reports pass through it."""
TRIES = 5


class RayCluster(Executor):
    """Does tasks on the nodes of a cluster, so many at a time or, with 1, as many as their cores have room for."""

    tries = TRIES

    def __init__(self, ray: Any, jobs: int, is_ours: bool) -> None:
        """Take a cluster that `ray` is connected to; one that is ours is left in the end."""
        super().__init__()
        self._ray, self._is_ours = ray, is_ours
        self._most = jobs if jobs > 1 else None
        self._mailbox = ray.remote(Mailbox).options(num_cpus=0, resources=ON_HEAD).remote()
        self._do = ray.remote(max_retries=0, max_calls=1)(do_request)
        self._numbers = count(1)
        self._references: dict[Any, tuple[int, Task]] = {}
        self._attempts: dict[int, Task] = {}
        self._closed, self._gone = False, ""
        self._lock = threading.Lock()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @classmethod
    def open(cls, address: str, jobs: int) -> RayCluster:
        """Return the cluster at an address, `auto` for the one that this machine is a node of, or a new `local` one."""
        ray = import_ray(alone=address == "local" or address.startswith(("127.", "localhost:")))
        is_ours = not ray.is_initialized()
        if is_ours:
            connect(ray, address)
        return cls(ray, jobs, is_ours)

    def has_room(self, threads: int) -> bool:
        """Return whether the nodes that are alive have the cores for one more task of so many threads."""
        room = sum(cores // max(1, threads) for cores in self._cores())
        return len(self.working) < (room if self._most is None else min(room, self._most))

    def check_room(self, threads: int) -> None:
        """Raise `ConfigError` if no node has so many cores."""
        most = max(self._cores(), default=0)
        if threads > most:
            raise ConfigError(
                f"a task takes {threads} threads, and the largest node of the cluster has this many cores: {most}; "
                "lower training.threads (of a list: --threads), or divide them between several trainings with --jobs"
            )

    def _cores(self) -> list[int]:
        return [int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"]]

    def _begin(self, task: Task, lock: int | None) -> None:
        number = next(self._numbers)
        request = task.request() | {"folder": str(task.folder), "cwd": os.getcwd(), "version": foretime.__version__}
        options = {"num_cpus": max(1, task.threads), "num_gpus": task.gpus}
        do = self._do.options(**options, scheduling_strategy="SPREAD", name=task.name)
        with self._lock:
            if self._gone:
                self._hear(task, End(FAILED, self._gone))
                return
            self._attempts[number] = task
            self._references[do.remote(request, number, self._mailbox)] = (number, task)

    def _ask_to_stop(self, task: Task) -> None:
        for reference, number in [] if self._closed else self._of(task):
            if not self._ray.get(self._mailbox.stop.remote(number)):
                self._ray.cancel(reference)  # it still waits for a node

    def _kill(self, task: Task) -> None:
        for reference, _ in [] if self._closed else self._of(task):
            self._ray.cancel(reference, force=True)

    def _of(self, task: Task) -> list[tuple[Any, int]]:
        with self._lock:
            return [(reference, number) for reference, (number, own) in self._references.items() if own is task]

    def _listen(self) -> None:
        """Hear of everything that happens on the nodes, until the cluster is left."""
        while not self._closed:
            try:
                self._look()
            except Exception as error:  # whatever Ray raises when its head is gone
                self._lose_all(first_line(error))
                return

    def _look(self) -> None:
        with self._lock:
            references = list(self._references)
        if not references:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            return
        done = self._ray.wait(references, timeout=SECONDS_BETWEEN_LOOKS)[0]
        self._take_reports()  # after the end is known: they were sent before
        for reference in done:
            self._take_end(reference)

    def _lose_all(self, why: str) -> None:
        """End everything: without its head a cluster does nothing."""
        with self._lock:
            self._closed, self._gone = True, f"the cluster is gone ({why}); start it and do the same again"
            lost, self._references = list(self._references.values()), {}
        for _, task in lost:
            self._hear(task, End(FAILED, self._gone))

    def _take_reports(self) -> None:
        for number, report in self._ray.get(self._mailbox.take.remote()):
            if number in self._attempts:  # not of a node that was given up
                self._hear(self._attempts[number], report)

    def _take_end(self, reference: Any) -> None:
        with self._lock:
            number, task = self._references.pop(reference)
            del self._attempts[number]
        try:
            end = End(*self._ray.get(reference))
        except self._ray.exceptions.RayError as error:
            end = End(-1, lost=first_line(error))
        self._hear(task, end)

    def close(self) -> None:
        """Leave the cluster; one of this machine ends."""
        self._closed = True
        self._listener.join()
        if self._is_ours:
            self._ray.shutdown()


class Mailbox:
    """An actor on the head of the cluster: nodes put reports into it, and ask whether to stop."""

    def __init__(self) -> None:
        self._reports: list[tuple[int, Report]] = []
        self._begun: set[int] = set()
        self._stopped: Counter[int] = Counter()

    def put(self, number: int, reports: list[Report]) -> int:
        """Take the reports of a task, and return how often it was asked to stop."""
        self._begun.add(number)
        self._reports += [(number, report) for report in reports]
        return self._stopped[number]

    def take(self) -> list[tuple[int, Report]]:
        """Return what has been reported since the last time."""
        taken, self._reports = self._reports, []
        return taken

    def stop(self, number: int) -> bool:
        """Have a task stop, and return whether it has begun."""
        self._stopped[number] += 1
        return number in self._begun


def do_request(request: Report, number: int, mailbox: Any) -> tuple[int, str]:
    """Do a task on this node in a process of its own, and return the exit code and what was said to be wrong."""
    ray = import_ray()
    if fault := unfit(request):
        return FAILED, fault
    ray.get(mailbox.put.remote(number, []))  # it has begun
    asked = 0
    heard: queue.Queue[Report | End] = queue.Queue()
    child = Child(request, heard.put, cwd=Path(request["cwd"]))
    try:
        while True:
            reports = _waiting_in(heard)
            ends = [one for one in reports if isinstance(one, End)]
            wanted = ray.get(mailbox.put.remote(number, [one for one in reports if not isinstance(one, End)]))
            if ends:
                return ends[0].code, ends[0].fault
            for _ in range(wanted - asked):  # the second time it ends at once
                child.process.terminate()
            asked = wanted
    finally:  # the caller is gone, or cancels this
        child.process.terminate()
        child.process.wait(SECONDS_TO_SAVE)


def _waiting_in(heard: queue.Queue[Report | End]) -> list[Report | End]:
    """Return what was heard meanwhile, after waiting a moment for the first."""
    found: list[Report | End] = []
    with suppress(queue.Empty):
        found.append(heard.get(timeout=1.0))
        while True:
            found.append(heard.get_nowait())
    return found


def unfit(request: Report) -> str:
    """Return why a node cannot do a task: it has another version, or does not see the folder; empty if it can."""
    place = f"node {socket.gethostname()}"
    if request["version"] != foretime.__version__:
        return f"{place} has foretime {foretime.__version__}; install {request['version']} there, as here"
    missing = [name for name in ("cwd", "folder") if not Path(request["cwd"], request[name]).is_dir()]
    if missing:
        return (
            f"{place} has no folder {request[missing[0]]}; the nodes of a cluster share the working directory and the "
            "folder of the run, under the same path"
        )
    return ""


def first_line(error: Exception) -> str:
    """Return the first line of what an error says."""
    return str(error).strip().partition("\n")[0]


def import_ray(alone: bool = False) -> Any:
    """Return Ray; raise `ConfigError` where it is not installed. It sends nothing to its makers.

    `alone`: the cluster is that of this machine, and all that it opens is on 127.0.0.1.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if alone:  # else Ray takes 127.0.0.1 for the address by which others see this machine, on every system
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray
    except ImportError:
        raise ConfigError("Ray is not installed; pip install 'foretime[cluster]'") from None
    return ray


def connect(ray: Any, address: str) -> None:
    """Connect to a cluster, or begin one of this machine that nobody else can reach; else raise `ConfigError`."""
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address == "local":
            own: dict[str, Any] = {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
            ray.init("local", object_store_memory=MEMORY_FOR_OBJECTS, **own, **quiet)
        else:
            _check_answers(address)
            ray.init(address, **quiet)
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"--cluster {address}: {first_line(error)}; start a cluster (docs/cluster.md), or write auto, local, "
            "HOST:PORT or ray://HOST:PORT"
        ) from None


def _check_answers(address: str) -> None:
    """Raise an `OSError` or a `ValueError` if nothing listens at an address: Ray would try for minutes."""
    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("not an address of a cluster")
    socket.create_connection((host, int(port)), timeout=SECONDS_TO_ANSWER).close()
