"""Explanations as plain text."""

from __future__ import annotations

import math
from collections.abc import Iterator

from foretime.inference.explanation.company import Peer
from foretime.inference.explanation.explanation import IN_TWOS, Comparison, Explanation, ShownReason
from foretime.inference.explanation.layout import (
    CompanyLines,
    DifferenceLine,
    Others,
    ReasonLine,
    SecondStage,
    lay_out,
    lay_out_comparison,
)
from foretime.inference.explanation.rounding import sum_text, written

EVENTS_SHOWN = 3
"""How many events of a reason are printed; of paths and partners, as many twos less one."""
FACTS_SHOWN = 6
"""How many facts of one of the company are printed."""
_TOLD = 1e-4
"""How far the weight of the company may be from what the second stage, in single precision, was told."""
_MARGIN = " " * 9


def explanation_text(explanation: Explanation, top: int | None = None) -> str:
    """Return an explanation as text, with the first `top` reasons; with a competitor, the comparison comes first."""
    if explanation.competitor is None:
        return "\n".join(_lines(explanation, top))
    parts = [_comparison_lines(Comparison(explanation, explanation.competitor), top)]
    parts += [_lines(one, top) for one in (explanation, explanation.competitor)]
    return "\n\n".join("\n".join(part) for part in parts)


def question_text(explanation: Explanation) -> str:
    """Return the question, with `?` for the slot that is the answer."""
    open_slots = ("time", "start", "end") if explanation.slot == "time" else (explanation.slot,)
    values = ("?" if name in open_slots else value for name, value in explanation.question.items())
    return f"({', '.join(values)})"


def standing_text(explanation: Explanation) -> str:
    """Return rank, confidence, and the split that knows the answer."""
    parts = [f"rank {explanation.rank}"]
    if explanation.confidence is not None:
        parts.append(f"confidence {explanation.confidence:.1%}")
    if explanation.known is not None:
        parts.append(f"known in {explanation.known}")
    return ", ".join(parts)


def placed_text(explanation: Explanation) -> str:
    """Return where the first of two stages has put the answer, as the rest of a sentence."""
    return "" if explanation.first_stage is None else f": {explanation.first_stage.words}"


def shown_events(reason: ShownReason) -> tuple[int, str]:
    """Return how many events of a reason are printed, and what is said of the others."""
    twos = reason.kind in IN_TWOS
    shown = min(len(reason.events), 2 * (EVENTS_SHOWN - 1) if twos else EVENTS_SHOWN)
    groundings = shown // 2 if twos else shown
    noun = {"affinity": "partners", "path": "paths"}.get(reason.kind, "events")
    return shown, f"{groundings:,} of {reason.groundings:,} {noun}" if groundings < reason.groundings else ""


def company_text(lines: CompanyLines) -> str:
    """Return how much company speaks for an answer."""
    company = lines.company
    told = "" if math.isclose(company.told, company.weight, rel_tol=_TOLD) else f", {company.told:.3f} of it told"
    return f"the company, {_counted(company.paths, 'path')} of weight {written(lines.weight)} in all{told}"


def peer_text(peer: Peer) -> str:
    """Return who speaks for an answer, and how often."""
    return f"{peer.name}, over {peer.third}: {_counted(peer.paths, 'path')}"


