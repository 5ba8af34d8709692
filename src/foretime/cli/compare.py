"""`foretime compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foretime.cli.evaluate import FilterChoice, SplitName
from foretime.errors import ConfigError

if TYPE_CHECKING:
    from foretime.evaluation.comparison import Comparison, Difference, Group
    from foretime.evaluation.ranked_questions import Asked


def compare(
    first: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="The folder of another run on the same graph.", show_default=False)],
    split: Annotated[SplitName, typer.Option(help="Whose facts are asked; valid to choose by.")] = SplitName.valid,
    filter_name: Annotated[
        FilterChoice | None, typer.Option("--filter", help="Which known answers do not count; default: the runs' own.")
    ] = None,
    top: Annotated[int, typer.Option("--top", "-n", help="How many questions and predicates to list.", min=0)] = 10,
    resamples: Annotated[int, typer.Option(help="Draws of the bootstrap.", min=100)] = 1_000,
    out: Annotated[Path | None, typer.Option(help="Where every question goes with both ranks (.csv).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole comparison as JSON.")] = False,
) -> None:
    """Compare two runs question by question: how much better is the second, and how sure is that."""
    if out is not None and out.suffix != ".csv":
        raise ConfigError(f"{out}: questions are written as .csv; name such a file")
    from foretime.evaluation.comparison import compare as compare_runs
    from foretime.evaluation.ranked_questions import write_asked
    from foretime.inference.ranked_runs import rank_both

    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)  # ranking takes its time: not after it
    runs = rank_both(first, second, split.value, filter_name.value if filter_name else None)
    result = compare_runs(*runs, top=top, resamples=resamples)
    if out is not None:
        count = write_asked(out, *runs)
        typer.echo(f"{count:,} questions written to {out}", err=True)
    if as_json:
        typer.echo(json.dumps(result.to_dict(), ensure_ascii=False, indent=2))
        return
    _print(result, top)


def _print(result: Comparison, top: int) -> None:
    from rich.table import Table

    from foretime.cli.tables import console

    count = f"{result.questions:,} questions of {result.facts:,} facts"
    title = f"{result.split} of {result.data}, {count}, filter {result.filter}"
    console.print(f"{title}\nfirst:  {result.first}\nsecond: {result.second}", markup=False, soft_wrap=True)
    table = Table("", "first", "95 %", "second", "95 %", "gain", "95 %")
    for name, metric in result.metrics.items():
        label = "MRR" if name == "mrr" else name.replace("hits", "H")
        table.add_row(label, *_cells(metric))
    console.print(table)
    console.print(
        f"the second is better on {result.better:,} questions, equal on {result.equal:,}, worse on {result.worse:,}; "
        f"p = {result.p_value:.4f} for the difference in MRR",
        soft_wrap=True,
    )
    console.print("gain: second − first; 95 %: bootstrap over facts; p: signs flipped by fact")
    _print_groups("direction", result.directions)
    _print_groups("predicate", dict(list(result.predicates.items())[:top]))
    _print_asked("the second wins most", result.second_wins)
    _print_asked("the first wins most", result.first_wins)
    for note in result.notes:
        console.print(f"note: {note}", markup=False, soft_wrap=True)


def _cells(metric: Difference) -> list[str]:
    low, high = metric.difference_interval
    return [
        f"{metric.first:.4f}",
        "{:.3f}–{:.3f}".format(*metric.first_interval),
        f"{metric.second:.4f}",
        "{:.3f}–{:.3f}".format(*metric.second_interval),
        f"{metric.difference:+.4f}",
        f"{low:+.3f} {high:+.3f}",
    ]


def _print_groups(title: str, groups: dict[str, Group]) -> None:
    if not groups:
        return
    from rich.markup import escape
    from rich.table import Column, Table

    from foretime.cli.tables import console

    table = Table(title, "questions", "first", "second", "gain", Column("95 %", no_wrap=True), "p")
    for name, group in groups.items():
        first, _, second, _, difference, interval = _cells(group.mrr)
        table.add_row(escape(name), f"{group.questions:,}", first, second, difference, interval, f"{group.p_value:.4f}")
    console.print(table)
    if title == "predicate":
        console.print(
            "the most frequent predicates; p is adjusted for the number of them (Holm), the intervals are not"
        )


def _print_asked(title: str, questions: list[Asked]) -> None:
    if not questions:
        return
    from rich.markup import escape
    from rich.table import Table

    from foretime.cli.tables import console

    table = Table(title, "answer", "first", "second")
    for question in questions:
        ranks = (f"{question.first_rank:g}", f"{question.second_rank:g}")
        table.add_row(escape(question.question), escape(question.answer), *ranks)
    console.print(table)
