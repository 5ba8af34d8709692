"""Calibration: scores become probabilities that come true as often as they say.

The probability of a question's best candidate is a logistic regression on how far it stands out and on the kind of the
question: whether the two have met the same step, lately, long ago or never. The others share what is left by a softmax
of their own. All of it is fitted on valid under a prior, without which a few facts that are all answered correctly
would make every probability 100 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Ids
from foretime.devices import fetch, send, widest
from foretime.evaluation.fitting import behind_best, fit_logistic, fit_rest, fit_temperature, rest_logits
from foretime.evaluation.metrics import Floats

PRIOR_DEVIATION = 1.0
"""The standard deviation of every weight before any fact is seen; weights of 0 leave the softmax as it is."""
SHAPE = ("log_probability", "log_other", "entropy", "lead")
"""What is read from the softmax of the scores: ln p of the best candidate, −ln(1 − p), the entropy, ln(p / next p)."""
_FARTHEST = 12.0
"""Odds and leads beyond e^12 say nothing more."""


class ScoredCandidates(NamedTuple):
    """Scores of the candidates of some questions, (questions, candidates), their true answers and their kinds.

    A candidate that is already known scores −∞. `answer` is the column of each true answer, `kind` the number of the
    kind of each question as it is asked, both (questions,).
    """

    scores: Tensor
    answer: Tensor
    kind: Ids


class OfKind(NamedTuple):
    """What differs by the kind of a question: the temperature, and two weights for its best candidate."""

    temperature: float = 1.0
    constant: float = 0.0
    log_odds: float = 0.0


@dataclass(frozen=True)
class Calibration:
    """What makes probabilities of the scores for one slot.

    `kinds` has what differs by the kind of a question, by its number, and `first` a weight for each of `SHAPE`. Without
    any weights, a probability is softmax(score / temperature).
    """

    kinds: tuple[OfKind, ...]
    first: Mapping[str, float] = field(default_factory=dict)
    rest_temperature: float = 1.0
    """That of the candidates behind the best one, in temperatures of the question's kind."""
    rest_bend: float = 0.0
    """How much more steeply their probabilities fall at first than far behind."""
    ceiling: float = 1.0
    """What no probability is above where there are two candidates or more: (n + 1) / (n + 2) after n questions."""

    @classmethod
    def of_temperature(cls, temperature: float, kinds: int) -> Calibration:
        """Return the softmax of the scores at one temperature."""
        return cls((OfKind(temperature),) * kinds)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """Return the calibration in plain values; raises one of several errors if they are none."""
        found = cls(**{**values, "kinds": tuple(OfKind(**kind) for kind in values["kinds"])})
        above_0 = [*(kind.temperature for kind in found.kinds), found.rest_temperature]
        numbers = np.array(
            [*above_0, found.rest_bend, found.ceiling, *found.first.values(), *np.ravel(found.kinds)], dtype=np.float64
        )
        if not np.isfinite(numbers).all() or min(*above_0, found.ceiling) <= 0 or found.rest_bend < 0:
            raise ValueError("a temperature must be a number above 0, and every weight a number")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "kinds": [kind._asdict() for kind in self.kinds]}

    def probabilities(self, scores: Tensor, kind: Ids) -> Tensor:
        """Return the probability of each candidate, (questions, candidates), in the order of the scores.

        `kind` is the number of each question's kind, (questions,). A score of −∞ has no probability. The others of a
        question sum to one.
        """
        temperature, constant, slope = np.array(self.kinds)[kind].T
        scaled = scores / of_rows(temperature, scores)
        shape = shape_of(scaled)
        weights = np.array([self.first.get(name, 0.0) for name in SHAPE])
        odds = shape.log_odds * (1 + slope) + constant + shape.values @ weights
        best = send(torch.from_numpy(odds).sigmoid().to(scores.dtype), scores.device)
        rest = torch.softmax(rest_logits(behind_best(scaled, shape.best), self.rest_temperature, self.rest_bend), dim=1)
        open_ = scores.isfinite().sum(1)
        best = torch.where(open_ < 2, open_.to(best.dtype), torch.maximum(best.clamp(max=self.ceiling), 1 / open_))
        found = _capped((1 - best)[:, None] * rest.nan_to_num(0.0), best)
        found.scatter_(1, shape.best[:, None], best[:, None])
        tied = scores == scores.max(1, keepdim=True).values
        rows = (tied.sum(1) > 1) & (open_ > 1)  # equal scores have equal probabilities, at the top too
        found[rows] = torch.where(tied[rows], _mean(found[rows], tied[rows]), found[rows])
        return found


