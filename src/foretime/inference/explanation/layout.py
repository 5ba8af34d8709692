"""An explanation as it is printed: what is shown, and every number in units, so that each sum comes out on paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from foretime.inference.explanation.company import Company, Peer
from foretime.inference.explanation.explanation import EVIDENCE, Comparison, Contribution, Difference, Explanation
from foretime.inference.explanation.explanation import ReasonPart as Part
from foretime.inference.explanation.explanation import ShownReason as Reason
from foretime.inference.explanation.rounding import adding_up, units_of

PEERS_SHOWN = 3
"""How many of the company are printed at the most."""


class Named(NamedTuple):
    """A named summand."""

    name: str
    units: int


class PartLine(NamedTuple):
    """A part of a reason and its weights, which add up to it."""

    part: Part
    units: int
    weights: list[Named]


class ReasonLine(NamedTuple):
    """A reason and its parts, which add up to it."""

    reason: Reason
    units: int
    parts: list[PartLine]


@dataclass(frozen=True)
class Others:
    """What is not shown: how many, and their sum."""

    count: int
    units: int


class ColumnLine(NamedTuple):
    """A column of the second stage."""

    column: Contribution
    units: int


@dataclass(frozen=True)
class SecondStage:
    """The second stage: its score is its base, the columns that are shown, and the others."""

    score: int
    base: int
    columns: list[ColumnLine]
    others: Others


class PeerLine(NamedTuple):
    """One of the company."""

    peer: Peer
    units: int


@dataclass(frozen=True)
class CompanyLines:
    """The company: its weight is that of the peers that are shown and of the others."""

    company: Company
    weight: int
    peers: list[PeerLine]
    others: Others


@dataclass(frozen=True)
class Layout:
    """An explanation: the terms add up to the first stage, the reasons and the others to the evidence.

    `score` is that of the second stage, or the same as the first if there is only one.
    """

    score: int
    first_stage: int
    terms: list[Named]
    reasons: list[ReasonLine]
    others: Others
    second_stage: SecondStage | None
    company: CompanyLines | None

    @property
    def evidence(self) -> int:
        """What reasons and others add up to."""
        return next((term.units for term in self.terms if term.name == EVIDENCE), 0)


class DifferenceLine(NamedTuple):
    """A summand of two scores: `answer` less `competitor` is the difference."""

    name: str
    answer: int
    competitor: int

    @property
    def units(self) -> int:
        """By how much the answer has more."""
        return self.answer - self.competitor


@dataclass(frozen=True)
class ComparisonLayout:
    """A comparison: the terms add up to the difference of the first stage, reasons and others to the evidence's.

    `score` is that of the second stage where it has scored both, or the same as the first.
    """

    score: DifferenceLine
    first_stage: DifferenceLine
    terms: list[DifferenceLine]
    reasons: list[DifferenceLine]
    others: Others
    second_stage: list[DifferenceLine]
    second_stage_others: Others


def lay_out(explanation: Explanation, top: int | None) -> Layout:
    """Return the layout of an explanation with the first `top` reasons."""
    first_stage = units_of(explanation.first_stage_score)
    terms = _named(explanation.terms, first_stage)
    evidence = next((term.units for term in terms if term.name == EVIDENCE), 0)
    contributions = [reason.contribution for reason in explanation.reasons]
    units, others = _shown(contributions, top, evidence)
    reasons = [_reason_line(reason, unit) for reason, unit in zip(explanation.reasons, units, strict=False)]
    return Layout(
        score=units_of(explanation.score),
        first_stage=first_stage,
        terms=terms,
        reasons=reasons,
        others=others,
        second_stage=_second_stage(explanation, top),
        company=_company(explanation.company, top),
    )


def lay_out_comparison(comparison: Comparison, top: int | None) -> ComparisonLayout:
    """Return the layout of a comparison with the first `top` differences."""
    answer, competitor = comparison.answer, comparison.competitor
    first = DifferenceLine("first stage", units_of(answer.first_stage_score), units_of(competitor.first_stage_score))
    score = DifferenceLine("score", *map(units_of, comparison.scores))
    terms = _differences(comparison.terms, adding_up([term.difference for term in comparison.terms], first.units))
    evidence = next((term.units for term in terms if term.name == EVIDENCE), 0)
    reasons, others = _shown([reason.difference for reason in comparison.reasons], top, evidence)
    found = comparison.second_stage if comparison.staged else []
    columns, column_others = _shown([column.difference for column in found], top, score.units)
    return ComparisonLayout(
        score=score,
        first_stage=first,
        terms=terms,
        reasons=_differences(comparison.reasons, reasons),
        others=others,
        second_stage=_differences(found, columns),
        second_stage_others=column_others,
    )


def _named(values: dict[str, float], total: int) -> list[Named]:
    return [Named(*pair) for pair in zip(values, adding_up(list(values.values()), total), strict=True)]


def _shown(values: Sequence[float], top: int | None, total: int) -> tuple[list[int], Others]:
    """Return the units of the first values, and those of all others."""
    units = adding_up(values, total)
    shown = len(units[:top])
    return units[:shown], Others(len(units) - shown, sum(units[shown:]))


def _reason_line(reason: Reason, units: int) -> ReasonLine:
    parts = zip(reason.parts, adding_up([part.contribution for part in reason.parts], units), strict=True)
    return ReasonLine(reason, units, [PartLine(part, unit, _weights(part, unit)) for part, unit in parts])


def _weights(part: Part, units: int) -> list[Named]:
    weights = {"shared": part.shared, "predicate": part.predicate, "rule": part.rule}
    return _named({name: part.share * weight for name, weight in weights.items() if weight}, units)


def _second_stage(explanation: Explanation, top: int | None) -> SecondStage | None:
    if explanation.second_stage_score is None:
        return None
    columns = explanation.told_second_stage()
    score = units_of(explanation.second_stage_score)
    base, *rest = adding_up([explanation.second_stage_base, *(column.contribution for column in columns)], score)
    shown = len(rest[:top])
    lines = [ColumnLine(*pair) for pair in zip(columns, rest[:shown], strict=False)]
    return SecondStage(score, base, lines, Others(len(rest) - shown, sum(rest[shown:])))


def _company(company: Company | None, top: int | None) -> CompanyLines | None:
    if company is None or not company.peers:
        return None
    shown = PEERS_SHOWN if top is None else min(top, PEERS_SHOWN)
    weight = units_of(company.weight)
    units, others = _shown([peer.weight for peer in company.peers], shown, weight)
    lines = [PeerLine(*pair) for pair in zip(company.peers, units, strict=False)]
    return CompanyLines(company, weight, lines, others)


def _differences(differences: list[Difference], units: list[int]) -> list[DifferenceLine]:
    """Return the first differences in units: the answer's share is rounded, and the competitor's is what is left."""
    return [
        DifferenceLine(found.name, units_of(found.answer), units_of(found.answer) - unit)
        for found, unit in zip(differences, units, strict=False)
    ]
