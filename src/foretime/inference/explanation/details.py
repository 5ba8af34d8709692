"""What a researcher may want to see of a score: every feature of the trees, and the terms of the base score."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from foretime.inference.explanation.events import SharedNeighbours
from foretime.reranker.features.words import value_in_words


class BasePlace(NamedTuple):
    """Where the base model has put an answer: the re-ranker only orders the `shortlist` best ones."""

    shortlist: int
    listed: bool
    place: int | None = None
    """Its place on the shortlist, from 1; a known answer is scored in addition and has none."""

    def __str__(self) -> str:
        shortlist = f"the shortlist of the best {self.shortlist:,}"
        if not self.listed:
            return f"not on {shortlist}, so the re-ranker does not score it and it keeps its place"
        return f"place {self.place} on {shortlist}" if self.place else f"already known, so in addition to {shortlist}"


@dataclass(frozen=True)
class Contribution:
    """What one feature adds to a score by trees (TreeSHAP)."""

    feature: str
    value: float
    contribution: float
    topic: str = ""
    words: str = ""

    @property
    def value_words(self) -> str:
        """The value as it is printed."""
        return value_in_words(self.feature, self.value)

    def to_dict(self) -> dict[str, Any]:
        """Return the contribution as plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class FullDetails:
    """The features behind a score, the largest first, and the terms of the base score."""

    terms: dict[str, float] = field(default_factory=dict)
    """The terms of the base score by name; evidence is the sum of the weights of all reasons."""
    expected: float | None = None
    """The expected value of the trees; None if the score is not theirs."""
    features: tuple[Contribution, ...] = ()
    base_place: BasePlace | None = None
    """Where the base model has put the answer, if there is a re-ranker for such questions."""
    shared_neighbours: SharedNeighbours | None = None
    """In a graph of intervals: the co-neighbours that support the answer."""

    @property
    def base_score(self) -> float:
        """The sum of the terms."""
        return math.fsum(self.terms.values())

    def to_dict(self, top: int | None) -> dict[str, Any]:
        """Return the details as plain values for JSON; the co-neighbours are the first `top`."""
        place, shared = self.base_place, self.shared_neighbours
        return {
            "expected_value": self.expected,
            "features": [one.to_dict() for one in self.features],
            "base_score": self.base_score,
            "terms": dict(self.terms),
            "base_place": None if place is None else place._asdict(),
            "shared_neighbours": None if shared is None else shared.to_dict(top),
        }
