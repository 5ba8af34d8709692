"""Which facts the first stage leaves out, so that the second can be fitted on what the first has not seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foretime.config import Config, RerankerConfig
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.errors import ConfigError, DataError
from foretime.evaluation.filters import AnswerIndex
from foretime.models import Model
from foretime.reranker.features.extractor import Describer
from foretime.reranker.trees import Examples, Reranker, examples_of, fit
from foretime.runs.ensemble import load_base_model
from foretime.runs.folder import RunFolder
from foretime.training.callbacks import Callback

TREES_BETWEEN_WORDS = 50


def parts_of(graph: Graph, config: Config) -> NDArray[np.int64]:
    """Return the part of each training fact, (facts,): drawn by the seed, equally large."""
    if len(graph.train) < config.reranker.folds:
        raise DataError(
            f"train has {len(graph.train)} facts and cannot be cut into {config.reranker.folds} parts; "
            "lower reranker.folds or set reranker.use to false"
        )
    draw = np.random.default_rng([config.training.seed, config.reranker.folds])
    return draw.permutation(len(graph.train)) % config.reranker.folds


def facts_of_base_model(graph: Graph, config: Config) -> Facts:
    """Return the training facts that the final first stage trains on."""
    if config.reranker.use and config.reranker.fit == "fold":
        return graph.train.take(parts_of(graph, config) != 0)
    return graph.train


def check_reranker(graph: Graph, config: Config) -> None:
    """Raise an error if the second stage cannot be fitted on this data set, before anything is trained."""
    if not config.reranker.use:
        return
    if fits_on_valid(config.reranker) and len(graph.valid) == 0:
        raise ConfigError(
            'the reranker is to be fitted on valid, but there are no valid facts; use reranker.fit = "fold"'
        )
    if config.reranker.fit != "valid":
        parts_of(graph, config)


def fits_on_valid(config: RerankerConfig) -> bool:
    """Return whether valid facts are among those that the second stage is fitted on."""
    return config.use and (config.fit == "valid" or config.with_valid)


def fitted_on(config: RerankerConfig) -> str:
    """Return on what the second stage is fitted, for reports."""
    several = f" of {parts_trained_without(config)} of {config.folds} parts" if config.fit == "out-of-fold" else ""
    return config.fit + several + (" and valid" if config.with_valid and config.fit != "valid" else "")


def fit_reranker(
    run: RunFolder, config: Config, graph: Graph, model: Model, describer: Describer, callback: Callback
) -> Reranker:
    """Return the reranker of a run whose first stage, `model`, is trained, and keep it in the run folder."""
    found = []
    if config.reranker.fit == "fold":
        callback.announce("describing candidates of the facts left out")
        part = parts_of(graph, config)
        left_out, seen = graph.train.take(part == 0), graph.train.take(part != 0)
        found.append(_examples(model, describer, graph, config, left_out, seen))
    elif config.reranker.fit != "valid":
        found += _examples_of_folds(run, config, graph, describer, callback)
    if fits_on_valid(config.reranker):
        callback.announce("describing candidates of valid")
        found.append(_examples(model, describer, graph, config, graph.valid, graph.train))
    questions = sum(len(part.sizes) for part in found)
    callback.announce(f"fitting the reranker on {questions:,} questions")

    def hear(trees: int) -> None:
        if trees % TREES_BETWEEN_WORDS == 0 and trees < config.reranker.trees:
            callback.announce(f"fitting the reranker: {trees} of {config.reranker.trees} trees")

    reranker = fit(found, config.reranker, config.training.seed, config.training.threads, hear)
    reranker.save(run.reranker_file)
    return reranker


def _examples_of_folds(
    run: RunFolder, config: Config, graph: Graph, describer: Describer, callback: Callback
) -> list[Examples]:
    """Return the examples of one part or of several, each by a first stage that was trained without it."""
    part, rules = parts_of(graph, config), run.rules(graph)
    found = []
    for number in range(parts_trained_without(config.reranker)):
        callback.announce(f"describing candidates of part {number + 1}")
        model = load_base_model(run.fold(number), config, graph, rules)
        left_out, seen = graph.train.take(part == number), graph.train.take(part != number)
        found.append(_examples(model, describer, graph, config, left_out, seen))
    return found


def parts_trained_without(config: RerankerConfig) -> int:
    """Return how many parts of train have first stages of their own that leave them out."""
    if not config.use or config.fit not in ("refit", "out-of-fold"):
        return 0
    return 1 if config.fit == "refit" else min(config.parts, config.folds) or config.folds


def _examples(model: Model, describer: Describer, graph: Graph, config: Config, facts: Facts, seen: Facts) -> Examples:
    predicates = len(graph.predicates)
    known = AnswerIndex(seen.with_inverses(predicates))
    return examples_of(model, describer, facts.with_inverses(predicates), known, config.reranker.top)
