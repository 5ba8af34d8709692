"""Ways to make probabilities of the scores of a run, compared on valid: each half is calibrated by the other one.

    python -m benchmarks.calibration_choices RUN ... [--facts 2000] [--out benchmarks/results/calibration_choices.json]

Test is not looked at. The ways:

one temperature        softmax(score / T)
temperature by kind    T differs by the kind of question as it is asked
isotonic               the probability of the best candidate by isotonic regression, the others rescaled
beta                   the same by beta calibration (a logistic regression on ln p and ln(1 − p))
beta by kind           what foretime does: `foretime.evaluation.calibration`
beta, tight prior      the same with weights that are held a quarter as wide
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foretime.evaluation.calibration import (
    PRIOR_DEVIATION,
    Calibration,
    OfKind,
    ScoredCandidates,
    fit_calibration,
    fit_temperatures,
)
from foretime.evaluation.reliability import Reliability, believed, join
from foretime.evaluation.slot_questions import candidates, kinds_for
from foretime.evaluation.slots import SLOTS, Slot
from foretime.runs import evaluation
from foretime.runs.folder import RunFolder
from foretime.runs.loading import load_scorer

Way = Callable[[ScoredCandidates, int], Callable[[ScoredCandidates], Tensor]]
"""Fits on some questions, and returns what gives the probabilities of others."""


def one_temperature(fitted: ScoredCandidates, kinds: int) -> Callable[[ScoredCandidates], Tensor]:
    """Return softmax(score / T)."""
    common = fitted._replace(kind=np.zeros_like(fitted.kind))
    chosen = Calibration.of_temperature(float(fit_temperatures([common], 1)[0]), kinds)
    return lambda asked: chosen.probabilities(asked.scores, asked.kind)


def temperature_by_kind(fitted: ScoredCandidates, kinds: int) -> Callable[[ScoredCandidates], Tensor]:
    """Return softmax(score / T) with a temperature for each kind."""
    chosen = Calibration(tuple(OfKind(one) for one in fit_temperatures([fitted], kinds).tolist()))
    return lambda asked: chosen.probabilities(asked.scores, asked.kind)


def isotonic(fitted: ScoredCandidates, kinds: int) -> Callable[[ScoredCandidates], Tensor]:
    """Return the probability of the best by isotonic regression, the others rescaled."""
    from sklearn.isotonic import IsotonicRegression

    plain = one_temperature(fitted, kinds)
    best, column = plain(fitted).max(1)
    curve = IsotonicRegression(out_of_bounds="clip", y_min=1e-3, y_max=0.999)
    curve.fit(best.numpy(), (column == fitted.answer).numpy())
    return lambda asked: _with_best(plain(asked), curve.predict)


def beta(fitted: ScoredCandidates, kinds: int) -> Callable[[ScoredCandidates], Tensor]:
    """Return the probability of the best by beta calibration, the others rescaled."""
    from sklearn.linear_model import LogisticRegression

    def features(best: Any) -> Any:
        clipped = np.clip(best, 1e-6, 1 - 1e-6)
        return np.stack([np.log(clipped), -np.log(1 - clipped)], axis=1)

    plain = one_temperature(fitted, kinds)
    best, column = plain(fitted).max(1)
    curve = LogisticRegression().fit(features(best.numpy()), (column == fitted.answer).numpy())
    return lambda asked: _with_best(plain(asked), lambda best: curve.predict_proba(features(best))[:, 1])


def beta_by_kind(fitted: ScoredCandidates, kinds: int) -> Callable[[ScoredCandidates], Tensor]:
    """Return the calibration that a run has."""
    chosen = fit_calibration([fitted], kinds)
    return lambda asked: chosen.probabilities(asked.scores, asked.kind)


def beta_tight(fitted: ScoredCandidates, kinds: int) -> Callable[[ScoredCandidates], Tensor]:
    """Return the calibration that a run has, with weights that are held tighter."""
    chosen = fit_calibration([fitted], kinds, PRIOR_DEVIATION / 4)
    return lambda asked: chosen.probabilities(asked.scores, asked.kind)


WAYS: dict[str, Way] = {
    "one temperature": one_temperature,
    "temperature by kind": temperature_by_kind,
    "isotonic": isotonic,
    "beta": beta,
    "beta by kind": beta_by_kind,
    "beta, tight prior": beta_tight,
}


def _with_best(probabilities: Tensor, curve: Callable[[Any], Any]) -> Tensor:
    """Return the probabilities with those of the best replaced and those of the others rescaled."""
    best, column = probabilities.max(1)
    chosen = torch.from_numpy(np.asarray(curve(best.numpy()), dtype=np.float32))
    found = probabilities * ((1 - chosen) / (1 - best).clamp(min=1e-9))[:, None]
    return found.scatter(1, column[:, None], chosen[:, None])


def asked_of(run: Path, facts: int) -> Iterator[tuple[Slot, ScoredCandidates]]:
    """Yield the open candidates of valid facts of a run, slot by slot."""
    folder = RunFolder.open(run)
    graph = folder.graph()
    scorer = load_scorer(folder, folder.config(), graph)
    history = evaluation.pair_history(scorer.model, graph)
    for slot in SLOTS:
        some = evaluation.sample(scorer, slot, graph.valid, facts)
        batches = list(candidates(scorer.score_slot, graph, slot, some, history))
        columns = list(zip(*batches, strict=True))
        yield slot, ScoredCandidates(torch.cat(columns[0]), torch.cat(columns[1]), np.concatenate(columns[2]))


def rows_of(asked: ScoredCandidates, rows: Any) -> ScoredCandidates:
    """Return some of the questions."""
    return ScoredCandidates(*(column[rows] for column in asked))


def cross_fitted(way: Way, asked: ScoredCandidates, kinds: tuple[str, ...]) -> Reliability:
    """Return the reliability of each half by what was fitted on the other one."""
    half = np.random.default_rng(0).permutation(len(asked.answer)) % 2 == 0
    found = []
    for fitted, measured in ((half, ~half), (~half, half)):
        probabilities = way(rows_of(asked, fitted), len(kinds))
        other = rows_of(asked, measured)
        found.append(believed(probabilities(other), other.answer, other.kind))
    return Reliability.of(join(found), kinds)


def main() -> None:
    """Print the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--facts", type=int, default=2_000)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    table: dict[str, Any] = {}
    for run in arguments.runs:
        for slot, asked in asked_of(run, arguments.facts):
            for name, way in WAYS.items():
                whole = cross_fitted(way, asked, kinds_for(slot))
                found = replace(whole, bins=(), kinds={key: replace(one, bins=()) for key, one in whole.kinds.items()})
                table.setdefault(run.name, {}).setdefault(slot, {})[name] = found.to_dict()
                figures = f"ECE {found.ece:.4f} ({found.ece_by_chance:.4f} by chance), Brier {found.brier:.4f}"
                print(f"{run.name} {slot} {name}: {figures}, log loss {found.log_loss:.4f}", flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
