"""What can be trained in several processes."""

from __future__ import annotations

from foretime.config import Config, ModelConfig
from foretime.devices import CPU, find_device
from foretime.errors import ConfigError
from foretime.models.matching import row_axes
from foretime.training.distributed.tables import ROWS
from foretime.training.distributed.team import Team


def check_team(config: Config, entities: int, team: Team) -> None:
    """Raise `ConfigError` if a training cannot be done by so many processes."""
    if team.size == 1:
        return
    if find_device(config.training.device) != CPU:
        raise ConfigError(
            f'training.device = "{config.training.device}": several processes train on the CPU alone; name the device '
            "cpu, or start one process"
        )
    if config.evidence.use and config.training.softmax == "joint":
        raise ConfigError(
            'training.softmax = "joint": in several processes evidence has a softmax of its own; take "each", or start '
            "one process"
        )
    _check_model(config.model)
    if entities < team.size:
        raise ConfigError(f"{team.size} processes for {entities} entities: start at most as many as there are entities")


def _check_model(config: ModelConfig) -> None:
    """Raise `ConfigError` if a model has something of entities that cannot be cut."""
    named = [name for name, axis in row_axes(config).items() if axis == ROWS and name.rpartition(".")[2] != ROWS]
    if named:
        raise ConfigError(
            f"{config.name} cannot be trained in several processes: its {named[0]} would have to be whole in each; "
            "start one process, or take another model, such as tntcomplex"
        )
