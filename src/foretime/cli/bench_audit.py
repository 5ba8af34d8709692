"""`foretime bench audit`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from foretime.experiments.bench.audit import Audit


def audit(
    run: Annotated[Path, typer.Argument(help="The folder of a trained LCGE run.", show_default=False)],
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
    write: Annotated[Path | None, typer.Option(help="Where the figures go (.json).")] = None,
    page: Annotated[Path | None, typer.Option(help="A Markdown page whose marked place gets the table.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Count the test split of an LCGE run by Eq. 15, and as the code released with the paper counts it."""
    from foretime.experiments.bench.audit import audit as audit_run
    from foretime.experiments.bench.audit_page import around_marks, put_between_marks
    from foretime.files import write_json

    if page is not None:
        around_marks(page)  # ranking takes its time: a page without a place should be told before it
    result = audit_run(run, seed=seed)
    if write is not None:
        write.parent.mkdir(parents=True, exist_ok=True)
        write_json(write, result.to_dict())
    if page is not None:
        put_between_marks(page, result.to_dict())
    if as_json:
        typer.echo(json.dumps(result.to_dict(), ensure_ascii=False, indent=2))
        return
    _print(result)


def _print(result: Audit) -> None:
    from rich.table import Table

    from foretime.cli.tables import console
    from foretime.evaluation.metrics import METRICS

    table = Table("counted", *(metric.label for metric in METRICS.values()), "first")
    for count in result.counts.values():
        cells = (metric.text(count.metrics[name]) for name, metric in METRICS.items())
        table.add_row(count.about, *cells, f"{count.firsts:.1f}")
    if result.printed:
        cells = (metric.text(result.printed.get(name)) for name, metric in METRICS.items())
        table.add_row("printed in the paper", *cells, "")
    console.print(table)
    console.print(
        f"{result.split} of {result.data}, {result.questions:,} questions, λ = {result.commonsense_weight:g}; "
        "first: candidates that have no competitor before them, a mean over questions (1 in any list)",
        markup=False,
        soft_wrap=True,
    )
