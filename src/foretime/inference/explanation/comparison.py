"""Why one answer and not another: the differences of their topics and reasons, which add up to that of the scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from foretime.inference.explanation.explanation import Explanation
from foretime.inference.explanation.phrases import isolated
from foretime.inference.explanation.reasons import ShownReason
from foretime.inference.explanation.sentences import contrast_sentence
from foretime.reranker.features.words import TOPICS


class ReasonDifference(NamedTuple):
    """What one reason gives to the answer and to its competitor."""

    title: str
    answer: float
    competitor: float

    @property
    def difference(self) -> float:
        """By how much the answer has more."""
        return self.answer - self.competitor

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain values for JSON."""
        return {**self._asdict(), "difference": self.difference}


@dataclass(frozen=True)
class TopicDifference:
    """What one topic gives to the answer and to its competitor, by reason, the largest difference first."""

    topic: str
    reasons: tuple[ReasonDifference, ...]

    @property
    def title(self) -> str:
        """What readers see."""
        return TOPICS[self.topic]

    @property
    def answer(self) -> float:
        """What the topic gives to the answer."""
        return math.fsum(one.answer for one in self.reasons)

    @property
    def competitor(self) -> float:
        """What the topic gives to the competitor."""
        return math.fsum(one.competitor for one in self.reasons)

    @property
    def difference(self) -> float:
        """The sum of the differences of its reasons."""
        return math.fsum(one.difference for one in self.reasons)

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return the differences as plain values for JSON, with those of the first `top` reasons."""
        left = self.reasons[len(self.reasons[:top]) :]
        names = ("topic", "title", "answer", "competitor", "difference")
        return {
            **{name: getattr(self, name) for name in names},
            "reasons": [one.to_dict() for one in self.reasons[:top]],
            "other_reasons": {"count": len(left), "difference": math.fsum(one.difference for one in left)},
        }


class AnswerComparison:
    """Why one answer and not another, by topic, the largest difference first."""

    def __init__(self, answer: Explanation, competitor: Explanation) -> None:
        self.answer, self.competitor = answer, competitor
        names = dict.fromkeys(topic.topic for side in (answer, competitor) for topic in side.topics)
        found = [
            TopicDifference(name, _differences(*(_topic(side, name) for side in (answer, competitor))))
            for name in names
        ]
        self.topics = tuple(sorted(found, key=lambda one: -abs(one.difference)))

    @property
    def difference(self) -> float:
        """By how much the score of the answer is higher: the sum of the differences of its topics."""
        return math.fsum(topic.difference for topic in self.topics)

    @property
    def sentence(self) -> str:
        """Why, in one sentence."""
        own, theirs = ({reason.key: reason for reason in side.reasons} for side in (self.answer, self.competitor))

        def more(one: dict[Any, ShownReason], other: dict[Any, ShownReason]) -> list[ShownReason]:
            gains = {key: r.contribution - (other[key].contribution if key in other else 0.0) for key, r in one.items()}
            kept = [key for key, gain in gains.items() if gain > 0 and one[key].contribution > 0]
            return [one[key] for key in sorted(kept, key=lambda key: -gains[key])]

        names = isolated(self.answer.answer), isolated(self.competitor.answer)
        return contrast_sentence(*names, more(own, theirs), more(theirs, own))

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return the differences as plain values for JSON."""
        return {
            "score": self.difference,
            "sentence": self.sentence,
            "topics": [topic.to_dict(top) for topic in self.topics],
        }


def _topic(side: Explanation, name: str) -> Sequence[ShownReason]:
    return next((topic.reasons for topic in side.topics if topic.topic == name), ())


def _differences(own: Sequence[ShownReason], theirs: Sequence[ShownReason]) -> tuple[ReasonDifference, ...]:
    """Return the differences of the reasons of a topic, by their keys."""
    titles = {reason.key: reason.title for reason in (*theirs, *own)}
    one, other = ({reason.key: reason.contribution for reason in side} for side in (own, theirs))
    found = [ReasonDifference(title, one.get(key, 0.0), other.get(key, 0.0)) for key, title in titles.items()]
    return tuple(sorted(found, key=lambda one: -abs(one.difference)))
