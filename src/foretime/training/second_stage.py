"""Which facts the first stage leaves out, so that the second can be fitted on what the first has not seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foretime.combining.columns import Describer
from foretime.combining.combiner import Combiner, Examples, examples_of, fit
from foretime.config import CombinerConfig, Config
from foretime.data.dataset import Dataset
from foretime.data.facts import Facts
from foretime.errors import ConfigError, DataError
from foretime.evaluation.filters import KnownAnswers
from foretime.models import Model
from foretime.training.listeners import Listener
from foretime.training.members import load_first_stage
from foretime.training.runs import RunFolder

TREES_BETWEEN_WORDS = 50


def parts_of(dataset: Dataset, config: Config) -> NDArray[np.int64]:
    """Return the part of each training fact, (facts,): drawn by the seed, equally large."""
    if len(dataset.train) < config.combiner.folds:
        raise DataError(
            f"train has {len(dataset.train)} facts and cannot be cut into {config.combiner.folds} parts; "
            "lower combiner.folds or set combiner.use to false"
        )
    draw = np.random.default_rng([config.training.seed, config.combiner.folds])
    return draw.permutation(len(dataset.train)) % config.combiner.folds


def facts_of_first_stage(dataset: Dataset, config: Config) -> Facts:
    """Return the training facts that the final first stage trains on."""
    if config.combiner.use and config.combiner.fit == "fold":
        return dataset.train.take(parts_of(dataset, config) != 0)
    return dataset.train


def check_second_stage(dataset: Dataset, config: Config) -> None:
    """Raise an error if the second stage cannot be fitted on this data set, before anything is trained."""
    if not config.combiner.use:
        return
    if fits_on_valid(config.combiner) and len(dataset.valid) == 0:
        raise ConfigError(
            'the combiner is to be fitted on valid, but there are no valid facts; use combiner.fit = "fold"'
        )
    if config.combiner.fit != "valid":
        parts_of(dataset, config)


def fits_on_valid(config: CombinerConfig) -> bool:
    """Return whether valid facts are among those that the second stage is fitted on."""
    return config.use and (config.fit == "valid" or config.with_valid)


def fitted_on(config: CombinerConfig) -> str:
    """Return on what the second stage is fitted, for reports."""
    several = f" of {parts_trained_without(config)} of {config.folds} parts" if config.fit == "out-of-fold" else ""
    return config.fit + several + (" and valid" if config.with_valid and config.fit != "valid" else "")


def fit_second_stage(
    run: RunFolder, config: Config, dataset: Dataset, model: Model, describer: Describer, listener: Listener
) -> Combiner:
    """Return the combiner of a run whose first stage, `model`, is trained, and keep it in the run folder."""
    found = []
    if config.combiner.fit == "fold":
        listener.stage("describing candidates of the facts left out")
        part = parts_of(dataset, config)
        left_out, seen = dataset.train.take(part == 0), dataset.train.take(part != 0)
        found.append(_examples(model, describer, dataset, config, left_out, seen))
    elif config.combiner.fit != "valid":
        found += _examples_of_folds(run, config, dataset, describer, listener)
    if fits_on_valid(config.combiner):
        listener.stage("describing candidates of valid")
        found.append(_examples(model, describer, dataset, config, dataset.valid, dataset.train))
    questions = sum(len(part.sizes) for part in found)
    listener.stage(f"fitting the combiner on {questions:,} questions")

    def hear(trees: int) -> None:
        if trees % TREES_BETWEEN_WORDS == 0 and trees < config.combiner.trees:
            listener.stage(f"fitting the combiner: {trees} of {config.combiner.trees} trees")

    combiner = fit(found, config.combiner, config.training.seed, config.training.threads, hear)
    combiner.save(run.combiner_file)
    return combiner


def _examples_of_folds(
    run: RunFolder, config: Config, dataset: Dataset, describer: Describer, listener: Listener
) -> list[Examples]:
    """Return the examples of one part or of several, each by a first stage that was trained without it."""
    part, rules = parts_of(dataset, config), run.rules(dataset)
    found = []
    for number in range(parts_trained_without(config.combiner)):
        listener.stage(f"describing candidates of part {number + 1}")
        model = load_first_stage(run.fold(number), config, dataset, rules)
        left_out, seen = dataset.train.take(part == number), dataset.train.take(part != number)
        found.append(_examples(model, describer, dataset, config, left_out, seen))
    return found


def parts_trained_without(config: CombinerConfig) -> int:
    """Return how many parts of train have first stages of their own that leave them out."""
    if not config.use or config.fit not in ("refit", "out-of-fold"):
        return 0
    return 1 if config.fit == "refit" else min(config.parts, config.folds) or config.folds


def _examples(
    model: Model, describer: Describer, dataset: Dataset, config: Config, facts: Facts, seen: Facts
) -> Examples:
    predicates = len(dataset.predicates)
    known = KnownAnswers(seen.with_inverses(predicates))
    return examples_of(model, describer, facts.with_inverses(predicates), known, config.combiner.top)
