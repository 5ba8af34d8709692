"""The processes that train together: what they say to each other, and what a single one says to itself.

A launcher such as torchrun starts them and names them in the environment. The first of them, number 0, reads, decides,
prints and writes; the others only compute, and learn from it what to do next.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import torch
from torch import Tensor

from foretime.errors import RunError

NAMED: Final = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""The variables by which launchers say who a process is."""
SECONDS_BETWEEN_LOOKS: Final = 0.02
"""How long to wait before looking again whether the first process has said something."""


class ProcessLost(RunError):  # noqa: N818, what has happened to another process
    """Another process of the same training has ended, or cannot be reached."""


class Dismissed(RunError):  # noqa: N818, no error of the process that hears it
    """The first process needs this one no longer: it has said by itself why, if something was wrong."""


class Team:
    """A process that trains alone: it has everything, and what it says, it says to itself."""

    rank, size, local_size = 0, 1, 1
    dismissed = False
    """Whether the first process has let the others go."""

    @property
    def is_first(self) -> bool:
        """Whether this is the process that decides and writes."""
        return self.rank == 0

    def sum_(self, values: Tensor) -> Tensor:
        """Put the sum over all processes in the place of the values, and return them."""
        return values

    def largest_(self, values: Tensor) -> Tensor:
        """Put the largest over all processes in the place of the values, and return them."""
        return values

    def spread_(self, values: Tensor) -> Tensor:
        """Put the values of the first process in the place of the values, and return them."""
        return values

    def gather(self, rows: Tensor, count: int) -> Tensor | None:
        """Return a table of `count` rows on the first process, of which each process gives its own; else nothing."""
        return rows

    def deal_(self, table: Tensor | None, rows: Tensor) -> None:
        """Give each process the rows of a table that the first one has, in the place of its own."""

    def told(self, value: Any) -> Any:
        """Return what the first process gives here, something that JSON has, to all of them."""
        return value

    def any_want(self, *wanted: bool) -> list[bool]:
        """Return for each of some wishes whether any process has it, to all of them."""
        return list(wanted)

    def dismiss(self) -> None:
        """Let the other processes end: nothing more is to be done together."""

    def is_dismissed(self, seconds: float = 0.0) -> bool:
        """Return whether the first process needs this one no longer, once it says so or so many seconds are over."""
        return False

    def part_of(self, count: int) -> range:
        """Return the share of this process in so many things: one stretch of them."""
        return share(count, self.rank, self.size)


ALONE: Final = Team()


