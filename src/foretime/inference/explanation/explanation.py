"""What an explanation is: the score of an answer taken apart until events and learned weights are left.

Every total here is `math.fsum` of what it consists of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from foretime.errors import QuestionError
from foretime.evidence.families import FAMILIES
from foretime.inference.explanation.events import DatedEvent, SharedNeighbours
from foretime.inference.explanation.rounding import units_of, written
from foretime.reranker.features.words import BASE_MODEL, in_words, is_of_base_model, value_in_words

EVIDENCE = "evidence"
"""The term of the score that reasons add up to."""
IN_TWOS = tuple(family.name for family in FAMILIES if family.in_twos)
"""The kinds of reasons whose events come in twos: from the subject to a neighbour, and from there to the answer."""


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
    """What it is, for any answer to the question; `sentence` says it of this one."""
    sentence: str
    rule: str | None
    """The rule in the notation of `foretime rules`, with the times of its strongest part; None if it is of no rule."""
    parts: tuple[ReasonPart, ...]
    events: tuple[DatedEvent, ...]
    groundings: int
    """How many events (neighbours, paths) there are in all; `events` are the nearest."""
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
            **{name: getattr(self, name) for name in ("kind", "sentence", "contribution", "rule", "groundings")},
            "parts": [part.to_dict() for part in self.parts],
            "events": [event._asdict() for event in self.events],
        }


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
    """What one feature adds to the score of the re-ranker."""

    feature: str
    value: float
    contribution: float

    @property
    def words(self) -> str:
        """What the feature says."""
        return in_words(self.feature)

    @property
    def value_words(self) -> str:
        """The value as it is printed."""
        return value_in_words(self.feature, self.value)

    def to_dict(self) -> dict[str, Any]:
        """Return the contribution as plain values for JSON."""
        return {**asdict(self), "words": self.words}


@dataclass(frozen=True)
class RerankerScore:
    """The score by which the re-ranker orders an answer: its base and what each feature adds, the largest first."""

    base: float
    contributions: tuple[Contribution, ...]
    shared_neighbours: SharedNeighbours | None = None
    """In a graph of intervals: the co-neighbours that support the answer."""

    @property
    def score(self) -> float:
        """The base and all contributions together."""
        return math.fsum([self.base, *(one.contribution for one in self.contributions)])

    def summary(self) -> list[Contribution]:
        """Return the contributions with those of the base model as one: a reader asks what else there is."""
        of_base = [one for one in self.contributions if is_of_base_model(one.feature)]
        others = [one for one in self.contributions if not is_of_base_model(one.feature)]
        if of_base:
            place = next((one.value for one in of_base if one.feature == "position"), 0.0)
            others.append(Contribution(BASE_MODEL, place, math.fsum(one.contribution for one in of_base)))
        return sorted(others, key=lambda one: -abs(one.contribution))

    def to_dict(self, top: int | None) -> dict[str, Any]:
        """Return the score as plain values for JSON, with the first `top` contributions."""
        return {
            "score": self.score,
            "base": self.base,
            "contributions": [one.to_dict() for one in self.contributions[:top]],
            "other_contributions": _others("contribution", [one.contribution for one in self.contributions], top),
            "shared_neighbours": None if self.shared_neighbours is None else self.shared_neighbours.to_dict(top),
        }


_PLAIN = ("question", "slot", "answer", "rank", "probability", "already_known", "score", "terms", "note")


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
    """The slot of the question that is the answer."""
    answer: str
    rank: int
    probability: float | None
    already_known: str | None
    terms: dict[str, float]
    """The terms of the base score by name; evidence is the sum of the reasons."""
    reasons: tuple[ShownReason, ...] = ()
    """Those with the largest contribution, for or against, first."""
    note: str | None = None
    """What a reader should know of the explanation itself, such as that there is no evidence in the run."""
    base_place: BasePlace | None = None
    """Where the base model has put the answer, if there is a re-ranker for such questions."""
    reranker: RerankerScore | None = None
    """The score of the re-ranker, if it has scored the answer."""
    competitor: Explanation | None = None
    """The explanation of the answer that this one is compared with."""
    top: int | None = None
    """How many reasons are shown, unless a rendering is asked for another number; None for all."""
    explain_other: Callable[[str], Explanation] | None = field(default=None, repr=False, compare=False)
    """Explains another answer to the same question; not part of the value."""

    @property
    def score(self) -> float:
        """The score that orders the answer: that of the re-ranker if it has one, or the base score."""
        return self.base_score if self.reranker is None else self.reranker.score

    @property
    def base_score(self) -> float:
        """The sum of the terms."""
        return math.fsum(self.terms.values())

    def against(self, competitor: str) -> Explanation:
        """Return the explanation with a comparison: why this answer, and not the competitor.

        Raises `QuestionError` if the competitor is unknown, or the answer itself.
        """
        if self.explain_other is None:
            raise QuestionError("this explanation does not come from a run, so it cannot be compared")
        return replace(self, competitor=self.explain_other(competitor))

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return the explanation as plain values for JSON, with the first `top` reasons and the sum of the others."""
        top = self.top if top is None else top
        shown: dict[str, Any] = {
            **{name: getattr(self, name) for name in _PLAIN},
            "reasons": [reason.to_dict() for reason in self.reasons[:top]],
            "other_reasons": _others("contribution", [reason.contribution for reason in self.reasons], top),
            "base_model": None if self.base_place is None else {"score": self.base_score, **self.base_place._asdict()},
            "reranker": None if self.reranker is None else self.reranker.to_dict(top),
        }
        if self.competitor is not None:
            shown["competitor"] = self.competitor.to_dict(top)
            shown["differences"] = AnswerComparison(self, self.competitor).to_dict(top)
        return shown

    def to_text(self, top: int | None = None) -> str:
        """Return the explanation as plain text, with the first `top` reasons and the sum of the others."""
        return self._render("text", top)

    def to_markdown(self, top: int | None = None) -> str:
        """Return the explanation as Markdown, with the first `top` reasons and the sum of the others."""
        return self._render("markdown", top)

    def to_html(self, top: int | None = None) -> str:
        """Return the explanation as HTML, with the first `top` reasons and the sum of the others."""
        return self._render("html", top)

    def _render(self, form: str, top: int | None) -> str:
        from foretime.inference.explanation.layout import lay_out
        from foretime.inference.explanation.writers import WRITERS

        return WRITERS[form](lay_out(self, self.top if top is None else top))

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


