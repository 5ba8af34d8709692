"""An explanation as it is shown, whatever the format: lines, with every number in units, so that each sum comes out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from foretime.inference.answers import TIMES, fact_text
from foretime.inference.explanation.events import CoNeighbour, DatedEvent, SharedNeighbours
from foretime.inference.explanation.explanation import (
    EVIDENCE,
    IN_TWOS,
    AnswerComparison,
    ContributionDifference,
    Explanation,
    ReasonPart,
    RerankerScore,
    ShownReason,
)
from foretime.inference.explanation.rounding import adding_up, sum_text, units_of, written

EVENTS_SHOWN, TWOS_SHOWN = 3, 2
"""How many events of a reason are shown; of paths and common neighbours, how many twos."""
CO_NEIGHBOURS_SHOWN, FACTS_SHOWN = 3, 6
"""How many co-neighbours are shown at the most, and how many facts of each."""
_NOUNS = {"affinity": "common neighbours", "path": "paths"}
_REPORTED = 1e-4
"""How far the weight of shared neighbours may be from the re-ranker's feature, which is of single precision."""


class LayoutItem(NamedTuple):
    """A line with what it consists of: items with a number add up to it."""

    text: str
    units: int | None = None
    items: tuple[LayoutItem, ...] = ()
    mark: str = ""
    is_rule: bool = False
    signed: bool = True


class LayoutSection(NamedTuple):
    """Items that add up to a total."""

    heading: str
    total: int
    items: list[LayoutItem]


@dataclass(frozen=True)
class ExplanationLayout:
    """An explanation, or the comparison of two."""

    title: str
    lines: list[str]
    sections: list[LayoutSection]
    is_comparison: bool = False


def lay_out(explanation: Explanation, top: int | None) -> list[ExplanationLayout]:
    """Return what is shown of an explanation with the first `top` reasons; with a competitor, the comparison first."""
    if explanation.competitor is None:
        return [_explanation(explanation, top)]
    competitor = explanation.competitor
    comparison = _comparison(AnswerComparison(explanation, competitor), top)
    return [comparison, _explanation(explanation, top), _explanation(competitor, top)]


def _question(explanation: Explanation) -> str:
    """Return the question, with `?` for the slot that is the answer."""
    asked = TIMES if explanation.slot == "time" else (explanation.slot,)
    return fact_text({name: "?" if name in asked else value for name, value in explanation.question.items()})


def _explanation(explanation: Explanation, top: int | None) -> ExplanationLayout:
    base, reranker = units_of(explanation.base_score), explanation.reranker
    terms = dict(zip(explanation.terms, adding_up(list(explanation.terms.values()), base), strict=True))
    sections = []
    if reranker is not None:
        sections.append(_reranker(reranker, top))
        if reranker.shared_neighbours is not None and reranker.shared_neighbours.co_neighbours:
            sections.append(_shared_neighbours(reranker.shared_neighbours, top))
    if explanation.reasons:
        sections.append(_evidence(explanation.reasons, terms.get(EVIDENCE, 0), top))
    lines = [_standing(explanation)]
    if reranker is not None:
        lines.append(f"score {written(units_of(explanation.score))}, by the re-ranker")
    place = "" if explanation.base_place is None else f"; {explanation.base_place}"
    name = "base score" if reranker is not None or place else "score"
    lines += [f"{name} {written(base)} = {sum_text(list(terms.items()))}{place}", explanation.note or ""]
    return ExplanationLayout(f"{_question(explanation)}: {explanation.answer}", list(filter(None, lines)), sections)


def _standing(explanation: Explanation) -> str:
    probability, known = explanation.probability, explanation.already_known
    shown = "" if probability is None else f", probability {probability:.1%}"
    return f"rank {explanation.rank}{shown}" + (f", already known in {known}" if known else "")


def _evidence(reasons: Sequence[ShownReason], total: int, top: int | None) -> LayoutSection:
    units, others = _shown([reason.contribution for reason in reasons], total, top, "reason")
    items = [_reason(reason, unit) for reason, unit in zip(reasons, units, strict=False)]
    return LayoutSection(f"the evidence, {written(total)}", total, items + others)


def _reason(reason: ShownReason, units: int) -> LayoutItem:
    parts = zip(reason.parts, adding_up([part.contribution for part in reason.parts], units), strict=True)
    items = [LayoutItem(reason.rule, is_rule=True)] if reason.rule is not None else []
    items += [_part(part, unit) for part, unit in parts]
    twos = reason.kind in IN_TWOS
    events = reason.events[: 2 * TWOS_SHOWN if twos else EVENTS_SHOWN]
    items += _events(events)
    shown = len(events) // 2 if twos else len(events)
    if shown < reason.groundings:
        items.append(LayoutItem(f"{shown:,} of {reason.groundings:,} {_NOUNS.get(reason.kind, 'events')}"))
    return LayoutItem(reason.sentence, units, tuple(items))


