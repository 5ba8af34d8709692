"""The memory that a run needs at the least, and whether the machine has it: before anything is trained.

It is an estimate that errs low: what it refuses could not have been trained. It counts the weights with their gradients
and the state of the optimiser, the scores of one step, and the features that the re-ranker is fitted on; not the
graph, the evidence, or what libraries need for themselves.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import torch

from foretime.config import Config
from foretime.data.facts import Events
from foretime.data.graph import Graph
from foretime.errors import ConfigError
from foretime.files import size_text
from foretime.models import Model, Sizes, build_model, model_class
from foretime.reranker.features.extractor import graph_feature_names
from foretime.runs.machine import available_memory
from foretime.training.trainer import sizes_of

FLOAT: Final = 4
BINNED: Final = 1
"""Bytes of a feature as the re-ranker is fitted on it: its values lie on the disk."""
_DRAWN: Final = 13
"""Bytes of a wrong answer: its number, its score, and whether it is right after all."""
STATES: Final = {"adagrad": 1, "adam": 2}
"""What an optimiser keeps of each weight."""


class Need(NamedTuple):
    """What needs how many bytes at the least, and the setting that makes it less."""

    what: str
    bytes: int
    setting: str


class _Step(NamedTuple):
    """How many distinct questions a step has on average, and how many (question, answer) pairs."""

    rows: float
    pairs: float

    @property
    def share(self) -> float:
        """The distinct questions among the pairs."""
        return self.rows / self.pairs


def check_memory(config: Config, graph: Graph) -> None:
    """Raise `ConfigError` if a run of a complete configuration needs more memory than there is."""
    available = available_memory()
    for stage, needs in {
        "training": training_needs(config, graph),
        "the re-ranker": reranker_needs(config, graph),
    }.items():
        needed = sum(need.bytes for need in needs)
        if available is not None and needed > available:
            listed = ", ".join(f"{size_text(need.bytes)} for {need.what}" for need in needs)
            largest = max(needs, key=lambda need: need.bytes)
            raise ConfigError(
                f"{stage} needs at least {size_text(needed)} of memory ({listed}), and there are "
                f"{size_text(available)}; lower {largest.setting}, or take a machine with more"
            )


def training_needs(config: Config, graph: Graph) -> list[Need]:
    """Return what is in memory together in a step of the training."""
    sizes = sizes_of(graph)
    count = _weights(config, sizes)
    copies = 2 + STATES[config.training.optimizer]
    return [
        Need("the weights, their gradients and the optimiser", count * FLOAT * copies, "model.rank"),
        _scores(config, sizes, _step(config, graph)),
    ]


def reranker_needs(config: Config, graph: Graph) -> list[Need]:
    """Return what the re-ranker is fitted on: nothing if there is none.

    Half of the questions count: those whose answer is not among the best candidates teach nothing.
    """
    settings = config.reranker
    if not settings.use:
        return []
    folds = (settings.fitted_folds or settings.folds) if settings.fit == "out-of-fold" else 1
    facts = len(graph.valid) if settings.fit == "valid" else len(graph.train) * folds // settings.folds
    features = len(graph_feature_names(graph.has_intervals))
    candidates = int(facts * _step(config, graph).share) * max(0, min(settings.top, len(graph.entities) - 1))
    return [Need("the features that it is fitted on", candidates * features * BINNED, "reranker.top")]


def _weights(config: Config, sizes: Sizes) -> int:
    """Return how many weights the model has, without making room for them."""
    with torch.device("meta"):
        return count_weights(build_model(config.model, sizes, None))


def count_weights(model: Model) -> int:
    """Return how many numbers a model learns."""
    return sum(weights.numel() for weights in model.parameters())


def _scores(config: Config, sizes: Sizes, step: _Step) -> Need:
    training = config.training
    if training.loss == "softmax":
        of_evidence_alone = training.softmax == "each" and _weights(config, sizes) == 0
        among = 0 if of_evidence_alone else min(training.candidates or sizes.entities, sizes.entities)
        return Need("the scores of a step", int(step.rows * among * FLOAT), "training.batch_size")
    width = _weights(config, sizes._replace(entities=sizes.entities + 1)) - _weights(config, sizes)
    # where scores are products the embeddings of all wrong answers are laid out at once
    each = _DRAWN + (FLOAT * width if model_class(config.model).scores_are_products else 0)
    return Need("the wrong answers of a step", int(step.pairs * training.negatives * each), "training.negatives")


def _step(config: Config, graph: Graph) -> _Step:
    events = graph.train.with_inverses(len(graph.predicates)).events(0)
    pairs, distinct = len(events.subject), _distinct(events, model_class(config.model).uses_time)
    steps = max(1, min(math.ceil(pairs / config.training.batch_size), distinct))
    return _Step(distinct / steps, pairs / steps)


def _distinct(events: Events, uses_time: bool) -> int:
    """Return how many different questions there are: by subject, predicate and time, or without the time."""
    key = events.subject * (events.predicate.max(initial=0) + 1) + events.predicate
    return len(np.unique(key * (events.time.max(initial=0) + 1) + events.time if uses_time else key))