def others_text(others: Others, noun: str) -> str:
    """Return how many are not shown."""
    return _counted(others.count, f"other {noun}")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _lines(explanation: Explanation, top: int | None) -> Iterator[str]:
    layout = lay_out(explanation, top)
    yield f"{question_text(explanation)}: {explanation.answer}"
    yield standing_text(explanation)
    if explanation.second_stage is not None:
        yield f"score {written(layout.score)}, by the second stage"
    if explanation.second_stage is None and explanation.first_stage is None:
        yield f"score {written(layout.score)} = {sum_text(layout.terms)}"
    else:
        yield f"first stage {written(layout.first_stage)} = {sum_text(layout.terms)}{placed_text(explanation)}"
    if explanation.note:
        yield explanation.note
    if layout.second_stage is not None:
        yield from _second_stage_lines(layout.second_stage)
    if layout.company is not None:
        yield from ("", f"{company_text(layout.company)}:")
        for peer, units in layout.company.peers:
            yield f"{written(units):>8} {peer_text(peer)}"
            yield from (f"{_MARGIN}{event.mark:9} {event}" for event in peer.events[:FACTS_SHOWN])
            if len(peer.events) > FACTS_SHOWN:
                yield f"{_MARGIN}{FACTS_SHOWN} of {len(peer.events):,} facts"
        if layout.company.others.count:
            yield f"{written(layout.company.others.units):>8} {others_text(layout.company.others, 'peer')}"
    if layout.reasons:
        yield ""
        yield f"the evidence, {written(layout.evidence)}:"
    for line in layout.reasons:
        yield from _reason_lines(line)
    if layout.others.count:
        yield f"{written(layout.others.units, sign=True):>8} {others_text(layout.others, 'reason')}"


def _reason_lines(line: ReasonLine) -> Iterator[str]:
    reason = line.reason
    yield f"{written(line.units, sign=True):>8} {reason.sentence}"
    if reason.rule is not None:
        yield f"{_MARGIN}{reason.rule}"
    for part, units, weights in line.parts:
        where = f"at the {part.end}, " if part.end else ""
        made = sum_text(weights)
        counted = f"  [SC {part.confidence:.2f}, {part.support} of {part.body_count}]" if part.body_count else ""
        yield f"{_MARGIN}{written(units, sign=True):>8} {where}{part.says} = {made}{counted}"
    shown, rest = shown_events(reason)
    for event in reason.events[:shown]:
        yield f"{_MARGIN}{event.mark:9} {event}"
    if rest:
        yield f"{_MARGIN}{rest}"


def _second_stage_lines(stage: SecondStage) -> Iterator[str]:
    yield ""
    yield f"the second stage, {written(stage.score)}, which orders the answers:"
    yield f"{written(stage.base, sign=True):>8} base"
    for column, units in stage.columns:
        yield f"{written(units, sign=True):>8} {column.words} = {column.value_words}"
    if stage.others.count:
        yield f"{written(stage.others.units, sign=True):>8} {others_text(stage.others, 'column')}"


def _comparison_lines(comparison: Comparison, top: int | None) -> Iterator[str]:
    layout, answer, competitor = lay_out_comparison(comparison, top), comparison.answer, comparison.competitor
    yield f"why {answer.answer} and not {competitor.answer}: {question_text(answer)}"
    terms = sum_text([(term.name, term.units) for term in layout.terms])
    if comparison.staged:
        yield f"score {_against(layout.score)}"
        yield f"difference {written(layout.score.units)}, by the second stage"
    first = "first stage" if answer.first_stage or comparison.staged else "score"
    yield f"{first} {_against(layout.first_stage)}"
    yield f"difference {written(layout.first_stage.units)} = {terms}"
    if comparison.staged:
        yield ""
        yield "of the second stage, which orders the answers:"
        for line in layout.second_stage:
            yield f"{written(line.units, sign=True):>8} {line.name}: {_against(line)}"
        if layout.second_stage_others.count:
            others = layout.second_stage_others
            yield f"{written(others.units, sign=True):>8} {others_text(others, 'column')}"
    if layout.reasons:
        yield ""
        yield "of the evidence:"
    for line in layout.reasons:
        yield f"{written(line.units, sign=True):>8} {line.name}: {_against(line)}"
    if layout.others.count:
        yield f"{written(layout.others.units, sign=True):>8} {others_text(layout.others, 'reason')}"


def _against(line: DifferenceLine) -> str:
    return f"{written(line.answer)} against {written(line.competitor)}"
