"""The models: one file each, and the registry that names them."""

from __future__ import annotations

import torch

from foretime.config import ModelConfig, check_section
from foretime.errors import ConfigError, suggestion
from foretime.models.base import Model, ModelOptions, Part, Queries, ScoreTerm, Sizes
from foretime.models.complex import ComplEx
from foretime.models.evidence import EvidencePart, Rules, WithEvidence, evidence_of
from foretime.models.lcge import LCGE
from foretime.models.tcomplex import TComplEx
from foretime.models.tntcomplex import TNTComplEx

MODELS: dict[str, type[Model]] = {
    "complex": ComplEx,
    "tcomplex": TComplEx,
    "tntcomplex": TNTComplEx,
    "lcge": LCGE,
    "rules": Rules,
}

__all__ = [
    "LCGE",
    "MODELS",
    "ComplEx",
    "EvidencePart",
    "Model",
    "ModelOptions",
    "Part",
    "Queries",
    "Rules",
    "ScoreTerm",
    "Sizes",
    "TComplEx",
    "TNTComplEx",
    "WithEvidence",
    "build_model",
    "evidence_of",
    "model_class",
    "model_options",
]


def model_class(config: ModelConfig) -> type[Model]:
    """Return the class of the configured model."""
    found = MODELS.get(config.name)
    if found is None:
        raise ConfigError(
            f"unknown model {config.name!r}; the models are {', '.join(MODELS)}{suggestion(config.name, MODELS)}"
        )
    return found


def model_options(config: ModelConfig) -> ModelOptions:
    """Return the checked options of the configured model, defaults filled in."""
    return check_section(model_class(config).Options, config.options, place="", prefix="model.")


def build_model(config: ModelConfig, sizes: Sizes, generator: torch.Generator) -> Model:
    """Return a new model as configured, its weights drawn by the generator."""
    return model_class(config)(sizes, model_options(config), generator)
