"""Reports and answers as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

if TYPE_CHECKING:
    from foretime.evaluation import Evaluation
    from foretime.inference.explainer import ShownReason
    from foretime.inference.predictor import Answer
    from foretime.tables import Table as Values

console = Console(highlight=False)
error_console = Console(stderr=True, highlight=False)


def print_table(table: Values) -> None:
    """Print a table of values, its columns aligned as its values are."""
    shown = table.filled()
    columns = [
        Column(escape(head), justify="right" if right else "left", no_wrap=right)
        for head, right in zip(shown.heads(), shown.numeric(), strict=True)
    ]
    printed = Table(*columns)
    for row in shown.cells():
        printed.add_row(*map(escape, row))
    console.print(printed)


def print_evaluations(evaluations: Mapping[str, Evaluation]) -> None:
    """Print one row for each split: every metric, the interval of the MRR, calibration; one more for a base model."""
    from foretime.evaluation import metrics_table

    print_table(metrics_table(evaluations))
    names = {found.filter for found in evaluations.values()}
    console.print(f"ranked among all entities, both directions, other known answers filtered out ({', '.join(names)})")
    calibrated = any(found.calibration_error for found in evaluations.values())
    ece = "; ECE: the expected calibration error of objects" if calibrated else ""
    console.print(f"95 %: the interval of the MRR{ece}")


def print_details(found: Evaluation, predicates: int) -> None:
    """Print an evaluation by direction, seen and unseen entities, its most frequent predicates, and by distance."""
    print_table(found.table())
    if predicates:
        print_table(found.by_predicate.head(predicates))
    print_table(found.by_distance)
    if found.optimistic_mrr != found.pessimistic_mrr:
        console.print(f"ties: MRR is {found.pessimistic_mrr:.4f} if they are lost, {found.optimistic_mrr:.4f} if won")


def print_answers(title: str, answers: list[Answer], reasons: list[list[ShownReason]] | None = None) -> None:
    """Print ranked answers with confidence, the terms of the score, and a mark for those that are known.

    Where reasons are given, those of each answer follow.
    """
    terms = list(answers[0].terms) if answers else []
    table = Table("", "answer", "confidence", "score", *(terms if len(terms) > 1 else []), "known", title=escape(title))
    for answer in answers:
        table.add_row(
            str(answer.rank),
            escape(answer.name),
            "" if answer.confidence is None else f"{answer.confidence:6.1%}",
            f"{answer.score:.3f}",
            *(f"{answer.terms[term]:.3f}" for term in (terms if len(terms) > 1 else [])),
            f"in {answer.known}" if answer.known else "",
        )
    console.print(table)
    for answer, found in zip(answers, reasons or [], strict=False):
        console.print(f"{answer.rank} {answer.name}", markup=False)
        for reason in found:
            console.print(f"  {reason.brief}", markup=False, soft_wrap=True)