def fit_calibration(batches: Sequence[ScoredCandidates], kinds: int, deviation: float = PRIOR_DEVIATION) -> Calibration:
    """Return the most likely calibration, given the true answers; the softmax of the scores without any.

    The questions should be in no order: the candidates behind a wrong best one are fitted on the first of them.
    """
    temperatures = fit_temperatures(batches, kinds)
    asked = [batch for batch in batches if len(batch.answer)]
    if not asked:
        return Calibration.of_temperature(1.0, kinds)

    def scaled(batch: ScoredCandidates) -> Tensor:
        return batch.scores / of_rows(temperatures[batch.kind], batch.scores)

    shapes = [shape_of(scaled(batch)) for batch in asked]
    log_odds = np.concatenate([shape.log_odds for shape in shapes])
    is_right = [shape.best == batch.answer for shape, batch in zip(shapes, asked, strict=True)]
    is_kind = np.concatenate([batch.kind for batch in asked])[:, None] == np.arange(kinds)  # (questions, kinds)
    columns = [is_kind, is_kind * log_odds[:, None], np.concatenate([shape.values for shape in shapes])]
    weights = fit_logistic(np.hstack(columns), log_odds, fetch(torch.cat(is_right)).numpy(), deviation)
    missed = (  # one batch at a time, and no more of them than are fitted on
        (behind_best(scaled(batch)[~right], shape.best[~right]), batch.answer[~right])
        for batch, shape, right in zip(asked, shapes, is_right, strict=True)
    )
    of_kinds = zip(temperatures.tolist(), weights[:kinds].tolist(), weights[kinds : 2 * kinds].tolist(), strict=True)
    first = dict(zip(SHAPE, weights[2 * kinds :].tolist(), strict=True))
    ceiling = (len(log_odds) + 1) / (len(log_odds) + 2)
    return Calibration(tuple(OfKind(*one) for one in of_kinds), first, *fit_rest(missed, deviation), ceiling)


def fit_temperatures(batches: Sequence[ScoredCandidates], kinds: int) -> Floats:
    """Return the temperature of each kind, with that of all questions as what is expected of it."""
    common = fit_temperature([(batch.scores, batch.answer) for batch in batches if len(batch.answer)])
    found = np.full(kinds, common)
    for kind in range(kinds):
        rows = [send(batch.kind == kind, batch.scores.device) for batch in batches]
        own = [(batch.scores[mine], batch.answer[mine]) for mine, batch in zip(rows, batches, strict=True)]
        found[kind] = fit_temperature([one for one in own if len(one[1])], common)
    return found


def of_rows(values: Floats, scores: Tensor) -> Tensor:
    """Return a value of each question as a divisor of its scores, (questions, 1)."""
    return send(torch.from_numpy(values)[:, None].to(scores.dtype), scores.device)


class Peak(NamedTuple):
    """The best candidate of each question, its log-odds in a softmax of the scores, and `SHAPE`, (questions, 4)."""

    best: Tensor
    log_odds: Floats
    values: Floats


def shape_of(scores: Tensor) -> Peak:
    """Return the best candidate of each question, and how the ranking falls from there."""
    logs = torch.log_softmax(scores, dim=1).nan_to_num(nan=-torch.inf, neginf=-torch.inf)
    top, columns = logs.topk(min(2, logs.shape[1]), dim=1)
    wide = widest(scores.device)
    best, first, second = columns[:, 0], top[:, 0].to(wide), top[:, -1].to(wide)
    other = torch.log(-torch.expm1(first.clamp(max=-1e-6)))
    entropy = -torch.special.xlogy(logs.exp(), logs.exp()).sum(1).to(wide)
    values = torch.stack([first, -other, entropy, first - second], dim=1)  # (questions, 4)
    values = fetch(values.nan_to_num(nan=0.0).clamp(-_FARTHEST, _FARTHEST)).double()
    return Peak(best, (values[:, 0] + values[:, 1]).clamp(-_FARTHEST, _FARTHEST).numpy(), values.numpy())


def _capped(found: Tensor, cap: Tensor) -> Tensor:
    """Return the probabilities with none above the cap of its row; what is cut off goes to the others in proportion."""
    rows = (found.max(1).values > cap).nonzero()[:, 0]
    if len(rows) == 0:
        return found
    wide = widest(found.device)
    shares, order = found[rows].to(wide).sort(dim=1, descending=True)
    limit, total = cap[rows, None].to(wide), shares.sum(1, keepdim=True)
    capped = torch.arange(shares.shape[1], dtype=wide, device=found.device)  # how many of the largest are cut
    left = shares.flip(1).cumsum(1).flip(1)  # what those from here on have
    scale = (total - capped * limit) / left.clamp(min=1e-300)
    count = (scale * shares > limit * (1 + 1e-12)).long().argmin(1, keepdim=True)  # the first that need not be cut
    scaled = torch.where(capped < count, limit, shares * scale.gather(1, count)).to(found.dtype)
    found[rows] = torch.zeros_like(scaled).scatter_(1, order, scaled)
    return found


def _mean(found: Tensor, of: Tensor) -> Tensor:
    """Return the mean of the marked values of each row, (rows, 1)."""
    return (found * of).sum(1, keepdim=True) / of.sum(1, keepdim=True)
