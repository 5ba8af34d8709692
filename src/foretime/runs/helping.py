"""The other processes of a launcher: they train what the first one says, and end when it needs them no longer.

All of them are started with the same command. The first process reads the graph, makes the run, and later ranks and
reports alone; the others only open the run that it has made.
"""

from __future__ import annotations

import atexit
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from foretime.errors import ConfigError, ForetimeError, Interrupted
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import Job, train_job
from foretime.training.callbacks import Callback, TrainingPlan
from foretime.training.distributed.team import Dismissed, ProcessLost, Team, team_of_launcher

SECONDS_TO_BE_DISMISSED = 5.0
"""How long to wait for the first process to say what is wrong, as it often will, before this one does."""


def join_launcher(jobs: int, cluster: str | None = None) -> None:
    """Meet the other processes of a launcher, if one has started this; any but the first helps it, and then exits."""
    team = team_of_launcher()
    if not team.is_first:
        sys.exit(_help(team))
    if team.size == 1:
        return
    atexit.register(_dismiss, team)
    if jobs > 1 or cluster is not None:
        given = f"--jobs {jobs}" if cluster is None else f"--cluster {cluster}"
        raise ConfigError(
            f"{given}: a launcher has started {team.size} processes, which train one thing together; leave it out"
        )


def _dismiss(team: Team) -> None:
    with suppress(ProcessLost):
        team.dismiss()


def _help(team: Team) -> int:
    """Train what the first process says, and return the exit code."""
    try:
        while True:
            _train(team.told(None), team)
    except Dismissed:
        return 0
    except (Interrupted, KeyboardInterrupt):
        return 130
    except ForetimeError as error:
        if isinstance(error, ProcessLost) or not team.is_dismissed(SECONDS_TO_BE_DISMISSED):
            sys.stderr.write(f"error: process {team.rank} of {team.size}: {error}\n")
        return 2


def _train(order: dict[str, Any], team: Team) -> None:
    run = RunFolder.find(Path(order["run"]), order["device"])
    graph = run.graph()
    train_job(Job(*order["job"]), run, run.config(), graph, run.rules(graph), _StopAtSignals(), team)


class _StopAtSignals(Callback):
    """Asks all processes to stop after a step, and to save the state, when a signal comes to this one."""

    def __init__(self) -> None:
        self._stop = False
        self._handlers: dict[int, Any] = {}

    def begin(self, plan: TrainingPlan) -> None:
        """Catch the signals."""
        for number in (signal.SIGINT, signal.SIGTERM):
            self._handlers[number] = signal.signal(number, self._on_signal)

    def end(self) -> None:
        """Give the signals back."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def stop_wanted(self) -> bool:
        """Whether a signal has come."""
        return self._stop

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._stop = True
