"""Presets: settings that were measured to work well, adapted to the size of a graph.

Each is one of the committed configurations for ICEWS14 (73,000 training facts); smaller and larger graphs get other
numbers of epochs, folds and so on. What is set explicitly always wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from foretime.config import Config, override
from foretime.data.graph import Graph
from foretime.errors import ConfigError, suggestion
from foretime.models import model_class
from foretime.training.guidance import wants_rules
from foretime.training.settings import default_penalties

PresetName = Literal["quick", "balanced", "best"]
DEFAULT_PRESET: PresetName = "balanced"
SMALL, LARGE = 5_000, 200_000
"""Training facts below which, and above which, the numbers of ICEWS14 are replaced."""
FEWEST_FOR_FOLDS = 20
"""Training facts below which there is nothing to fit a re-ranker on."""
FACTS_OF_A_FOLD = 18_000
"""Facts that a re-ranker is fitted on in a large graph, as measured on ICEWS05-15: about one gigabyte of features."""
FACTS_OUT_OF_FOLD = 75_000
SCORES_OF_A_STEP = 50_000_000
"""Scores of all entities that one step may hold: 200 megabytes."""
MANY_ENTITIES = 20_000
VALID_AT_MOST = 10_000
"""Valid facts above which only a sample is ranked to choose the best epoch."""
TINY_VALID = 30
"""Valid facts below which the best epoch would be chosen by chance, so that only the last one is ranked."""


class Preset(NamedTuple):
    """A named set of settings, and what it is for."""

    description: str
    settings: dict[str, Any]


_LCGE = {
    "model.name": "lcge",
    "model.rank": 200,
    "model.commonsense_weight": 0.2,
    "evidence.use": True,
    "evidence.epochs": 5,
    "penalties.event_rules": 100.0,
    "penalties.evidence_l2": 0.0,
    "training.epochs": 20,
    "training.valid_every": 10,
    "reranker.use": True,
}
PRESETS: dict[str, Preset] = {
    "quick": Preset(
        "rules and evidence without embeddings, re-ranked: minutes (ICEWS14: test MRR 0.647)",
        {
            "model.name": "rules",
            "evidence.use": True,
            "evidence.epochs": 6,
            "penalties.evidence_l2": 0.0,
            "training.epochs": 6,
            "training.valid_every": 6,
            "reranker.use": True,
        },
    ),
    "balanced": Preset("LCGE with evidence, re-ranked (ICEWS14: test MRR 0.657)", _LCGE),
    "best": Preset(
        "an ensemble of two, re-ranked out of fold: many times as long as balanced (ICEWS14: test MRR 0.668)",
        {**_LCGE, "training.ensemble_size": 2, "reranker.fit": "out-of-fold", "reranker.trees": 300},
    ),
}


def preset_config(name: str, graph: Graph, overrides: Mapping[str, Any] | None = None) -> Config:
    """Return the configuration of a preset for a graph; `overrides` are settings by dotted name, which win.

    Raise `ConfigError` if there is no such preset, or if an override is wrong.

        >>> preset_config("balanced", graph, {"model.name": "tcomplex", "training.seed": 3})
    """
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise ConfigError(f"unknown preset {name!r}; the presets are {known}{suggestion(name, PRESETS)}")
    given = dict(overrides or {})
    settings = _fitting({**PRESETS[name].settings, **_sized(name, graph)}, given)
    config = override(Config(), {**settings, **given})
    if wants_rules(config) and "penalties.event_rules" not in given and not config.rules.file:
        from foretime.rules.mining import mine_rules

        if len(mine_rules(graph, config.rules)) == 0:
            config = override(config, {"penalties.event_rules": 0.0})
    return config


def _sized(name: str, graph: Graph) -> dict[str, Any]:
    """Return the settings that depend on the size of the graph."""
    facts, entities, valid = len(graph.train), len(graph.entities), len(graph.valid)
    small, large = facts < SMALL, facts > LARGE
    folds = _folds(name, facts)
    candidates = 2 * facts // folds * min(100, entities)  # that a re-ranker is fitted on, of one fold
    sized: dict[str, Any] = {
        "training.batch_size": min(1000, max(50, facts // 20), max(50, SCORES_OF_A_STEP // max(1, entities))),
        "training.candidates": 4_000 if entities > MANY_ENTITIES else 0,
        "training.valid_limit": 3_000 if valid > VALID_AT_MOST else 0,
        "reranker.use": facts >= FEWEST_FOR_FOLDS,
        "reranker.folds": folds,
        "reranker.fitted_folds": min(folds, max(1, FACTS_OUT_OF_FOLD * folds // facts)) if large else 0,
        "reranker.leaves": 15 if small else 31,
        "reranker.leaf_candidates": min(50, max(5, candidates // 1000)),
    }
    if large:
        sized |= {
            "evidence.families": ["pair", "object", "active", "affinity"],
            "evidence.epochs": max(1, min(3, 1_200_000 // facts)),
            "penalties.event_rules": 0.0,
        }
    if name == "quick":
        epochs = sized.get("evidence.epochs", PRESETS[name].settings["evidence.epochs"])
        return sized | {"training.epochs": epochs, "training.valid_every": epochs}
    epochs = 50 if small and valid >= TINY_VALID else 20 if not large else 10 if facts <= 500_000 else 6
    every = epochs if valid < TINY_VALID else epochs // 5 if small else epochs // 2
    rank = 50 if small or entities > 500_000 else 100 if large else 200
    return sized | {"training.epochs": epochs, "training.valid_every": every, "model.rank": rank}


def _folds(name: str, facts: int) -> int:
    usual = 5 if name == "best" or facts < SMALL else 10
    return max(2, min(facts, usual) if facts <= LARGE else min(100, facts // FACTS_OF_A_FOLD))


def _fitting(settings: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that the model has, which may be another one than the preset's."""
    chosen = override(Config(), {key: given.get(key, settings[key]) for key in ("model.name", "evidence.use")})
    kind = model_class(chosen.model)
    options = kind.options().model_fields
    penalties = {f"penalties.{name}": weight for name, weight in default_penalties(chosen).items()}
    kept = {
        key: value
        for key, value in settings.items()
        if not key.startswith(("model.", "penalties.")) or key.removeprefix("model.") in ("name", *options)
    }
    kept |= {key: settings.get(key, weight) for key, weight in penalties.items()}
    if chosen.model.name == "rules":
        epochs = kept["evidence.epochs"]
        kept |= {"training.ensemble_size": 1, "training.candidates": 0}
        kept |= {"training.epochs": epochs, "training.valid_every": epochs}
    elif given.get("training.loss", kind.default_loss) != "softmax" or given.get("training.softmax") == "joint":
        kept["training.candidates"] = 0
    if given.get("training.softmax") == "joint" and chosen.evidence.use:
        kept["training.ensemble_size"] = 1
    return kept
