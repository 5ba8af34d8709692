"""Everything that is many independent tasks: processes of this machine, or of the nodes of a Ray cluster."""

from __future__ import annotations

from foretime.runs.executor.base import End, Executor, Heard, Report, Task, run_all
from foretime.runs.executor.opening import open_executor, wants_executor
from foretime.runs.executor.processes import Processes

__all__ = ["End", "Executor", "Heard", "Processes", "Report", "Task", "open_executor", "run_all", "wants_executor"]
