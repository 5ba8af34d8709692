"""Ray clusters of this machine whose nodes are killed: every process of a node at once, at a random moment."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from foretime.runs.executor.ray_cluster import import_ray

NOBODY_ELSE = {"node_ip_address": "127.0.0.1", "include_dashboard": False, "object_store_memory": 80_000_000}
SETTINGS = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_failure_threshold": 5,
    "worker_niceness": 0,  # by default tasks yield to everything else
}
"""A node is given up after five seconds without a sign of life."""
SECONDS_TO_DIE = 120.0
TRIES = 3


class LocalCluster:
    """A head without cores, which is never killed, and so many nodes of one core each, all on 127.0.0.1."""

    def __init__(self, nodes: int) -> None:
        import_ray(alone=True)
        from ray.cluster_utils import Cluster

        # not at exit: that needs handlers of signals, which the thread that replaces nodes may not set
        head = {"num_cpus": 0, "_system_config": SETTINGS, **NOBODY_ELSE}
        self._cluster = Cluster(True, head_node_args=head, shutdown_at_exit=False)
        self.address: str = self._cluster.address
        try:
            self._nodes: list[Any] = [self._add() for _ in range(nodes)]
        except BaseException:
            self._cluster.shutdown()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.shutdown()

    def _add(self, tries: int = TRIES) -> Any:
        try:
            return self._cluster.add_node(num_cpus=1, **NOBODY_ELSE)
        except Exception:  # on busy cores a node may not come up in Ray's thirty seconds
            if tries == 1:
                raise
            return self._add(tries - 1)

    def kill_one(self, draw: random.Random) -> None:
        """Kill a node with all that it has started, and begin another in its place."""
        node = self._nodes.pop(draw.randrange(len(self._nodes)))
        for number in started_by(node):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        self._cluster.remove_node(node, allow_graceful=False)
        self._nodes.append(self._add())


def started_by(node: Any) -> list[int]:
    """Return the processes of a node and all that these have started: workers, and the trainings of these."""
    roots = {info.process.pid for infos in node.all_processes.values() for info in infos}
    parents = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(file.parent.name)] = int(file.read_text().rpartition(")")[2].split()[1])
    found, below = set(roots), set(roots)
    while below := {child for child, parent in parents.items() if parent in below} - found:
        found |= below
    return sorted(found)


class Killer:
    """Kills nodes while work goes on, so many in all: each time after some signs of progress and a random moment."""

    def __init__(self, cluster: LocalCluster, kills: int, every: int, seed: int = 0) -> None:
        """Kill one node each `every` signs of progress."""
        self._cluster, self._wanted, self._every = cluster, kills, every
        self._draw, self._signs, self._busy = random.Random(seed), 0, False
        self.kills = 0

    def progress(self) -> None:
        """Take a sign of progress: an epoch, or a part that is done."""
        self._signs += 1
        if self._signs >= self._every and not self._busy and self.kills < self._wanted:
            self._signs, self._busy = 0, True
            threading.Thread(target=self._kill, daemon=True).start()

    def _kill(self) -> None:
        time.sleep(self._draw.uniform(0.0, 2.0))
        self.kills += 1
        self._cluster.kill_one(self._draw)
        self._busy = False

    def wait(self) -> None:
        """Wait until a node that is being killed has been replaced."""
        limit = time.monotonic() + SECONDS_TO_DIE
        while self._busy and time.monotonic() < limit:
            time.sleep(0.1)
