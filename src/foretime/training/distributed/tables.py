"""Tables of entities cut into shards, and put together again on the first process.

Checkpoints know nothing of it: the first process reads one before its tables are cut, and writes one while it has them
all. So they resume on any number of processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import torch
from torch import Tensor, nn

from foretime.models.shards import Shard
from foretime.training.distributed.team import ALONE, Team

ROWS: Final = "entities"
"""What a model calls a table with a row for each entity, and every model all that it has of them."""


def divide(model: nn.Module, optimizer: torch.optim.Optimizer, team: Team) -> None:
    """Cut the tables of entities, and with them what the optimiser keeps of their rows.

    Each process gets its rows, and all of the other tables, from the first one, whose weights count.
    """
    if team.size == 1:
        return
    shards = {}
    for module in model.modules():
        table = module._parameters.get(ROWS)
        if table is not None:
            shards[table] = _shard_of(table, team)
            module.register_parameter(ROWS, shards[table])
    for group in optimizer.param_groups:
        tables = group["params"]
        group["params"] = [shards.get(table, table) for table in tables]
        for before, now in zip(tables, group["params"], strict=True):
            if before is now:
                team.spread_(now.data)
            optimizer.state[now] = _dealt_state(optimizer.state.pop(before, {}), now, team)


def _shard_of(table: Tensor, team: Team) -> Shard:
    rows = team.part_of(len(table))
    own = table.detach()[rows.start : rows.stop].clone()
    team.deal_(table.detach() if team.is_first else None, own)
    return Shard(own, rows.start, len(table), team)


def _dealt_state(state: dict[str, Tensor], parameter: Tensor, team: Team) -> dict[str, Tensor]:
    """Return what an optimiser keeps of a table, as the first process has it: numbers of steps, and rows."""
    found = {}
    for key, is_number in team.told([(key, value.ndim == 0) for key, value in state.items()]):
        here = torch.zeros((), dtype=torch.float32) if is_number else torch.zeros_like(parameter, requires_grad=False)
        if isinstance(parameter, Shard) and not is_number:
            team.deal_(state[key] if team.is_first else None, here)
        else:
            team.spread_(here.copy_(state[key]) if team.is_first else here)
        found[key] = here
    return found


def align(model: nn.Module, optimizer: torch.optim.Optimizer, team: Team) -> None:
    """Give every process what the first one has of the tables that all have: their processors may round differently."""
    if team.size == 1:
        return
    for parameter in model.parameters():
        if not isinstance(parameter, Shard):
            for values in (parameter.data, *optimizer.state.get(parameter, {}).values()):
                team.spread_(values)


@contextmanager
def whole_tables(model: nn.Module, optimizer: torch.optim.Optimizer | None, team: Team) -> Iterator[None]:
    """While this is open, the first process has the whole model, and the whole state of the optimiser if one is given.

    All processes open it together.
    """
    held = [_Held(table, optimizer) for table in model.parameters() if isinstance(table, Shard)]
    for one in held:
        one.gather(team)
    try:
        yield
    finally:
        for one in held:
            one.restore()


class _Held:
    """A shard and what an optimiser keeps of its rows, which give way to those of the whole table for a while."""

    def __init__(self, shard: Shard, optimizer: torch.optim.Optimizer | None) -> None:
        self._shard, self._place = shard, (shard.data, shard.begin, shard.exchange)
        self._state = {} if optimizer is None else optimizer.state[shard]
        self._rows = {key: value for key, value in self._state.items() if value.shape == shard.shape}

    def gather(self, team: Team) -> None:
        """Put the whole table and its state in the place of the rows, on the first process."""
        table = team.gather(self._shard.data, self._shard.count)
        whole = {key: team.gather(rows, self._shard.count) for key, rows in self._rows.items()}
        if table is not None:
            self._shard.hold(table, 0, ALONE)
            self._state.update(whole)

    def restore(self) -> None:
        """Put the rows back."""
        self._shard.hold(*self._place)
        self._state.update(self._rows)
