"""The fit of the agenda on steps whose events are known: the first ones fit the weights, the last ones the windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from foretime.data.facts import Ids, concatenate
from foretime.data.graph import Graph
from foretime.errors import QuestionError
from foretime.evaluation.fitting import fit_logistic
from foretime.inference.agenda.asking import ask_objects
from foretime.inference.agenda.counts import Floats
from foretime.inference.agenda.history import MONTH, WEEK, EventHistory, Triples
from foretime.inference.agenda.model import (
    ASKED_COLUMNS,
    RATES_COLUMNS,
    WINDOW_COLUMNS,
    AgendaModel,
    window_features,
    window_odds,
)
from foretime.inference.agenda.outlook import PAIRS, Limits, candidates, outlook
from foretime.inference.predictor import Predictor

MOST_DAYS = 40
"""Steps that the weights of the rates are fitted on, and at most so many for the rest."""
HORIZONS = (0, 3)
"""Steps after the start that the weights are fitted on."""
WINDOWS = (1, 2, 4, 7)
"""Lengths of windows that their correction is fitted on."""
FEWEST_DAYS = 4
LEAST_SHARE = 0.005
"""Events that are unlikely and did not come are many alike: at least this share of them is fitted on."""


class _RegressionRows(NamedTuple):
    """What a regression is fitted on: features, (rows, columns), what to add to the log-odds, and what came true."""

    features: Floats
    offset: Floats
    came: Ids

    def drawn(self, share: Floats, generator: np.random.Generator) -> _RegressionRows:
        """Return all that came, and of the rest the given shares; the offset makes up for what is left out."""
        share = np.clip(share, LEAST_SHARE, 1.0)
        kept = (self.came > 0) | (generator.random(len(share)) < share)
        return _RegressionRows(self.features[kept], (self.offset - np.log(share))[kept], self.came[kept])


@dataclass(frozen=True)
class AgendaForm:
    """What the regressions may use; `benchmarks/agenda_choices.py` compares forms on valid."""

    deviation: float = 0.3
    window_deviation: float = 0.5
    """Standard deviations of the weights before any event is seen."""
    without: frozenset[str] = frozenset()
    """Columns that have no weight. Unless `NONE` is one, the correction of windows bends high probabilities otherwise
    than low ones, as beta calibration does."""


class FittingSteps(NamedTuple):
    """The steps on which forecasts are made for the fit: those of the weights, and later ones of the windows."""

    weights: Ids
    windows: Ids


def fit_agenda(predictor: Predictor, graph: Graph, splits: tuple[str, ...]) -> AgendaModel:
    """Return the model fitted on valid, where that is evidence of the run, and else on the last tenth of train.

    Nothing of test or of updates is looked at. The run has not learned from valid.
    """
    on_valid = "valid" in splits and len(graph.valid) > 0
    history = EventHistory(graph, concatenate([graph.train, graph.valid]) if on_valid else graph.train)
    last = int(history.time.max(initial=0))
    first = int(graph.valid.known_ends()[0].min()) if on_valid else last - last // 10
    days = np.arange(max(first, last - MOST_DAYS + 1, 1), last + 1)
    if len(days) < FEWEST_DAYS:
        raise QuestionError(
            f"the agenda is fitted on the last steps of train or valid, and here they are {len(days)}; it needs at "
            f"least {FEWEST_DAYS}"
        )
    half = (len(days) + 1) // 2
    return fit_on(predictor, history, FittingSteps(days[:half], days[half:]))


def fit_on(
    predictor: Predictor, history: EventHistory, steps: FittingSteps, form: AgendaForm | None = None
) -> AgendaModel:
    """Return the model fitted on forecasts of some steps; no event after the last of them is looked at."""
    form, generator = form or AgendaForm(), np.random.default_rng(0)
    middle, last = int(steps.windows[0]), int(steps.windows[-1])
    earlier = range(max(middle - MOST_DAYS, 1), middle)  # counts need no run, so that steps of train are as good
    rates = [_rate_rows(history, start, middle, generator) for start in earlier]
    asked = [_asked_rows(predictor, history, int(start), middle, generator) for start in steps.weights]
    label = predictor.graph.timeline.label
    model = AgendaModel(
        _fit_rows(rates, RATES_COLUMNS, form.deviation, form),
        _fit_rows(asked, ASKED_COLUMNS, form.deviation, form),
        np.zeros(len(WINDOW_COLUMNS)),
        max(length for length in WINDOWS if length <= len(steps.windows)),
        (label(int(steps.weights[0])), label(last)),
    )
    windows = [
        row for start in steps.windows for row in _window_rows(predictor, history, model, int(start), last, generator)
    ]
    return replace(model, window=_fit_rows(windows, WINDOW_COLUMNS, form.window_deviation, form))


def _fit_rows(parts: list[_RegressionRows], columns: Sequence[str], deviation: float, form: AgendaForm) -> Floats:
    """Return the weights of a logistic regression on all rows, 0 for a column that the form leaves out."""
    features, offset, came = (np.concatenate(column) for column in zip(*parts, strict=True))
    kept = np.array([name not in form.without for name in columns])
    weights = np.zeros(len(columns))
    weights[kept] = fit_logistic(features[:, kept], offset, came.astype(bool), deviation)
    return weights


def _rate_rows(history: EventHistory, start: int, end: int, generator: np.random.Generator) -> _RegressionRows:
    return _step_rows(history, candidates(history, start, Limits()), None, start, end, generator)


def _asked_rows(
    predictor: Predictor, history: EventHistory, start: int, end: int, generator: np.random.Generator
) -> _RegressionRows:
    """Return the rows of pairs that the run is asked about: half of them the most active, half drawn."""
    known = candidates(history, start, Limits())
    pairs, first = np.unique(history.key("sp", known), return_index=True)
    active = np.argsort(-history.rate(known.take(first), start, rate=WEEK, key="sp"), kind="stable")
    rest = generator.permutation(active[PAIRS // 2 :])[: PAIRS // 2]
    chosen = np.sort(pairs[np.concatenate([active[: PAIRS // 2], rest])])
    asked = ask_objects(predictor, history, known, chosen, start)
    return _step_rows(history, asked.triples, asked.said, start, end, generator)


def _step_rows(
    history: EventHistory, triples: Triples, said: Floats | None, start: int, end: int, generator: np.random.Generator
) -> _RegressionRows:
    """Return one row for each event and each horizon before the end."""
    share = history.rate(triples, start, rate=MONTH) / 4
    columns = RATES_COLUMNS if said is None else ASKED_COLUMNS
    known = history.features(triples, start)
    if said is not None:
        known, share = np.column_stack([known, said]), np.maximum(share, np.exp(said))
    parts = [_RegressionRows(np.empty((0, len(columns))), np.empty(0), np.empty(0, dtype=np.int64))]
    for step in (start + horizon for horizon in HORIZONS if start + horizon < end):
        came = np.isin(history.key("spo", triples), history.between(step, step + 1)).astype(np.int64)
        features = np.column_stack([known, history.step_features(triples, start, step)])
        parts.append(_RegressionRows(features, np.zeros(len(came)), came).drawn(share, generator))
    return _RegressionRows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _window_rows(
    predictor: Predictor, history: EventHistory, model: AgendaModel, start: int, last: int,
    generator: np.random.Generator,
) -> list[_RegressionRows]:  # fmt: skip
    """Return the rows of each length of window that is over by the last day."""
    lengths = [length for length in WINDOWS if start + length - 1 <= last]
    found = outlook(predictor, history, model, start, max(lengths), Limits())
    keys, rows = history.key("spo", found.triples), []
    for length in lengths:
        odds = window_odds(found.by_step[:, :length])
        came = np.isin(keys, history.between(start, start + length)).astype(np.int64)
        features = window_features(odds, length)
        rows.append(_RegressionRows(features, odds, came).drawn(50 / (1 + np.exp(-odds)), generator))
    return rows
