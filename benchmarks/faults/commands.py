"""Every command that opens a run, as it is run on a damaged one, and what may come out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.faults.materials import ANSWER, QUESTION, Materials
from benchmarks.faults.processes import Ended, command_line
from benchmarks.faults.twins import contents_of

MOST_OF_A_TRIAL = 1 << 30
NOT_SERVED = 3
TRIAL = "serve: the trial of a run"


class Command(NamedTuple):
    """A command on a run."""

    name: str
    act: Callable[[Path], Callable[[], int]]
    changes: bool = False
    """Whether it changes the run, so that what it leaves is compared too."""


class Outcome(NamedTuple):
    """What a command says and leaves."""

    ended: Ended
    left: dict[str, Any]


def commands_of(made: Materials, twin: Path) -> list[Command]:
    """Return the commands; some compare a run with its twin."""

    def words(*given: str) -> Callable[[Path], Callable[[], int]]:
        return lambda run: command_line([str(run) if word == "RUN" else word for word in given])

    events = str(made.folder / "newest.tsv")
    Path(events).write_text("state 2\tsues\tstate 7\t2020-04-01\nstate 11\tvisits\tstate 1\t2020-04-02\n")
    return [
        Command("predict", words("predict", "RUN", *QUESTION, "--json")),
        Command("predict, when", words("predict", "RUN", *QUESTION[:4], *ANSWER, "--json")),
        Command("explain", words("explain", "RUN", *QUESTION, *ANSWER, "--format", "json", "--full")),
        Command("evaluate", words("evaluate", "RUN", "--json", "--split", "valid")),
        Command("compare", words("compare", "RUN", str(twin), "--json", "--resamples", "100")),
        Command("forecast", words("forecast", "RUN", "--json", "--top", "5"), changes=True),
        Command("update", words("update", "RUN", events, "--json"), changes=True),
        Command("update --list", words("update", "RUN", "--list", "--json")),
        Command("update --undo", words("update", "RUN", "--undo", "--json"), changes=True),
        Command("train --resume", words("train", "--resume", "RUN"), changes=True),
        Command("upgrade", words("upgrade", "RUN"), changes=True),
        Command("runs verify", words("runs", "verify", "RUN", "--json")),
        Command(TRIAL, _trial),
    ]


def _trial(run: Path) -> Callable[[], int]:
    """Return what the service does before it serves a run, and then asks it."""

    def act() -> int:
        from foretime.service.trial_process import outcome

        code = outcome("run", run, MOST_OF_A_TRIAL)
        if code:
            return code
        return command_line(["predict", str(run), *QUESTION, "--json"])()

    return act


def left_by(command: Command, run: Path) -> dict[str, Any]:
    """Return what a command has left in a run, if it changes it."""
    return contents_of(run) if command.changes else {}
