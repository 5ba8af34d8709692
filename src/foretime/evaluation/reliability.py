"""How far probabilities can be believed: calibration error, Brier score, log loss and reliability bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.data.facts import Ids
from foretime.devices import fetch, widest
from foretime.evaluation.metrics import Floats

BINS = 15
QUESTIONS_FOR_A_BIN = 100
"""A group of few questions has fewer bins: with one question in each, the error would be that of chance."""
DRAWS = 200


class Bin(NamedTuple):
    """Questions whose best answers have about the same probability: their number, its mean, the share that is right."""

    questions: int
    probability: float
    right: float


class Believed(NamedTuple):
    """Of each question the probability of the best answer, whether it is right, and the two losses: (questions,) each.

    `brier` is Σ (p − y)² over the candidates, y being 1 for the true answer and 0 for the others; `log_loss` is −ln p
    of the true answer.
    """

    probability: Floats
    right: NDArray[np.bool_]
    brier: Floats
    log_loss: Floats
    kind: Ids

    def take(self, rows: NDArray[Any]) -> Believed:
        """Return the chosen questions."""
        return Believed(*(column[rows] for column in self))


def believed(probabilities: Tensor, answer: Tensor, kind: Ids) -> Believed:
    """Return how questions were answered, from the probabilities of all candidates, (questions, candidates)."""
    wide = widest(probabilities.device)
    best, column = probabilities.max(dim=1)
    own = probabilities.gather(1, answer[:, None])[:, 0].to(wide)
    brier = probabilities.square().sum(1).to(wide) - 2 * own + 1
    log_loss = -own.clamp(min=1e-12).log()
    found = fetch(torch.stack([best.to(wide), (column == answer).to(wide), brier, log_loss])).double().numpy()
    return Believed(found[0], found[1] > 0, found[2], found[3], kind)


def join(parts: Sequence[Believed]) -> Believed:
    """Return the questions of all parts."""
    empty = believed(torch.empty(0, 1), torch.empty(0, dtype=torch.long), np.empty(0, dtype=np.int64))
    return Believed(*(np.concatenate(columns) for columns in zip(empty, *parts, strict=True)))


@dataclass(frozen=True)
class Reliability:
    """How far the probabilities of some questions can be believed, and by the kind of question as it is asked."""

    questions: int
    ece: float
    """The expected calibration error of the best answers."""
    ece_by_chance: float
    """What it would be if every probability were exact, with as many questions."""
    brier: float
    log_loss: float
    bins: tuple[Bin, ...] = ()
    kinds: Mapping[str, Reliability] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Believed, kinds: Sequence[str] = ()) -> Reliability:
        """Return the reliability of all questions, and of those of each kind that has any."""
        count = len(found.right)
        bins = reliability_bins(found.probability, found.right)
        whole = cls(
            questions=count,
            ece=expected_calibration_error(found.probability, found.right),
            ece_by_chance=error_by_chance(found.probability),
            brier=float(found.brier.mean()) if count else 0.0,
            log_loss=float(found.log_loss.mean()) if count else 0.0,
            bins=tuple(bins),
        )
        groups = {name: found.take(found.kind == place) for place, name in enumerate(kinds)}
        return replace(whole, kinds={name: cls.of(group) for name, group in groups.items() if len(group.right)})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Reliability:
        """Return the reliability in plain values."""
        bins = tuple(Bin(**one) for one in values["bins"])
        kinds = {name: cls.from_dict(one) for name, one in values.get("kinds", {}).items()}
        return cls(**{**values, "bins": bins, "kinds": kinds})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        kinds = {name: one.to_dict() for name, one in self.kinds.items()}
        found = {**vars(self), "bins": [one._asdict() for one in self.bins], "kinds": kinds}
        return found if kinds else {name: value for name, value in found.items() if name != "kinds"}


def reliability_bins(probability: Floats, right: NDArray[np.bool_]) -> list[Bin]:
    """Return the bins that have questions, from the least probable; all are equally wide."""
    place, width = _bins_of(probability)
    count = np.bincount(place, minlength=width)
    means = [np.bincount(place, weights=values, minlength=width) for values in (probability, right)]
    return [
        Bin(int(size), float(said / size), float(true / size))
        for size, said, true in zip(count, *means, strict=True)
        if size
    ]


def expected_calibration_error(probability: Floats, right: NDArray[np.bool_]) -> float:
    """Return the mean distance between probability and share of right answers over the bins, weighted by their size."""
    return float(
        sum(one.questions * abs(one.probability - one.right) for one in reliability_bins(probability, right))
        / max(1, len(probability))
    )


def error_by_chance(probability: Floats, draws: int = DRAWS, seed: int = 0) -> float:
    """Return the mean calibration error of exact probabilities: answers are drawn as they say, many times."""
    if len(probability) == 0:
        return 0.0
    place, width = _bins_of(probability)
    generator, total = np.random.default_rng(seed), 0.0
    for _ in range(draws):
        drawn = generator.random(len(probability)) < probability
        total += float(np.abs(np.bincount(place, weights=probability - drawn, minlength=width)).sum())
    return total / draws / len(probability)


def _bins_of(probability: Floats) -> tuple[Ids, int]:
    """Return the bin of each probability, and how many bins there are."""
    width = int(np.clip(len(probability) // QUESTIONS_FOR_A_BIN, 1, BINS))
    return np.minimum((probability * width).astype(np.int64), width - 1), width