class ContributionDifference(NamedTuple):
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


class AnswerComparison:
    """Why one answer and not another: differences, the largest first, that add up to that of the scores.

    Where the re-ranker has scored only one of the two, their base scores are compared.
    """

    def __init__(self, answer: Explanation, competitor: Explanation) -> None:
        self.answer, self.competitor = answer, competitor
        self.reranked = answer.reranker is not None and competitor.reranker is not None
        self.terms = _differences(answer.terms, competitor.terms)
        titles = {reason.key: reason.title for side in (competitor, answer) for reason in side.reasons}
        own, theirs = ({reason.key: reason.contribution for reason in side.reasons} for side in (answer, competitor))
        self.reasons = _by_size(_differences(own, theirs, titles))
        self.reranker = _by_size(_reranker_differences(answer, competitor)) if self.reranked else []

    @property
    def difference(self) -> float:
        """By how much the score of the answer is higher."""
        return _total(self.reranker if self.reranked else self.terms)

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return the differences as plain values for JSON."""
        shown: dict[str, Any] = {
            "score": self.difference,
            "base_score": _total(self.terms),
            "terms": [term.to_dict() for term in self.terms],
            "reasons": [reason.to_dict() for reason in self.reasons[:top]],
            "other_reasons": _others("difference", [reason.difference for reason in self.reasons], top),
            "reranker": None,
        }
        if self.reranked:
            shown["reranker"] = [one.to_dict() for one in self.reranker[:top]]
            shown["other_reranker"] = _others("difference", [one.difference for one in self.reranker], top)
        return shown


def _differences(
    own: Mapping[Any, float], theirs: Mapping[Any, float], names: Mapping[Any, str] | None = None
) -> list[ContributionDifference]:
    """Return the differences of two sums by the keys of their summands."""
    named = {key: key for key in [*own, *theirs]} | dict(names or {})
    return [ContributionDifference(name, own.get(key, 0.0), theirs.get(key, 0.0)) for key, name in named.items()]


def _reranker_differences(answer: Explanation, competitor: Explanation) -> list[ContributionDifference]:
    own, theirs = (
        {"expected value": side.reranker.base} | {one.words: one.contribution for one in side.reranker.summary()}
        for side in (answer, competitor)
        if side.reranker is not None
    )
    found = _differences(own, theirs)
    return found if own["expected value"] != theirs["expected value"] else found[1:]


def _total(differences: Iterable[ContributionDifference]) -> float:
    return math.fsum(side for one in differences for side in (one.answer, -one.competitor))


def _by_size(differences: list[ContributionDifference]) -> list[ContributionDifference]:
    return sorted(differences, key=lambda found: -abs(found.difference))


def _others(name: str, values: Sequence[float], top: int | None) -> dict[str, Any]:
    """Return how many summands are not shown, and their sum."""
    left = values[len(values[:top]) :]
    return {"count": len(left), name: math.fsum(left)}
