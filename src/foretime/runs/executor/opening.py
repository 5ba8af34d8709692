"""Which executor is meant by `--jobs` and `--cluster`."""

from __future__ import annotations

from foretime.runs.executor.base import Executor
from foretime.runs.executor.processes import Processes


def wants_executor(jobs: int, cluster: str | None) -> bool:
    """Return whether tasks are to be done elsewhere than one after the other in this process."""
    return jobs > 1 or cluster is not None


def open_executor(jobs: int, cluster: str | None = None) -> Executor:
    """Return an executor for `with`: `jobs` processes of this machine, or the nodes of a Ray cluster."""
    if cluster is None:
        return Processes(jobs)
    from foretime.runs.executor.ray_cluster import RayCluster

    return RayCluster.open(cluster, jobs)
