"""The models: one file each, and the registry that names them."""

from __future__ import annotations

from typing import Any, cast

import torch

from foretime.config import ModelConfig, Section, check_section
from foretime.errors import ConfigError, suggestion
from foretime.models.atise import ATiSE
from foretime.models.base import Component, Model, Queries, ScoreTerm, Sizes
from foretime.models.complex import ComplEx
from foretime.models.distmult import DistMult
from foretime.models.ensemble import Ensemble
from foretime.models.hyte import HyTE
from foretime.models.lcge import LCGE
from foretime.models.quate import QuatE
from foretime.models.recent import Recent
from foretime.models.rotate import RotatE
from foretime.models.rules import RulesModel
from foretime.models.tcomplex import TComplEx
from foretime.models.telm import TeLM
from foretime.models.tero import TeRo
from foretime.models.tntcomplex import TNTComplEx
from foretime.models.transe import TransE
from foretime.models.ttranse import TTransE

MODELS: dict[str, type[Model]] = {
    "transe": TransE, "distmult": DistMult, "complex": ComplEx, "rotate": RotatE, "quate": QuatE, "ttranse": TTransE,
    "hyte": HyTE, "tero": TeRo, "atise": ATiSE, "telm": TeLM, "tcomplex": TComplEx, "tntcomplex": TNTComplEx,
    "lcge": LCGE, "recent": Recent, "rules": RulesModel,
}  # fmt: skip

__all__ = [
    "LCGE", "MODELS", "ATiSE", "ComplEx", "Component", "DistMult", "Ensemble", "HyTE", "Model", "QuatE", "Queries",
    "Recent", "RotatE", "RulesModel", "ScoreTerm", "Sizes", "TComplEx", "TNTComplEx", "TTransE", "TeLM", "TeRo",
    "TransE", "build_model", "model_class", "model_options",
]  # fmt: skip


def model_class(config: ModelConfig) -> type[Model]:
    """Return the class of the configured model."""
    found = MODELS.get(config.name)
    if found is None:
        raise ConfigError(
            f"unknown model {config.name!r}; the models are {', '.join(MODELS)}{suggestion(config.name, MODELS)}"
        )
    return found


def model_options(config: ModelConfig) -> Section:
    """Return the checked options of the configured model, defaults filled in."""
    return check_section(model_class(config).options(), config.options, place="", prefix="model.")


def build_model(config: ModelConfig, sizes: Sizes, generator: torch.Generator | None) -> Model:
    """Return a new model as configured, its weights drawn by the generator, or by that of torch."""
    kind: Any = model_class(config)  # each has options of its own
    return cast(Model, kind(**sizes._asdict(), **model_options(config).model_dump(), generator=generator))
