"""What a configuration trains, as one short text: equal for equal trainings, on whatever machine."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from foretime.config import Config
from foretime.models import model_options
from foretime.training.settings import complete_config

MACHINE = {"device", "threads", "checkpoint_seconds"}
"""Settings of a training that say where and how it runs, and nothing of what is trained."""


def config_hash(config: Config) -> str:
    """Return sixteen hex digits that are the same for configurations that train the same thing."""
    return settings_hash(trained_settings(config))


def trained_settings(config: Config) -> dict[str, Any]:
    """Return the settings that decide what is trained, by section.

    A setting at its default and a penalty without weight are left out, so that what a later version adds to the
    settings makes no earlier run another one. The device, threads, the times of checkpoints and where the graph lies
    do not belong to what is trained.
    """
    complete = complete_config(config)
    graph = {"data": complete.data.model_copy(update={"path": Path(complete.data.location).name})}
    own = complete.model_copy(update=graph).model_dump(
        exclude_defaults=True, exclude={"model": True, "penalties": True, "training": MACHINE}
    )
    model = {"name": complete.model.name, **model_options(complete.model).model_dump(exclude_defaults=True)}
    penalties = {name: weight for name, weight in complete.penalties.items() if weight}
    return {name: section for name, section in own.items() if section} | {"model": model, "penalties": penalties}


def settings_hash(settings: dict[str, Any]) -> str:
    """Return sixteen hex digits of the settings of a training."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def seedless_hash(config: Config) -> str:
    """Return the same for configurations that differ by nothing but their seed."""
    return config_hash(config.model_copy(update={"training": config.training.model_copy(update={"seed": 0})}))
