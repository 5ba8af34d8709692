"""Would more covariates make the probability of the best candidate more reliable? Cross-fitted on valid, in ten folds.

    python -m benchmarks.calibration_covariates RUN [--out benchmarks/results/calibration_covariates.json]

The probability of the best candidate is a logistic regression (`foretime.evaluation.calibration`). Each way adds
columns to those that it has, or holds them tighter. Temperatures are fitted on all facts, the same ones for all ways.
Test is not looked at.

kept                    constant and slope by kind; ln p, ln(1 − p), entropy and lead
tighter                 the same, with weights that are held a quarter as wide
pooled                  a constant and a slope for all kinds, and what kinds differ by, held a tenth as wide
shape by kind           ln p, ln(1 − p), entropy and lead by kind too, held 0.3 as wide
bends                   the log-odds of the best may bend at four quantiles
bends by kind           they may bend at two quantiles, by kind
more of the ranking     the shares of the first three and of the first ten, the lead of the second, how many candidates
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.calibration_choices import asked_of
from foretime.data.facts import Ids
from foretime.evaluation.calibration import PRIOR_DEVIATION, ScoredCandidates, fit_temperatures, of_rows, shape_of
from foretime.evaluation.fitting import fit_logistic
from foretime.evaluation.metrics import Floats
from foretime.evaluation.reliability import error_by_chance, expected_calibration_error
from foretime.evaluation.slot_questions import kinds_for
from foretime.files import write_json

FOLDS, DRAWS, FACTS, FEWEST = 10, 2, 10_000, 100
Block = tuple[Floats, float]
"""Columns, and how wide their weights are held."""


class Questions(NamedTuple):
    """What is known of the best candidates of some questions, and which are right."""

    odds: Floats
    shape: Floats
    top: Floats
    """The log-probabilities of the first ten."""
    candidates: Floats
    is_kind: Floats
    kind: Ids
    right: Any


def questions_of(asked: ScoredCandidates, kinds: int) -> Questions:
    """Return what is known of the best candidates at the temperatures of a calibration."""
    scaled = asked.scores / of_rows(fit_temperatures([asked], kinds)[asked.kind], asked.scores)
    shape = shape_of(scaled)
    logs = torch.log_softmax(scaled, 1).nan_to_num(neginf=-50.0)
    top = logs.topk(min(10, logs.shape[1]), 1).values.double().numpy()
    is_kind = (asked.kind[:, None] == np.arange(kinds)).astype(np.float64)
    count = asked.scores.isfinite().sum(1).double().numpy()
    return Questions(
        shape.log_odds, shape.values, top, count, is_kind, asked.kind, (shape.best == asked.answer).numpy()
    )


def kept(asked: Questions, width: float = 1.0) -> list[Block]:
    """Return the columns of a calibration."""
    slopes = asked.is_kind * asked.odds[:, None]
    return [(asked.is_kind, width), (slopes, width), (asked.shape, width)]


def pooled(asked: Questions) -> list[Block]:
    """Return what all kinds have in common, and what they differ by."""
    common = np.stack([np.ones(len(asked.odds)), asked.odds], axis=1)
    return [(common, 1.0), (asked.shape, 1.0), *kept(asked, 0.1)[:2]]


def shape_by_kind(asked: Questions) -> list[Block]:
    """Return the columns of a calibration, and the shape by kind."""
    scaled = _scaled(asked.shape)
    return kept(asked) + [(asked.is_kind * scaled[:, [place]], 0.3) for place in range(scaled.shape[1])]


def bends(asked: Questions) -> list[Block]:
    """Return the columns of a calibration, and the log-odds from four quantiles on."""
    places = np.quantile(asked.odds, [0.2, 0.4, 0.6, 0.8])
    return [*kept(asked), (np.maximum(asked.odds[:, None] - places, 0.0), 1.0)]


def bends_by_kind(asked: Questions) -> list[Block]:
    """Return the columns of a calibration, and the log-odds from two quantiles on by kind."""
    places = np.quantile(asked.odds, [0.33, 0.67])
    return kept(asked) + [(asked.is_kind * np.maximum(asked.odds - place, 0.0)[:, None], 0.5) for place in places]


def more_of_the_ranking(asked: Questions) -> list[Block]:
    """Return the columns of a calibration, and more of what the ranking looks like."""
    chances = np.exp(asked.top)
    three, ten = chances[:, :3].sum(1), chances.sum(1)
    second = asked.top[:, 1] - asked.top[:, 2]
    columns = [np.log(three), np.log(1 - three + 1e-6), np.log(1 - ten + 1e-6), second, np.log(asked.candidates)]
    return [*kept(asked), (_scaled(np.stack(columns, axis=1)), 0.3)]


WAYS: dict[str, Callable[[Questions], list[Block]]] = {
    "kept": kept,
    "tighter": lambda asked: kept(asked, 0.25),
    "pooled": pooled,
    "shape by kind": shape_by_kind,
    "bends": bends,
    "bends by kind": bends_by_kind,
    "more of the ranking": more_of_the_ranking,
}


def measure(asked: Questions, way: Callable[[Questions], list[Block]]) -> dict[str, float]:
    """Return log loss and calibration error of the best candidates, each by what was fitted without its fold."""
    columns = np.hstack([values * width for values, width in way(asked)])
    found = [_reliability(_cross_fitted(asked, columns, draw), asked) for draw in range(DRAWS)]
    return {name: round(float(np.mean([one[name] for one in found])), 5) for name in found[0]}


def _cross_fitted(asked: Questions, columns: Floats, draw: int) -> Floats:
    fold = np.random.default_rng(draw).permutation(len(columns)) % FOLDS
    probability = np.zeros(len(columns))
    for number in range(FOLDS):
        own = fold == number
        weights = fit_logistic(columns[~own], asked.odds[~own], asked.right[~own], PRIOR_DEVIATION)
        probability[own] = 1 / (1 + np.exp(-(asked.odds[own] + columns[own] @ weights)))
    return probability


def _reliability(probability: Floats, asked: Questions) -> dict[str, float]:
    said = np.where(asked.right, probability, 1 - probability)
    groups = [asked.kind == kind for kind in range(asked.is_kind.shape[1])]
    groups = [group for group in groups if group.sum() >= FEWEST]
    sizes = [float(group.sum()) for group in groups]
    errors = [expected_calibration_error(probability[group], asked.right[group]) for group in groups]
    chance = [error_by_chance(probability[group]) for group in groups]
    return {
        "log loss": float(-np.log(np.maximum(said, 1e-9)).mean()),
        "ECE": expected_calibration_error(probability, asked.right),
        "ECE by kind": float(np.average(errors, weights=sizes)),
        "by chance": float(np.average(chance, weights=sizes)),
        "worst kind": max(errors),
    }


def _scaled(columns: Floats) -> Floats:
    return np.asarray((columns - columns.mean(0)) / (columns.std(0) + 1e-9))


def main() -> None:
    """Print the figures, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    found: dict[str, Any] = {"run": arguments.run.name}
    for slot, scored in asked_of(arguments.run, FACTS):
        asked = questions_of(scored, len(kinds_for(slot)))
        found[slot] = {name: measure(asked, way) for name, way in WAYS.items()}
        for name, figures in found[slot].items():
            print(f"{slot}, {name}: {figures}", flush=True)
    if arguments.out:
        write_json(arguments.out, found)


if __name__ == "__main__":
    main()
