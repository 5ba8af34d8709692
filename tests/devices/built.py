"""Small models of every kind, built as a training builds them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from foretime.config import Config, override
from foretime.data.graph import Graph
from foretime.models import MODELS, Ensemble, Model, Queries
from foretime.models.carried import CarriedModel, TrainedIds
from foretime.rules.rule import RuleIds
from foretime.rules.table import Rules
from foretime.training.settings import complete_config
from foretime.training.trainer import new_model

ALONE = sorted(set(MODELS) - {"rules"})
"""The models with a score of their own; `rules` is nothing without evidence."""
ENSEMBLES = ("ensemble", "ensemble with evidence", "carried", "carried without a name")
KINDS = [*ALONE, *(f"{name} with evidence" for name in sorted(MODELS)), *ENSEMBLES]


def settings_of(kind: str) -> Config:
    """Return the configuration of a kind of model."""
    name, _, evidence = kind.partition(" with ")
    name = name if name in MODELS else "lcge"
    settings = {"model.name": name, "model.rank": 4, "model.init_scale": 0.5, "training.threads": 1}
    if name == "recent":
        settings["model.dropout"] = 0.0
    return complete_config(override(Config(), settings | {"evidence.use": bool(evidence) or MODELS[name].reads_events}))


def build(kind: str, graph: Graph) -> Model:
    """Return a model of a kind, on the CPU, its rules and events with it."""
    config = settings_of(kind)
    model = new_model(config, graph, some_rules())
    if MODELS[config.model.name].takes_rules:
        (model.base if config.evidence.use else model).take_rules(some_rules())
    if kind == "ensemble":
        return Ensemble([model, new_model(config, graph)])
    if kind == "ensemble with evidence":
        model.base = Ensemble([model.base, new_model(settings_of("lcge"), graph)])
    if kind.startswith("carried"):
        return CarriedModel(model, ids_of(graph, without_one=kind.endswith("name")))
    return model


def some_rules() -> Rules:
    """Return two rules as if they had been counted."""
    rules = Rules.of([RuleIds("follows", "pair", 0, (1,)), RuleIds("chain_then", "path", 2, (4, 3))])
    return replace(rules, support=np.ones(2), body_count=np.full(2, 2.0))


def ids_of(graph: Graph, without_one: bool) -> TrainedIds:
    """Return the ids of a graph as those of an earlier one, which may lack the first entity."""
    entities = torch.arange(len(graph.entities))
    entities[0] = -1 if without_one else 0
    return TrainedIds(entities, torch.arange(2 * len(graph.predicates)), len(graph.timeline))


def some_queries(graph: Graph, count: int = 6) -> Queries:
    """Return the questions of the first facts."""
    facts = graph.train
    return Queries(*(torch.from_numpy(ids[:count].copy()) for ids in (facts.subject, facts.predicate, facts.start)))
