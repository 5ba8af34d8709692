"""An explanation as it is shown, whatever the format: lines, with every number in units, so that each sum comes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from foretime.evaluation.slots import SLOTS
from foretime.inference.answers import AND, TIMES, WHERE, fact_text
from foretime.inference.explanation.comparison import AnswerComparison, TopicDifference
from foretime.inference.explanation.details import FullDetails
from foretime.inference.explanation.events import CoNeighbour, DatedEvent, SharedNeighbours
from foretime.inference.explanation.explanation import Explanation, Topic
from foretime.inference.explanation.phrases import isolated
from foretime.inference.explanation.reasons import IN_TWOS, ReasonPart, ShownReason
from foretime.inference.explanation.rounding import adding_up, sum_text, units_of, written
from foretime.tables import plural

EVENTS_SHOWN, TWOS_SHOWN = 3, 2
"""How many events of a reason are shown; of paths and common neighbours, how many twos."""
CO_NEIGHBOURS_SHOWN, FACTS_SHOWN = 3, 6
"""How many co-neighbours are shown at the most, and how many facts of each."""
_NOUNS = {"affinity": "common neighbours", "path": "paths", "shared": "facts"}


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


def lay_out(explanation: Explanation, top: int | None, full: bool = False) -> list[ExplanationLayout]:
    """Return what is shown of an explanation with the first `top` reasons; with a competitor, the comparison first.

    Where two slots are the answer, what is said of both comes first, then each of the two.
    """
    if explanation.steps:
        whole = ExplanationLayout(_title(explanation), _lines(explanation), [])
        return [whole, *(_explanation(step, top, full) for step in explanation.steps)]
    if explanation.competitor is None:
        return [_explanation(explanation, top, full)]
    competitor = explanation.competitor
    comparison = _comparison(AnswerComparison(explanation, competitor), top)
    return [comparison, _explanation(explanation, top, full), _explanation(competitor, top, full)]


def _question(explanation: Explanation) -> str:
    """Return the question, with `?` for the slot that is the answer, and for what is still open."""
    asked = TIMES if explanation.slot == "time" else explanation.slot.split(AND)
    slots = dict.fromkeys(SLOTS[:3], "?") | explanation.question
    return fact_text(
        {name: "?" if name in asked else value if name == WHERE else isolated(value) for name, value in slots.items()}
    )


def _title(explanation: Explanation) -> str:
    return f"{_question(explanation)}: {isolated(explanation.answer)}"


def _lines(explanation: Explanation) -> list[str]:
    return list(filter(None, [_standing(explanation), *explanation.sentences, explanation.note]))


def _explanation(explanation: Explanation, top: int | None, full: bool) -> ExplanationLayout:
    total = units_of(explanation.score)
    units = adding_up([topic.contribution for topic in explanation.topics], total)
    shown = {reason.key for reason in explanation.shown(top)}
    items = [_topic(topic, unit, shown, full) for topic, unit in zip(explanation.topics, units, strict=True)]
    sections = [LayoutSection(f"the score, {written(total)}", total, items)]
    if full:
        sections += _full(explanation.full)
    lines = _lines(explanation)
    if full and explanation.full.base_place is not None:
        lines.append(f"base model: {explanation.full.base_place}")
    return ExplanationLayout(_title(explanation), lines, sections)


def _standing(explanation: Explanation) -> str:
    probability, known = explanation.probability, explanation.already_known
    shown = "" if probability is None else f", probability {probability:.1%}"
    return f"rank {explanation.rank}{shown}" + (f", already known in {known}" if known else "")


def _topic(topic: Topic, total: int, shown: set[tuple[str | int, ...]], full: bool) -> LayoutItem:
    """Return a topic with the reasons that are shown; a topic of one statement is that statement's line."""
    units = adding_up([reason.contribution for reason in topic.reasons], total)
    pairs = list(zip(topic.reasons, units, strict=True))
    items = [_reason(reason, unit, full) for reason, unit in pairs if reason.key in shown]
    left = [unit for reason, unit in pairs if reason.key not in shown]
    if left and items:
        items.append(LayoutItem(plural(len(left), "other reason"), sum(left)))
    return LayoutItem(topic.title, total, tuple(items))


def _reason(reason: ShownReason, units: int, full: bool) -> LayoutItem:
    items = [LayoutItem(reason.counted)] if reason.counted is not None else []
    if full:
        items += [LayoutItem(reason.rule, is_rule=True)] if reason.rule is not None else []
        items += [LayoutItem(_part(part)) for part in reason.parts]
    twos = reason.family in IN_TWOS
    events = reason.events[: 2 * TWOS_SHOWN if twos else EVENTS_SHOWN]
    items += _events(events)
    shown = len(events) // 2 if twos else len(events)
    if shown < reason.groundings:
        items.append(LayoutItem(f"{shown:,} of {reason.groundings:,} {_NOUNS.get(reason.family, 'events')}"))
    return LayoutItem(reason.sentence, units, tuple(items))


