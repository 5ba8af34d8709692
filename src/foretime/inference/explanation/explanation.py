"""What an explanation is: the score of an answer taken apart until events and learned weights are left.

Every total here is `math.fsum` of what it consists of.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from foretime.inference.explanation.company import Company
from foretime.inference.explanation.events import GroundedEvent
from foretime.inference.explanation.rounding import units_of, written
from foretime.reranker.features.words import BASE_MODEL, in_words, is_of_base_model, value_in_words

EVIDENCE = "evidence"
"""The term of the score that reasons add up to."""
IN_TWOS = ("affinity", "path")
"""The kinds of reasons whose events come in twos: from the subject to a third, and from there to the answer."""


@dataclass(frozen=True)
class ReasonPart:
    """One feature of a reason: what it says, and its learned weights.

    Its contribution is `share` · (`shared` + `predicate` + `rule`): the weight that all predicates share, the
    predicate's own and the rule's own. `support` of `body_count` events of the body have the head at this distance.
    """

    family: str
    value: float
    """The signed distance in steps, the count, or the affinity; `says` has it in words."""
    says: str
    end: str
    share: float
    shared: float
    predicate: float
    rule: float
    statement: str | None = None
    support: int | None = None
    body_count: int | None = None

    @property
    def contribution(self) -> float:
        """What it adds to the score."""
        return self.share * math.fsum((self.shared, self.predicate, self.rule))

    @property
    def confidence(self) -> float | None:
        """The share of the body's events that have the head, where it was counted."""
        return self.support / self.body_count if self.support is not None and self.body_count else None

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain values for JSON."""
        return {**asdict(self), "confidence": self.confidence, "contribution": self.contribution}


@dataclass(frozen=True)
class ShownReason:
    """Everything that one rule body says for or against an answer."""

    kind: str
    """`pair`, `object`, `active`, `affinity` or `path`."""
    title: str
    """What it is, for any answer to the question; `sentence` tells it of this one."""
    sentence: str
    rule: str | None
    """The rule in the notation of `foretime rules`, with the times of its strongest part; none if it is of no rule."""
    parts: tuple[ReasonPart, ...]
    events: tuple[GroundedEvent, ...]
    groundings: int
    """How many events (partners, paths) there are in all; `events` are the nearest."""
    key: tuple[str | int, ...] = ()
    """What makes it the same reason for another answer."""

    @property
    def contribution(self) -> float:
        """What it adds to the score."""
        return math.fsum(part.contribution for part in self.parts)

    @property
    def brief(self) -> str:
        """The contribution and the sentence in one line."""
        return f"{written(units_of(self.contribution), sign=True)} {self.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as plain values for JSON."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "contribution": self.contribution,
            "rule": self.rule,
            "parts": [part.to_dict() for part in self.parts],
            "groundings": self.groundings,
            "events": [event._asdict() for event in self.events],
        }


@dataclass(frozen=True)
class Contribution:
    """What one column adds to the score of the second stage."""

    column: str
    value: float
    contribution: float

    @property
    def words(self) -> str:
        """What the column says."""
        return in_words(self.column)

    @property
    def value_words(self) -> str:
        """The value as it is printed."""
        return value_in_words(self.column, self.value)

    def to_dict(self) -> dict[str, Any]:
        """Return the contribution as plain values for JSON."""
        return {**asdict(self), "words": self.words}


class FirstStage(NamedTuple):
    """Where the first of two stages has put an answer: the second stage only orders its `shortlist` best ones."""

    shortlist: int
    listed: bool
    place: int | None = None
    """Its place on the shortlist, from 1; a known answer stands beside it and has none."""

    @property
    def words(self) -> str:
        """The place in words."""
        shortlist = f"the shortlist of the best {self.shortlist:,}"
        if not self.listed:
            return f"behind {shortlist}, so it keeps its place and has no score of the second stage"
        return f"known already, so beside {shortlist}" if self.place is None else f"place {self.place} on {shortlist}"


class Difference(NamedTuple):
    """What one summand gives to the answer and to its competitor."""

    name: str
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
class Explanation:
    """Why an answer has the score that it has."""

    question: dict[str, str]
    """The whole fact on labels: subject, predicate, object, and time or start and end."""
    slot: str
    """The slot of the question that is the answer."""
    answer: str
    rank: int
    confidence: float | None
    known: str | None
    terms: dict[str, float]
    """The terms of the score by name, of the first stage's if there are two; evidence is the sum of the reasons."""
    reasons: tuple[ShownReason, ...] = ()
    """Those with the largest contribution, for or against, first."""
    note: str | None = None
    """What a reader should know of the explanation itself, such as that there is no evidence in the run."""
    second_stage: Sequence[Contribution] | None = None
    """Where a second stage has ordered the answers: what each of its columns adds to `second_stage_base`."""
    second_stage_base: float = 0.0
    first_stage: FirstStage | None = None
    """Where the first stage has put the answer, if there are two."""
    company: Company | None = None
    """In a graph of intervals, where a second stage has ordered the answers: who speaks for this one."""
    competitor: Explanation | None = None
    """The explanation of the answer that this one is compared with."""

    @property
    def score(self) -> float:
        """The score that orders the answer: that of the second stage if it has one, or the sum of the terms."""
        return self.first_stage_score if self.second_stage_score is None else self.second_stage_score

    @property
    def first_stage_score(self) -> float:
        """The sum of the terms."""
        return math.fsum(self.terms.values())

    @property
    def second_stage_score(self) -> float | None:
        """The score of the second stage: its base and what its columns add."""
        if self.second_stage is None:
            return None
        return math.fsum([self.second_stage_base, *(column.contribution for column in self.second_stage)])

    def sorted_second_stage(self) -> list[Contribution]:
        """Return the contributions of the second stage, the largest first."""
        return sorted(self.second_stage or [], key=lambda column: -abs(column.contribution))

    def told_second_stage(self) -> list[Contribution]:
        """Return the same with all that the first stage says as one: a reader asks what else there is."""
        columns = self.second_stage or ()
        first = [column for column in columns if is_of_base_model(column.column)]
        place = next((column.value for column in first if column.column == "position"), 0.0)
        said = math.fsum(column.contribution for column in first)
        told = [column for column in columns if not is_of_base_model(column.column)]
        merged = [Contribution(BASE_MODEL, place, said), *told] if first else told
        return sorted(merged, key=lambda column: -abs(column.contribution))

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return the explanation as plain values for JSON, with the first `top` reasons and the sum of the others."""
        reasons = self.reasons[:top]
        shown: dict[str, Any] = {
            "question": self.question,
            "slot": self.slot,
            "answer": self.answer,
            "rank": self.rank,
            "confidence": self.confidence,
            "known": self.known,
            "score": self.score,
            "terms": self.terms,
            "reasons": [reason.to_dict() for reason in reasons],
            "other_reasons": _others(self.reasons, len(reasons), self.terms.get(EVIDENCE, 0.0)),
            "note": self.note,
            "first_stage": self._first_stage_dict(),
            "second_stage": self._second_stage_dict(top),
        }
        if self.competitor is not None:
            shown["competitor"] = self.competitor.to_dict(top)
            shown["differences"] = Comparison(self, self.competitor).to_dict(top)
        return shown

    def _first_stage_dict(self) -> dict[str, Any] | None:
        return None if self.first_stage is None else {"score": self.first_stage_score, **self.first_stage._asdict()}

    def _second_stage_dict(self, top: int | None) -> dict[str, Any] | None:
        if self.second_stage_score is None:
            return None
        columns = self.sorted_second_stage()
        others = _others(columns, len(columns[:top]), self.second_stage_score - self.second_stage_base)
        return {
            "score": self.second_stage_score,
            "base": self.second_stage_base,
            "contributions": [column.to_dict() for column in columns[:top]],
            "other_contributions": others,
            "company": None if self.company is None else self.company.to_dict(top),
        }

    def to_text(self, top: int | None = None) -> str:
        """Return the explanation as plain text, with the first `top` reasons and the sum of the others."""
        from foretime.inference.explanation.text import explanation_text

        return explanation_text(self, top)

    def to_markdown(self, top: int | None = None) -> str:
        """Return the explanation as Markdown, with the first `top` reasons and the sum of the others."""
        from foretime.inference.explanation.markdown import explanation_markdown

        return explanation_markdown(self, top)


class Comparison:
    """Why one answer and not another: differences, the largest first, that add up to that of the scores.

    Where the second stage has scored only one of the two, the scores are those of the first.
    """

    def __init__(self, answer: Explanation, competitor: Explanation) -> None:
        self.answer, self.competitor = answer, competitor
        self.reasons = _by_size(_reason_differences(answer, competitor))
        names = dict.fromkeys([*answer.terms, *competitor.terms])
        self.terms = [Difference(name, answer.terms.get(name, 0.0), competitor.terms.get(name, 0.0)) for name in names]
        self.second_stage = _by_size(_column_differences(answer, competitor))

    @property
    def staged(self) -> bool:
        """Whether the second stage has scored both."""
        return self.answer.second_stage is not None and self.competitor.second_stage is not None

    @property
    def scores(self) -> tuple[float, float]:
        """The scores that are compared."""
        if self.staged:
            return self.answer.score, self.competitor.score
        return self.answer.first_stage_score, self.competitor.first_stage_score

    @property
    def difference(self) -> float:
        """By how much the score of the answer is higher."""
        parts = self.second_stage if self.staged else self.terms
        return math.fsum(side for part in parts for side in (part.answer, -part.competitor))

    @property
    def first_stage_difference(self) -> float:
        """By how much the sum of the answer's terms is higher."""
        return math.fsum(side for term in self.terms for side in (term.answer, -term.competitor))

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return the differences as plain values for JSON."""
        shown: dict[str, Any] = {
            "score": self.difference,
            "first_stage_score": self.first_stage_difference,
            "terms": [term.to_dict() for term in self.terms],
            "reasons": [reason.to_dict() for reason in self.reasons[:top]],
            "other_reasons": _other_differences(self.reasons, top),
            "second_stage": None,
        }
        if self.staged:
            shown["second_stage"] = [column.to_dict() for column in self.second_stage[:top]]
            shown["other_second_stage"] = _other_differences(self.second_stage, top)
        return shown


def _reason_differences(answer: Explanation, competitor: Explanation) -> Iterable[Difference]:
    own = {reason.key: reason for reason in answer.reasons}
    theirs = {reason.key: reason for reason in competitor.reasons}
    for key in dict.fromkeys([*own, *theirs]):
        title = (own.get(key) or theirs[key]).title
        yield Difference(title, *(side[key].contribution if key in side else 0.0 for side in (own, theirs)))


def _column_differences(answer: Explanation, competitor: Explanation) -> Iterable[Difference]:
    own, theirs = (
        {column.column: column.contribution for column in side.told_second_stage()} for side in (answer, competitor)
    )
    if answer.second_stage_base != competitor.second_stage_base:
        yield Difference("base", answer.second_stage_base, competitor.second_stage_base)
    for name in dict.fromkeys([*own, *theirs]):
        yield Difference(in_words(name), own.get(name, 0.0), theirs.get(name, 0.0))


def _by_size(differences: Iterable[Difference]) -> list[Difference]:
    return sorted(differences, key=lambda found: -abs(found.difference))


def _others(every: Sequence[ShownReason] | Sequence[Contribution], shown: int, total: float) -> dict[str, Any]:
    """Return how many summands are not shown, and what is left for them of the total."""
    left = math.fsum([total, *(-one.contribution for one in every[:shown])]) if shown < len(every) else 0.0
    return {"count": len(every) - shown, "contribution": left}


def _other_differences(differences: list[Difference], top: int | None) -> dict[str, Any]:
    others = differences[top:] if top is not None else []
    return {"count": len(others), "difference": math.fsum(found.difference for found in others)}
