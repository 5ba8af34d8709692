"""What an explanation is: the score that orders an answer, taken apart into topics, reasons and dated events.

Every total here is `math.fsum` of what it consists of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from foretime.errors import QuestionError
from foretime.inference.explanation.details import FullDetails
from foretime.inference.explanation.reasons import ShownReason
from foretime.reranker.features.words import TOPICS

_PLAIN = ("question", "slot", "answer", "rank", "probability", "already_known", "score", "note")


@dataclass(frozen=True)
class Topic:
    """One thing that a score is about, with its reasons, the largest first."""

    topic: str
    reasons: tuple[ShownReason, ...]

    @property
    def title(self) -> str:
        """What readers see."""
        return TOPICS[self.topic]

    @property
    def contribution(self) -> float:
        """What all its reasons add to the score."""
        return math.fsum(reason.contribution for reason in self.reasons)

    def to_dict(self, shown: Sequence[ShownReason], full: bool = False) -> dict[str, Any]:
        """Return the topic as plain values for JSON, with the reasons shown and the sum of the others."""
        keys = {reason.key for reason in shown}
        kept = [reason for reason in self.reasons if reason.key in keys]
        left = [reason.contribution for reason in self.reasons if reason.key not in keys]
        return {
            "topic": self.topic,
            "title": self.title,
            "contribution": self.contribution,
            "reasons": [reason.to_dict(full) for reason in kept],
            "other_reasons": {"count": len(left), "contribution": math.fsum(left)},
        }


def in_topics(reasons: Sequence[ShownReason]) -> tuple[Topic, ...]:
    """Return reasons by topic: the largest first, what is usual for such questions last."""
    found: dict[str, list[ShownReason]] = {}
    for reason in sorted(reasons, key=lambda reason: -abs(reason.contribution)):
        found.setdefault(reason.topic, []).append(reason)
    topics = [Topic(topic, tuple(of_topic)) for topic, of_topic in found.items()]
    return tuple(sorted(topics, key=lambda topic: (topic.topic == "general", -abs(topic.contribution))))


def _in_turns(steps: Iterable[Sequence[ShownReason]]) -> tuple[ShownReason, ...]:
    """Return the reasons of several steps: the first of each, then the second of each, and so on."""
    return tuple(reason for turn in zip_longest(*steps) for reason in turn if reason is not None)


@dataclass(frozen=True)
class Explanation:
    """Why an answer has the score that it has; prints as text, and in a notebook as HTML.

    >>> explanation = run.explain(subject="state 0", predicate="visits", time="2020-05-05")
    >>> print(explanation.to_text().splitlines()[0])
    (state 0, visits, ?, 2020-05-05): state 1
    >>> explanation.against("state 2").competitor.answer
    'state 2'
    """

    question: dict[str, str]
    """The whole fact on labels: subject, predicate, object, and time or start and end."""
    slot: str
    """The slot of the question that is the answer, or both: `predicate and object`."""
    answer: str
    rank: int
    probability: float | None
    already_known: str | None
    sentences: tuple[str, ...] = ()
    """Why, in one or two sentences over the largest reasons."""
    topics: tuple[Topic, ...] = ()
    """What the score is about; together they are the score."""
    note: str | None = None
    """What a reader should know of the explanation itself, such as that there is no evidence in the run."""
    full: FullDetails = field(default_factory=FullDetails)
    """The features and the terms of the base score behind it."""
    competitor: Explanation | None = None
    """The explanation of the answer that this one is compared with."""
    steps: tuple[Explanation, ...] = ()
    """Where two slots are the answer: why the first, and why the second given the first. The topics are theirs."""
    top: int | None = None
    """How many reasons are shown, unless a rendering is asked for another number; None for all."""
    explain_other: Callable[[str], Explanation] | None = field(default=None, repr=False, compare=False)
    """Explains another answer to the same question; not part of the value."""

    @property
    def score(self) -> float:
        """The score that orders the answer: the sum of its topics, or of the log-probabilities of its two steps."""
        return self.full.base_score if self.steps else math.fsum(topic.contribution for topic in self.topics)

    @property
    def terms(self) -> dict[str, float]:
        """The terms of the base score by name."""
        return self.full.terms

    @property
    def reasons(self) -> tuple[ShownReason, ...]:
        """The reasons of all topics, those with the largest contribution, for or against, first.

        Those of two steps stand in turns: their contributions are to different scores.
        """
        if self.steps:
            return _in_turns(step.reasons for step in self.steps)
        found = (reason for topic in self.topics for reason in topic.reasons)
        return tuple(sorted(found, key=lambda reason: -abs(reason.contribution)))

    def shown(self, top: int | None) -> tuple[ShownReason, ...]:
        """Return the first `top` reasons; what is usual for such questions is not among them."""
        if self.steps:
            return _in_turns(step.shown(top) for step in self.steps)[:top]
        return tuple(reason for reason in self.reasons if reason.is_of_answer)[:top]

    def against(self, competitor: str) -> Explanation:
        """Return the explanation with a comparison: why this answer, and not the competitor.

        Raises `QuestionError` if the competitor is unknown, or the answer itself.
        """
        if self.steps:
            raise QuestionError(f"{self.slot} are the answer; compare one of the two: explanation.steps[0].against(…)")
        if self.explain_other is None:
            raise QuestionError("this explanation does not come from a run, so it cannot be compared")
        return replace(self, competitor=self.explain_other(competitor))

    def to_dict(self, top: int | None = None, full: bool = False) -> dict[str, Any]:
        """Return the explanation as plain values for JSON, with the first `top` reasons and the sums of the others.

        `full` adds every feature, the terms of the base score, and the learned weights of each reason.
        """
        from foretime.inference.explanation.comparison import AnswerComparison

        top = self.top if top is None else top
        reasons = self.shown(top)
        shown: dict[str, Any] = {
            **{name: getattr(self, name) for name in _PLAIN},
            "sentences": list(self.sentences),
            "topics": [topic.to_dict(reasons, full) for topic in self.topics],
            **({"full": self.full.to_dict(top)} if full else {}),
            **({"steps": [step.to_dict(top, full) for step in self.steps]} if self.steps else {}),
        }
        if self.competitor is not None:
            shown["competitor"] = self.competitor.to_dict(top, full)
            shown["differences"] = AnswerComparison(self, self.competitor).to_dict(top)
        return shown

    def to_text(self, top: int | None = None, full: bool = False) -> str:
        """Return the explanation as plain text, with the first `top` reasons and the sums of the others."""
        return self._render("text", top, full)

    def to_markdown(self, top: int | None = None, full: bool = False) -> str:
        """Return the explanation as Markdown, with the first `top` reasons and the sums of the others."""
        return self._render("markdown", top, full)

    def to_html(self, top: int | None = None, full: bool = False) -> str:
        """Return the explanation as HTML, with the first `top` reasons and the sums of the others."""
        return self._render("html", top, full)

    def _render(self, form: str, top: int | None, full: bool) -> str:
        from foretime.inference.explanation.layout import lay_out
        from foretime.inference.explanation.writers import WRITERS

        return WRITERS[form](lay_out(self, self.top if top is None else top, full))

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()