def share(count: int, rank: int, size: int) -> range:
    """Return the share of a process in so many things, the same as others have, or one less."""
    return range(count * rank // size, count * (rank + 1) // size)


class SeveralProcesses(Team):
    """One process of several, which reach each other by gloo."""

    def __init__(self) -> None:
        """Meet the others, as the environment says."""
        import torch.distributed as dist
        from torch.distributed.rendezvous import rendezvous

        self._dist = dist
        with reached():
            store, self.rank, self.size = next(rendezvous("env://"))
            self._store, of_gloo = (dist.PrefixStore(name, store) for name in ("foretime", "gloo"))  # type: ignore[attr-defined]
            dist.init_process_group("gloo", store=of_gloo, rank=self.rank, world_size=self.size)
        self.local_size = int(os.environ.get("LOCAL_WORLD_SIZE", self.size))
        self._said = 0
        self.bytes = 0
        """How many bytes this process has put into what it said to others: tensors alone."""

    def sum_(self, values: Tensor) -> Tensor:
        """Put the sum over all processes in the place of the values, and return them."""
        return self._reduce(values, self._dist.ReduceOp.SUM)

    def largest_(self, values: Tensor) -> Tensor:
        """Put the largest over all processes in the place of the values, and return them."""
        return self._reduce(values, self._dist.ReduceOp.MAX)

    def _reduce(self, values: Tensor, operation: Any) -> Tensor:
        self.bytes += values.nbytes
        with self._in_step():
            self._dist.all_reduce(values, operation)
        return values

    def spread_(self, values: Tensor) -> Tensor:
        """Put the values of the first process in the place of the values, and return them."""
        self.bytes += values.nbytes
        with self._in_step():
            self._dist.broadcast(values, 0)
        return values

    def gather(self, rows: Tensor, count: int) -> Tensor | None:
        """Return a table of `count` rows on the first process, of which each process gives its own; else nothing."""
        if not self.is_first:
            self.bytes += rows.nbytes
            with self._in_step():
                self._dist.send(rows.contiguous(), 0)
            return None
        table = rows.new_empty(count, *rows.shape[1:])
        table[: len(rows)] = rows
        with self._in_step():
            for rank in range(1, self.size):
                self._dist.recv(table[self._rows(count, rank)], rank)
        return table

    def deal_(self, table: Tensor | None, rows: Tensor) -> None:
        """Give each process the rows of a table that the first one has, in the place of its own."""
        with self._in_step():
            if table is None:
                self._dist.recv(rows, 0)
                return
            rows.copy_(table[: len(rows)])
            for rank in range(1, self.size):
                part = table[self._rows(len(table), rank)]
                self.bytes += part.nbytes
                self._dist.send(part, rank)

    def _rows(self, count: int, rank: int) -> slice:
        rows = share(count, rank, self.size)
        return slice(rows.start, rows.stop)

    def told(self, value: Any) -> Any:
        """Return what the first process gives here, something that JSON has, to all of them.

        It may take its time: the others wait for as long as it is there.
        """
        key = f"{self._said}"
        self._said += 1
        with reached():
            if self.is_first:
                self._store.set(key, json.dumps(value))
                return value
            while not self._store.check([key]):
                self._leave_if_dismissed()
                time.sleep(SECONDS_BETWEEN_LOOKS)
            return json.loads(self._store.get(key))

    def any_want(self, *wanted: bool) -> list[bool]:
        """Return for each of some wishes whether any process has it, to all of them."""
        return [found > 0 for found in self.largest_(torch.tensor(wanted, dtype=torch.int32)).tolist()]

    def dismiss(self) -> None:
        """Let the other processes end: nothing more is to be done together."""
        if self.is_first and not self.dismissed:
            self.dismissed = True
            with reached():
                self._store.set("leave", "")

    def is_dismissed(self, seconds: float = 0.0) -> bool:
        """Return whether the first process needs this one no longer, once it says so or so many seconds are over."""
        deadline = time.monotonic() + seconds
        with reached():
            while not self._store.check(["leave"]):
                if time.monotonic() >= deadline:
                    return False
                time.sleep(SECONDS_BETWEEN_LOOKS)
        return True

    def _leave_if_dismissed(self) -> None:
        if self.is_dismissed():
            raise Dismissed("the first process has ended the training")

    @contextmanager
    def _in_step(self) -> Iterator[None]:
        """Raise `ProcessLost` for what was said to a process that is gone; `Dismissed` if the first one says so."""
        try:
            with reached():
                yield
        except ProcessLost:
            if not self.is_first:
                self._leave_if_dismissed()
            raise


@contextmanager
def reached() -> Iterator[None]:
    """Raise `ProcessLost` where torch says that another process cannot be reached."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise ProcessLost(f"another process of this training has ended or cannot be reached ({_said(error)})") from None


def _said(error: Exception) -> str:
    """Return the first sentence of what torch or gloo says, without the place in their code."""
    first_line = (str(error).splitlines() or [type(error).__name__])[0]
    return re.sub(r"^\[[^]]*\] ", "", first_line).partition(". ")[0]


def team_of_launcher() -> Team:
    """Return the processes that a launcher has started, which all have to ask for them; or this one alone.

    It is alone too once the others have been dismissed.
    """
    team = _meet()
    return ALONE if team.dismissed else team


@cache
def _meet() -> Team:
    if any(name not in os.environ for name in NAMED) or os.environ["WORLD_SIZE"] == "1":
        return ALONE
    return SeveralProcesses()


def threads_of(team: Team, threads: int) -> int:
    """Return how many threads a process has, where those of one machine share so many."""
    return max(1, threads // team.local_size)
