"""Explanations as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foretime.inference.explanation.explanation import Comparison, Explanation
from foretime.inference.explanation.layout import (
    CompanyLines,
    DifferenceLine,
    ReasonLine,
    SecondStage,
    lay_out,
    lay_out_comparison,
)
from foretime.inference.explanation.rounding import sum_text, written
from foretime.inference.explanation.text import (
    FACTS_SHOWN,
    company_text,
    others_text,
    peer_text,
    placed_text,
    question_text,
    shown_events,
    standing_text,
)


def explanation_markdown(explanation: Explanation, top: int | None = None) -> str:
    """Return an explanation as Markdown, with the first `top` reasons; with a competitor, the comparison first."""
    if explanation.competitor is None:
        return "\n".join(_lines(explanation, top)) + "\n"
    parts = [_comparison_lines(Comparison(explanation, explanation.competitor), top)]
    parts += [_lines(one, top) for one in (explanation, explanation.competitor)]
    return "\n".join("\n".join(part) + "\n" for part in parts)


def _lines(explanation: Explanation, top: int | None) -> Iterator[str]:
    layout = lay_out(explanation, top)
    yield f"## {_escape(explanation.answer)}"
    yield ""
    yield f"{_escape(question_text(explanation))}: {standing_text(explanation)}"
    yield ""
    if explanation.second_stage is not None:
        yield from (f"Score by the second stage: {written(layout.score)}", "")
    staged = explanation.second_stage is not None or explanation.first_stage is not None
    header = ("first stage" if staged else "score", written(layout.first_stage))
    yield from _table(header, [(name, written(units)) for name, units in layout.terms])
    if explanation.first_stage is not None:
        yield from ("", f"The first stage{placed_text(explanation)}")
    if explanation.note:
        yield from ("", _escape(explanation.note))
    if layout.second_stage is not None:
        yield from _second_stage_lines(layout.second_stage)
    if layout.company is not None:
        yield from _company_lines(layout.company)
    if layout.reasons:
        yield from ("", f"### The evidence: {written(layout.evidence)}", "")
    for line in layout.reasons:
        yield from _reason_lines(line)
    if layout.others.count:
        yield f"- **{written(layout.others.units, sign=True)}** {others_text(layout.others, 'reason')}"


def _reason_lines(line: ReasonLine) -> Iterator[str]:
    reason = line.reason
    rule = "" if reason.rule is None else f"  \n  {_code(reason.rule)}"
    yield f"- **{written(line.units, sign=True)}** {_escape(reason.sentence)}{rule}"
    for part, units, weights in line.parts:
        where = f"at the {part.end}, " if part.end else ""
        made = sum_text(weights)
        counted = f" (SC {part.confidence:.2f}, {part.support} of {part.body_count})" if part.body_count else ""
        yield f"  - {written(units, sign=True)} {where}{part.says} = {made}{counted}"
    shown, rest = shown_events(reason)
    for event in reason.events[:shown]:
        yield f"  - *{event.mark}* {_escape(str(event))}"
    if rest:
        yield f"  - {rest}"


def _second_stage_lines(stage: SecondStage) -> Iterator[str]:
    yield from ("", f"### The second stage, which orders the answers: {written(stage.score)}", "")
    rows = [("base", "", written(stage.base, sign=True))]
    rows += [(column.words, column.value_words, written(units, sign=True)) for column, units in stage.columns]
    if stage.others.count:
        rows.append((others_text(stage.others, "column"), "", written(stage.others.units, sign=True)))
    yield from _table(("column", "value", "contribution"), rows)


def _company_lines(lines: CompanyLines) -> Iterator[str]:
    words = company_text(lines)
    yield from ("", f"### {words[0].upper()}{words[1:]}", "")
    for peer, units in lines.peers:
        yield f"- **{written(units)}** {_escape(peer_text(peer))}"
        yield from (f"  - *{event.mark}* {_escape(str(event))}" for event in peer.events[:FACTS_SHOWN])
        if len(peer.events) > FACTS_SHOWN:
            yield f"  - {FACTS_SHOWN} of {len(peer.events):,} facts"
    if lines.others.count:
        yield f"- **{written(lines.others.units)}** {others_text(lines.others, 'peer')}"


def _comparison_lines(comparison: Comparison, top: int | None) -> Iterator[str]:
    layout, answer, competitor = lay_out_comparison(comparison, top), comparison.answer, comparison.competitor
    header = ("", answer.answer, competitor.answer, "difference")
    yield f"# Why {_escape(answer.answer)} and not {_escape(competitor.answer)}"
    yield ""
    yield _escape(question_text(answer))
    yield ""
    scores = [layout.first_stage] if comparison.staged or answer.first_stage else []
    scores += [layout.score] if comparison.staged or not answer.first_stage else []
    yield from _table(header, [_row(line) for line in (*layout.terms, *scores)])
    for title, noun, found, others in (
        ("The second stage", "column", layout.second_stage, layout.second_stage_others),
        ("The evidence", "reason", layout.reasons, layout.others),
    ):
        if found:
            yield from ("", f"### {title}", "")
            rows = [_row(line) for line in found]
            if others.count:
                rows.append((others_text(others, noun), "", "", written(others.units, sign=True)))
            yield from _table(header, rows)


def _row(line: DifferenceLine) -> tuple[str, ...]:
    return line.name, written(line.answer), written(line.competitor), written(line.units, sign=True)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(_escape, header))} |"
    yield f"| {' | '.join('---' for _ in header)} |"
    for cells in rows:
        yield f"| {' | '.join(map(_escape, cells))} |"


def _escape(text: str) -> str:
    """Return a text in which names mean no markup."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" else letter for letter in text)


def _code(text: str) -> str:
    """Return a text as code, whatever backticks are in it."""
    fence = "``" if "`" in text else "`"
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"