def _part(part: ReasonPart) -> str:
    """Return a feature of the evidence with its weights in the base score."""
    weights = {"shared": part.shared, "predicate": part.predicate, "rule": part.rule}
    used, units = {name: part.share * weight for name, weight in weights.items() if weight}, units_of(part.contribution)
    made = sum_text(list(zip(used, adding_up(list(used.values()), units), strict=True)))
    where = f"at the {part.end}, " if part.end else ""
    counted = f"  [SC {part.confidence:.2f}, {part.support} of {part.body_count}]" if part.body_count else ""
    return f"base {written(units, sign=True)}: {where}{part.says} = {made}{counted}"


def _events(events: Iterable[DatedEvent]) -> Iterator[LayoutItem]:
    return (LayoutItem(str(event), mark=event.mark) for event in events)


def _full(full: FullDetails) -> Iterator[LayoutSection]:
    """Yield the tables of a researcher: the features of the trees, the base score, the shared neighbours."""
    if full.expected is not None:
        values = [full.expected, *(one.contribution for one in full.features)]
        total = units_of(sum(values))
        said = ["expected value", *(f"{one.words} = {one.value_words} [{one.topic}]" for one in full.features)]
        items = [LayoutItem(text, unit) for text, unit in zip(said, adding_up(values, total), strict=True)]
        yield LayoutSection(f"the features, {written(total)}", total, items)
    if full.terms:
        total = units_of(full.base_score)
        units = adding_up(list(full.terms.values()), total)
        items = [LayoutItem(name, unit) for name, unit in zip(full.terms, units, strict=True)]
        yield LayoutSection(f"the base score, {written(total)}", total, items)
    if full.shared_neighbours is not None and full.shared_neighbours.co_neighbours:
        yield _shared_neighbours(full.shared_neighbours)


def _shared_neighbours(shared: SharedNeighbours) -> LayoutSection:
    found, total = shared.co_neighbours, units_of(shared.weight)
    units, others = _shown([one.weight for one in found], total, CO_NEIGHBOURS_SHOWN, "co-neighbour")
    items = [_co_neighbour(one, unit) for one, unit in zip(found, units, strict=False)]
    heading = f"shared neighbours, {plural(shared.paths, 'path')} with a weight of {written(total)}"
    return LayoutSection(heading, total, items + others)


def _co_neighbour(one: CoNeighbour, units: int) -> LayoutItem:
    items = [*_events(one.events[:FACTS_SHOWN])]
    if len(one.events) > FACTS_SHOWN:
        items.append(LayoutItem(f"{FACTS_SHOWN} of {len(one.events):,} facts"))
    text = f"{isolated(one.name)}, via {isolated(one.via)}: {plural(one.paths, 'path')}"
    return LayoutItem(text, units, tuple(items), signed=False)


def _comparison(comparison: AnswerComparison, top: int | None) -> ExplanationLayout:
    answer, competitor = comparison.answer, comparison.competitor
    score = units_of(answer.score), units_of(competitor.score)
    total = score[0] - score[1]
    units = adding_up([topic.difference for topic in comparison.topics], total)
    items = [_difference(topic, unit, top) for topic, unit in zip(comparison.topics, units, strict=True)]
    names = isolated(answer.answer), isolated(competitor.answer)
    heading = f"the difference, {written(total)}: score {_against(*score)}"
    title = f"why {names[0]} and not {names[1]}: {_question(answer)}"
    return ExplanationLayout(title, [comparison.sentence], [LayoutSection(heading, total, items)], is_comparison=True)


def _difference(topic: TopicDifference, total: int, top: int | None) -> LayoutItem:
    """Return what differs in a topic: what the answer has is rounded, and the competitor has what is left."""
    units, others = _shown([one.difference for one in topic.reasons], total, top, "reason")
    own = [units_of(one.answer) for one in topic.reasons]
    items = [
        LayoutItem(f"{one.title}: {_against(mine, mine - unit)}", unit)
        for one, mine, unit in zip(topic.reasons, own, units, strict=False)
    ]
    mine = units_of(topic.answer)
    return LayoutItem(f"{topic.title}: {_against(mine, mine - total)}", total, tuple(items + others))


def _against(answer: int, competitor: int) -> str:
    return f"{written(answer)} against {written(competitor)}"


def _shown(values: Sequence[float], total: int, top: int | None, noun: str) -> tuple[list[int], list[LayoutItem]]:
    """Return the units of the first values, and an item for all others, if there are any."""
    units = adding_up(values, total)
    shown, rest = units[:top], units[len(units[:top]) :]
    return shown, [LayoutItem(plural(len(rest), f"other {noun}"), sum(rest))] if rest else []
