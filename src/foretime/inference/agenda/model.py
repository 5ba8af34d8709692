"""The small model of the agenda: the probability that an event happens at a step, and in a window of steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from foretime.data.timeline import MOST_STEPS
from foretime.inference.agenda.counts import Floats
from foretime.inference.agenda.history import COLUMNS, STEP_COLUMNS, EventHistory, Triples

FORMAT = 3
ASKED = "log P(object)"
"""What the run itself says: ln P(object | subject, predicate, start)."""
NONE = "log P(none)"
WINDOW_COLUMNS = ("constant", "log-odds", "log steps", "log-odds × log steps", NONE)
MOST_LIKELY = 1 - 1e-6


@dataclass(frozen=True)
class AgendaModel:
    """Weights of logistic regressions, in the order of their columns.

    `rates` needs the past alone, `asked` also what the run says of the object. `window` corrects the probability of a
    window that comes of independent steps, and `longest` is the longest window that it was fitted on.
    """

    rates: Floats
    asked: Floats
    window: Floats
    longest: int
    days: tuple[str, str]
    """The first and the last time that it was fitted on."""

    def step_probabilities(
        self, history: EventHistory, triples: Triples, start: int, window: range, said: Floats | None = None
    ) -> Floats:
        """Return how likely each event is at each step of a window, as of the start, (events, steps).

        `said` is `ASKED`.
        """
        weights, known = self.rates, history.features(triples, start)
        if said is not None:
            weights, known = self.asked, np.column_stack([known, said])
        split = known.shape[1]
        odds = known @ weights[:split]
        found = [sigmoid(odds + history.step_features(triples, start, step) @ weights[split:]) for step in window]
        return np.stack(found, axis=1)

    def window_probability(self, by_step: Floats) -> Floats:
        """Return how likely each event is to happen at least once, from the probabilities of its steps."""
        odds = window_odds(by_step)
        return sigmoid(odds + window_features(odds, min(by_step.shape[1], self.longest)) @ self.window)

    def to_dict(self) -> dict[str, Any]:
        """Return the weights by name, for JSON."""
        names = {"rates": RATES_COLUMNS, "asked": ASKED_COLUMNS, "window": WINDOW_COLUMNS}
        weights = {part: dict(zip(names[part], getattr(self, part).tolist(), strict=True)) for part in names}
        return {"format": FORMAT, "days": list(self.days), "longest": self.longest, **weights}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> AgendaModel:
        """Return the model that `to_dict` described; anything else is a `ValueError` or a `KeyError`."""
        if values["format"] != FORMAT:
            raise ValueError(f"format {values['format']!r} is not {FORMAT}")
        names = (("rates", RATES_COLUMNS), ("asked", ASKED_COLUMNS), ("window", WINDOW_COLUMNS))
        rates, asked, window = (np.array([float(values[part][name]) for name in columns]) for part, columns in names)
        (first, last), longest = values["days"], values["longest"]
        whole = isinstance(first, str) and isinstance(last, str) and type(longest) is int and 1 <= longest <= MOST_STEPS
        if not whole or not np.isfinite(np.concatenate([rates, asked, window])).all():
            raise ValueError("a weight is not finite, or the days are not valid")
        return cls(rates, asked, window, longest, (first, last))


RATES_COLUMNS = (*COLUMNS, *STEP_COLUMNS)
ASKED_COLUMNS = (*COLUMNS, ASKED, *STEP_COLUMNS)


def window_odds(by_step: Floats) -> Floats:
    """Return the log-odds of at least one event, the steps being independent: 1 − Π (1 − p)."""
    none = np.log1p(-np.minimum(by_step, MOST_LIKELY)).sum(axis=1)
    return np.asarray(np.log(np.maximum(-np.expm1(none), 1e-30)) - none)


def window_features(odds: Floats, steps: int) -> Floats:
    """Return `WINDOW_COLUMNS`, (events, columns)."""
    length = np.full(len(odds), np.log(steps))
    return np.stack([np.ones(len(odds)), odds, length, length * odds, -np.logaddexp(0.0, odds)], axis=1)


def sigmoid(odds: Floats) -> Floats:
    """Return the probability of log-odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))))
