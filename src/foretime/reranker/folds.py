"""The folds of train: what the base model leaves out, so that the re-ranker is fitted on facts that it has not seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foretime.config import Config, RerankerConfig
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.errors import ConfigError, DataError


def folds_of(graph: Graph, config: Config) -> NDArray[np.int64]:
    """Return the fold of each training fact, (facts,), equally large: drawn by the seed, or the newest facts first."""
    if len(graph.train) < config.reranker.folds:
        raise DataError(
            f"train has {len(graph.train)} facts and cannot be cut into {config.reranker.folds} folds; "
            "lower reranker.folds or set reranker.use to false"
        )
    if config.reranker.cut == "time":
        newest = np.argsort(-graph.train.known_ends()[0], kind="stable")
        fold = np.empty(len(newest), dtype=np.int64)
        fold[newest] = np.arange(len(newest)) * config.reranker.folds // len(newest)
        return fold
    draw = np.random.default_rng([config.training.seed, config.reranker.folds])
    return draw.permutation(len(graph.train)) % config.reranker.folds


def facts_of_base_model(graph: Graph, config: Config) -> Facts:
    """Return the training facts that the final base model trains on."""
    if config.reranker.use and config.reranker.fit == "fold":
        return graph.train.take(folds_of(graph, config) != 0)
    return graph.train


def check_reranker(graph: Graph, config: Config) -> None:
    """Raise an error if no re-ranker can be fitted on this graph, before anything is trained."""
    if not config.reranker.use:
        return
    if fits_on_valid(config.reranker) and len(graph.valid) == 0:
        raise ConfigError(
            'the re-ranker is to be fitted on valid, but there are no valid facts; use reranker.fit = "fold"'
        )
    if config.reranker.fit != "valid":
        folds_of(graph, config)


def fits_on_valid(config: RerankerConfig) -> bool:
    """Return whether valid facts are among those that the re-ranker is fitted on."""
    return config.use and (config.fit == "valid" or config.with_valid)


def valid_to_fit_on(graph: Graph, config: RerankerConfig) -> Facts:
    """Return the valid facts that the re-ranker is fitted on: all; with folds by time, the newest, at most a fold."""
    valid, most = graph.valid, len(graph.train) // config.folds
    if config.cut != "time" or config.fit == "valid" or len(valid) <= most:
        return valid
    return valid.take(np.sort(np.argsort(-valid.known_ends()[0], kind="stable")[:most]))


def halves_of_valid(graph: Graph, config: Config) -> tuple[Facts, Facts]:
    """Return the valid facts that the re-ranker is fitted on in two halves: to fit on, and to calibrate on.

    With folds by time the second half is the newest, as test is; otherwise the halves are drawn by the seed.
    """
    facts = valid_to_fit_on(graph, config.reranker)
    if config.reranker.cut == "time":
        order = np.argsort(facts.known_ends()[0], kind="stable")
    else:
        order = np.random.default_rng(config.training.seed).permutation(len(facts))
    first, second = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    return facts.take(first), facts.take(second)


def fitted_on(config: RerankerConfig) -> str:
    """Return what the re-ranker is fitted on, for reports."""
    several = f" of {folds_left_out(config)} of {config.folds} folds" if config.fit == "out-of-fold" else ""
    return config.fit + several + (" and valid" if config.with_valid and config.fit != "valid" else "")


def folds_left_out(config: RerankerConfig) -> int:
    """Return how many folds have models of their own that leave them out."""
    if not config.use or config.fit not in ("refit", "out-of-fold"):
        return 0
    return 1 if config.fit == "refit" else min(config.fitted_folds, config.folds) or config.folds