def _part(part: ReasonPart, units: int) -> LayoutItem:
    weights = {"shared": part.shared, "predicate": part.predicate, "rule": part.rule}
    used = {name: part.share * weight for name, weight in weights.items() if weight}
    made = sum_text(list(zip(used, adding_up(list(used.values()), units), strict=True)))
    where = f"at the {part.end}, " if part.end else ""
    counted = f"  [SC {part.confidence:.2f}, {part.support} of {part.body_count}]" if part.body_count else ""
    return LayoutItem(f"{where}{part.says} = {made}{counted}", units)


def _events(events: Iterable[DatedEvent]) -> Iterator[LayoutItem]:
    return (LayoutItem(str(event), mark=event.mark) for event in events)


def _reranker(reranker: RerankerScore, top: int | None) -> LayoutSection:
    found, total, base = reranker.summary(), units_of(reranker.score), units_of(reranker.base)
    units, others = _shown([one.contribution for one in found], total - base, top, "feature")
    items = [LayoutItem(f"{one.words} = {one.value_words}", unit) for one, unit in zip(found, units, strict=False)]
    heading = f"the re-ranker, {written(total)}, which orders the answers"
    return LayoutSection(heading, total, [LayoutItem("expected value", base), *items, *others])


def _shared_neighbours(shared: SharedNeighbours, top: int | None) -> LayoutSection:
    found, total = shared.co_neighbours, units_of(shared.weight)
    most = CO_NEIGHBOURS_SHOWN if top is None else min(top, CO_NEIGHBOURS_SHOWN)
    units, others = _shown([one.weight for one in found], total, most, "co-neighbour", signed=False)
    items = [_co_neighbour(one, unit) for one, unit in zip(found, units, strict=False)]
    same = math.isclose(shared.reported, shared.weight, rel_tol=_REPORTED)
    part = "" if same else f", {shared.reported:.3f} of it reported to the re-ranker"
    paths = _counted(shared.paths, "path")
    return LayoutSection(f"shared neighbours, {paths} with a weight of {written(total)}{part}", total, items + others)


def _co_neighbour(one: CoNeighbour, units: int) -> LayoutItem:
    items = [*_events(one.events[:FACTS_SHOWN])]
    if len(one.events) > FACTS_SHOWN:
        items.append(LayoutItem(f"{FACTS_SHOWN} of {len(one.events):,} facts"))
    return LayoutItem(f"{one.name}, via {one.via}: {_counted(one.paths, 'path')}", units, tuple(items), signed=False)


def _comparison(comparison: AnswerComparison, top: int | None) -> ExplanationLayout:
    answer, competitor = comparison.answer, comparison.competitor
    base = units_of(answer.base_score), units_of(competitor.base_score)
    terms = adding_up([term.difference for term in comparison.terms], base[0] - base[1])
    made = dict(zip([term.name for term in comparison.terms], terms, strict=True))
    lines, sections = [], []
    if comparison.reranked:
        score = units_of(answer.score), units_of(competitor.score)
        difference = score[0] - score[1]
        lines.append(f"score {_against(*score)}, by the re-ranker: difference {written(difference)}")
        sections.append(_differences("the re-ranker", comparison.reranker, difference, top, "feature"))
    name = "base score" if answer.base_place or comparison.reranked else "score"
    lines.append(f"{name} {_against(*base)}: difference {written(base[0] - base[1])} = {sum_text(list(made.items()))}")
    if comparison.reasons:
        sections.append(_differences("the evidence", comparison.reasons, made.get(EVIDENCE, 0), top, "reason"))
    title = f"why {answer.answer} and not {competitor.answer}: {_question(answer)}"
    return ExplanationLayout(title, lines, sections, is_comparison=True)


def _differences(
    name: str, found: Sequence[ContributionDifference], total: int, top: int | None, noun: str
) -> LayoutSection:
    """Return differences: what the answer has is rounded, and the competitor has what is left."""
    units, others = _shown([one.difference for one in found], total, top, noun)
    items = [
        LayoutItem(f"{one.name}: {_against(units_of(one.answer), units_of(one.answer) - unit)}", unit)
        for one, unit in zip(found, units, strict=False)
    ]
    return LayoutSection(f"{name}, {written(total)}", total, items + others)


def _against(answer: int, competitor: int) -> str:
    return f"{written(answer)} against {written(competitor)}"


def _shown(
    values: Sequence[float], total: int, top: int | None, noun: str, signed: bool = True
) -> tuple[list[int], list[LayoutItem]]:
    """Return the units of the first values, and an item for all others, if there are any."""
    units = adding_up(values, total)
    shown, rest = units[:top], units[len(units[:top]) :]
    return shown, [LayoutItem(_counted(len(rest), f"other {noun}"), sum(rest), signed=signed)] if rest else []


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
