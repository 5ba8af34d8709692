"""Reports and answers as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from foretime.inference.explainer import ShownReason
    from foretime.inference.predictor import Answer

console = Console(highlight=False)
error_console = Console(stderr=True, highlight=False)


def print_reports(reports: dict[str, dict[str, Any]]) -> None:
    """Print one row for each split's report: MRR with its interval, Hits@k, calibration; one more for a first stage."""
    table = Table("split", "questions", "MRR", "95 %", "H@1", "H@3", "H@10", "ECE")
    rows = {}
    for split, report in reports.items():
        rows[split] = report
        if "base_model" in report:
            rows[f"{split}, base model"] = report["base_model"]
    for split, report in rows.items():
        low, high = report["mrr_interval"]
        errors = report.get("calibration_error", {})
        table.add_row(
            split,
            f"{report['all']['questions']:,}",
            f"{report['all']['mrr']:.4f}",
            f"{low:.3f}–{high:.3f}",
            *(f"{report['all']['hits'][k]:.3f}" for k in ("1", "3", "10")),
            f"{errors['object']:.3f}" if errors else "",
        )
    console.print(table)
    names = {report["filter"] for report in reports.values()}
    console.print(f"ranked among all entities, both directions, other known answers left out ({', '.join(names)})")
    if any("calibration_error" in report for report in reports.values()):
        console.print("95 %: the interval of the MRR; ECE: the expected calibration error of objects")


def print_details(report: dict[str, Any], predicates: int) -> None:
    """Print a report by direction, seen and unseen entities, its most frequent predicates, and kinds of evidence."""
    rows = {
        "all": report["all"],
        "objects": report["objects"],
        "subjects": report["subjects"],
        "entities seen in train": report["seen"],
        "an entity unseen in train": report["unseen"],
        **dict(list(report["predicates"].items())[:predicates]),
    }
    _print_metrics("questions about", rows)
    kinds = {name: metrics for name, metrics in report["kinds"].items() if metrics["questions"]}
    _print_metrics("nearest event of the pair in train", kinds)
    if report["optimistic_mrr"] != report["pessimistic_mrr"]:
        console.print(
            f"ties: MRR is {report['pessimistic_mrr']:.4f} if they are lost, {report['optimistic_mrr']:.4f} if won"
        )


def _print_metrics(title: str, rows: dict[str, dict[str, Any]]) -> None:
    table = Table(title, "questions", "MRR", "H@1", "H@3", "H@10")
    for name, metrics in rows.items():
        hits = (f"{metrics['hits'][k]:.4f}" for k in ("1", "3", "10"))
        table.add_row(escape(name), f"{metrics['questions']:,}", f"{metrics['mrr']:.4f}", *hits)
    console.print(table)


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
