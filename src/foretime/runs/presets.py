"""Presets: settings that were chosen by MRR on valid, adapted to the kind and the size of a graph.

Each is a committed configuration: of ICEWS14 for events, of ICEWS05-15 where there are many, of Wikidata12k for
intervals. Graphs of other sizes get other numbers of epochs, folds and so on. What is set explicitly always wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from foretime.config import Config, RulesConfig, override
from foretime.data.graph import Graph
from foretime.errors import ConfigError, suggestion
from foretime.models import model_class
from foretime.rules.mining import mine_rules
from foretime.rules.table import Rules
from foretime.training.guidance import wants_rules
from foretime.training.settings import default_penalties

PresetName = Literal["quick", "balanced", "best", "forecast"]
DEFAULT_PRESET: PresetName = "balanced"
SMALL, LARGE = 5_000, 200_000
"""Training facts below which, and above which, the numbers of ICEWS14 are replaced."""
FEWEST_FOR_FOLDS = 20
"""Training facts below which there is nothing to fit a re-ranker on."""
FACTS_OF_A_FOLD = 18_000
"""Facts that a re-ranker is fitted on in a large graph, as measured on ICEWS05-15: about one gigabyte of features."""
FITTED_FOLDS = 5
"""Folds that a re-ranker is fitted on out of fold: each costs a training."""
QUESTIONS_OF_RULES = 2_400_000
"""Questions from which rules are learned in a large graph: about as many as ICEWS05-15 has in three epochs."""
MANY_ENTITIES = 20_000
VALID_AT_MOST = 10_000
"""Valid facts above which only a sample is ranked to choose the best epoch."""
TINY_VALID = 30
"""Valid facts below which the best epoch would be chosen by chance, so that only the last one is ranked."""


class Preset(NamedTuple):
    """A named set of settings, and what it is for."""

    description: str
    settings: dict[str, Any]


_SHARED = {"evidence.use": True, "penalties.evidence_l2": 0.0, "reranker.use": True}
_QUICK = {**_SHARED, "model.name": "rules", "evidence.epochs": 6, "training.epochs": 6, "training.valid_every": 6}
_LCGE = {
    **_SHARED,
    "model.name": "lcge",
    "model.rank": 200,
    "model.commonsense_weight": 0.2,
    "evidence.epochs": 5,
    "penalties.event_rules": 100.0,
    "training.epochs": 20,
    "training.valid_every": 10,
}
_FORECAST = {
    **_SHARED,
    "model.name": "recent",
    "evidence.past_only": True,
    "evidence.splits": ["train", "valid", "test"],
    "evidence.families": ["recurrence", "contact", "popularity"],
    "evidence.epochs": 2,
    "penalties.evidence_l2": 3e-4,
    "training.epochs": 4,
    "training.valid_every": 4,
    "reranker.fit": "refit",
    "reranker.cut": "time",
    "reranker.top": 60,
    "reranker.trees": 200,
}
_OUT_OF_FOLD = {"training.ensemble_size": 2, "reranker.fit": "out-of-fold", "reranker.trees": 300}
PRESETS: dict[str, Preset] = {
    "quick": Preset("rules and evidence without embeddings, re-ranked: minutes", _QUICK),
    "balanced": Preset("LCGE with evidence, re-ranked", _LCGE),
    "best": Preset(
        "an ensemble of two, re-ranked out of fold: many times as long as balanced",
        {**_LCGE, **_OUT_OF_FOLD},
    ),
    "forecast": Preset(
        "past events that fade with time, and attention to the latest, re-ranked: what comes next", _FORECAST
    ),
}
_INTERVALS = {
    "model.rank": 100,
    "model.commonsense_weight": 1.0,
    "penalties.event_n3": 0.02,
    "penalties.event_rules": 0.0,
    "penalties.commonsense_n3": 0.02,
    "training.valid_every": 5,
}
_BEST_OF_INTERVALS = {"training.ensemble_size": 1, "reranker.trees": 500, "reranker.learning_rate": 0.05}
"""What Wikidata12k chose: with intervals commonsense weighs as much as events."""
_LARGE = {
    "model.rank": 100,
    "evidence.families": ["pair", "object", "active", "affinity"],
    "penalties.event_rules": 0.0,
    "reranker.trees": 200,
}
_BEST_OF_LARGE = {"training.ensemble_size": 2, "reranker.fit": "fold", "reranker.trees": 300}
"""What ICEWS05-15 chose: one fold of a large graph has enough facts to fit trees on."""


def check_preset(name: str) -> None:
    """Raise `ConfigError` if there is no such preset."""
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise ConfigError(f"unknown preset {name!r}; the presets are {known}{suggestion(name, PRESETS)}")


def preset_config(
    name: str,
    graph: Graph,
    overrides: Mapping[str, Any] | None = None,
    mine: Callable[[Graph, RulesConfig], Rules] = mine_rules,
) -> Config:
    """Return the configuration of a preset for a graph; `overrides` are settings by dotted name, which win.

    Where rules would guide the model they are mined, to see whether there are any.

    Raise `ConfigError` if there is no such preset, or if an override is wrong.

        >>> preset_config("balanced", graph, {"model.name": "tcomplex", "training.seed": 3})
    """
    check_preset(name)
    given = dict(overrides or {})
    settings = _fitting(_settings(name, graph), given)
    config = override(Config(), {**settings, **given})
    undecided = wants_rules(config) and "penalties.event_rules" not in given and not config.rules.file
    if undecided and len(mine(graph, config.rules)) == 0:
        return override(config, {"penalties.event_rules": 0.0})
    return config


def _settings(name: str, graph: Graph) -> dict[str, Any]:
    """Return the settings of a preset for a graph of this kind and size."""
    facts, entities, valid, intervals = len(graph.train), len(graph.entities), len(graph.valid), graph.has_intervals
    small, large, best, forecast = facts < SMALL, facts > LARGE, name == "best", name == "forecast"
    found = dict(PRESETS[name].settings)
    if intervals and not forecast:
        found |= _INTERVALS | (_BEST_OF_INTERVALS if best else {})
    if large and not forecast:
        found |= _LARGE | (_BEST_OF_LARGE if best else {})
        found |= {"evidence.epochs": max(1, min(3, 1_200_000 // facts))}
    if forecast:
        found["evidence.epochs"] = 6 if small else 1 if large else 2
        found["training.epochs"] = found["training.valid_every"] = 12 if small else 2 if large else 4
    folds = max(2, min(facts, 5 if small or forecast or (best and not intervals) else 10))
    if large:
        folds = min(100, facts // FACTS_OF_A_FOLD)
    candidates = 2 * facts // folds * min(100, entities)  # that a re-ranker is fitted on, of one fold
    found |= {
        "training.batch_size": min(1000, max(50, facts // 20)),
        "training.candidates": 1_500 if forecast else 4_000 if entities > MANY_ENTITIES else 0,
        "training.valid_limit": 3_000 if valid > VALID_AT_MOST else 0,
        "reranker.use": facts >= FEWEST_FOR_FOLDS,
        "reranker.with_valid": forecast and valid > 0,
        "reranker.folds": folds,
        "reranker.leaves": 15 if small else 31,
        "reranker.leaf_candidates": min(50, max(5, candidates // 1000)),
    }
    if name == "quick":
        if 2 * facts > QUESTIONS_OF_RULES:
            found["training.epoch_limit"] = QUESTIONS_OF_RULES
        return found | dict.fromkeys(("training.epochs", "training.valid_every"), found["evidence.epochs"])
    if forecast:
        return found
    if small or entities > 500_000:
        found["model.rank"] = 50
    epochs = 50 if small and valid >= TINY_VALID else 20 if not large else 10 if facts <= 500_000 else 6
    found["training.epochs"] = epochs
    if small or large or valid < TINY_VALID:
        found["training.valid_every"] = epochs if valid < TINY_VALID else epochs // 5 if small else epochs // 2
    return found


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
    wanted = {**settings, **given}
    if wanted.get("reranker.fit") == "out-of-fold" and wanted["reranker.folds"] > FITTED_FOLDS:
        kept["reranker.fitted_folds"] = FITTED_FOLDS
    if chosen.model.name == "rules":  # has no embeddings
        kept.pop("model.rank", None)
        epochs = kept["evidence.epochs"]
        kept |= {"training.ensemble_size": 1, "training.candidates": 0}
        kept |= {"training.epochs": epochs, "training.valid_every": epochs}
    elif given.get("training.loss", kind.default_loss) != "softmax" or given.get("training.softmax") == "joint":
        kept["training.candidates"] = 0
    if given.get("training.softmax") == "joint" and chosen.evidence.use:
        kept["training.ensemble_size"] = 1
    return kept
