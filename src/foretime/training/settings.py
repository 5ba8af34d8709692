"""A configuration made complete: defaults of the model and of the machine written out, impossible ones refused."""

from __future__ import annotations

import os
from typing import Any

import torch

from foretime.config import Config, LossName, ModelConfig, override
from foretime.errors import ConfigError
from foretime.evidence.module import EvidenceComponent
from foretime.models import MODELS, Sizes, build_model, model_class, model_options
from foretime.training.losses import loss_settings
from foretime.training.objective import check_penalties, penalty_names


def changed_config(base: Config, changes: dict[str, Any], place: str = "") -> Config:
    """Return the configuration with some settings replaced by their dotted names.

    A single penalty among them stands beside the model's defaults, unless the configuration weighs penalties itself.
    """
    changed = override(base, changes, place)
    if base.penalties or not changed.penalties:
        return changed
    return changed.model_copy(update={"penalties": default_penalties(changed) | changed.penalties})


def default_penalties(config: Config) -> dict[str, float]:
    """Return the weights of the configured model's penalties, and of those of its evidence."""
    return {**model_class(config.model).default_penalties, **evidence_penalties(config)}


def evidence_penalties(config: Config) -> dict[str, float]:
    """Return the default weights of the penalties of the evidence, none if it is not used."""
    own = EvidenceComponent.default_penalties if config.evidence.use else {}
    return {f"evidence_{name}": weight for name, weight in own.items()}


def complete_config(config: Config) -> Config:
    """Return the configuration with every default of its model and of this machine written out."""
    options = model_options(config.model).model_dump()
    if config.model.name == "rules" and not config.evidence.use:
        config = config.model_copy(update={"evidence": config.evidence.model_copy(update={"use": True})})
    penalties = config.penalties or default_penalties(config)
    # a tiny model has the names of the penalties before a run is made
    tiny = ModelConfig(name=config.model.name, **options | {"rank": min(options["rank"], 2)})
    names = penalty_names(build_model(tiny, Sizes(1, 2, 1), torch.Generator()))
    check_penalties(names | set(evidence_penalties(config)), penalties)
    check_ensemble(config)
    check_precision(config)
    loss, margin = loss_settings(config)
    check_candidates(config, loss)
    training = config.training.model_copy(
        update={"threads": config.training.threads or os.cpu_count() or 1, "loss": loss, "margin": margin}
    )
    return config.model_copy(
        update={
            "model": ModelConfig(name=config.model.name, **options),
            "evidence": config.evidence,
            "penalties": penalties,
            "training": training,
        }
    )


def check_ensemble(config: Config) -> None:
    """Raise `ConfigError` if the configured ensemble cannot be trained."""
    if config.training.ensemble_size == 1:
        return
    if config.model.name == "rules":
        raise ConfigError(
            "training.ensemble_size: rules has no embeddings, so its members would all be the same; leave it 1"
        )
    if config.evidence.use and config.training.softmax == "joint":
        raise ConfigError(
            "training.ensemble_size: members learn without the evidence, which has its own softmax only under "
            'training.softmax = "each"; choose that, or leave training.ensemble_size 1'
        )


def check_candidates(config: Config, loss: LossName) -> None:
    """Raise `ConfigError` if candidates are to be drawn where no softmax chooses among some of the entities."""
    training = config.training
    if training.candidates == 0:
        return
    if config.model.name == "rules":
        reason = "evidence is learned among all entities"
    elif training.softmax == "joint":
        reason = 'they are for training.softmax = "each"'
    elif loss != "softmax":
        reason = f'they are for training.loss = "softmax", and this one is "{loss}"'
    else:
        return
    raise ConfigError(f"training.candidates = {training.candidates}: {reason}; leave it 0")


def check_precision(config: Config) -> None:
    """Raise `ConfigError` if the configured model does not score by products, which alone may be rounded."""
    if config.training.precision == "single" or model_class(config.model).scores_are_products:
        return
    others = ", ".join(sorted(name for name, model in MODELS.items() if model.scores_are_products))
    raise ConfigError(
        f'training.precision: {config.model.name} does not score by products, so it trains in "single" alone; '
        f'"bfloat16" is for {others}'
    )
