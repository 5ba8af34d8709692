"""`foretime compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foretime.cli.evaluate import FilterChoice, SplitName
from foretime.errors import ConfigError

if TYPE_CHECKING:
    from foretime.evaluation.comparison import Comparison


def compare(
    first: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="The folder of another run on the same graph.", show_default=False)],
    split: Annotated[SplitName, typer.Option(help="Whose facts are asked; valid to choose by.")] = SplitName.valid,
    filter_name: Annotated[
        FilterChoice | None,
        typer.Option("--filter", help="Which answers are filtered out; default: the runs' own."),
    ] = None,
    top: Annotated[int, typer.Option("--top", "-n", help="How many questions and predicates to list.", min=0)] = 10,
    resamples: Annotated[int, typer.Option(help="Draws of the bootstrap.", min=100)] = 1_000,
    out: Annotated[Path | None, typer.Option(help="Where every question goes with both ranks (.csv).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole comparison as JSON.")] = False,
) -> None:
    """Compare two runs question by question: how much better is the second, and how sure is that."""
    if out is not None and out.suffix != ".csv":
        raise ConfigError(f"{out}: questions are written as .csv; name such a file")
    from foretime.files import write_text
    from foretime.inference.ranked_runs import compare as compare_runs

    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)  # ranking takes its time: not after it
    chosen: Any = filter_name.value if filter_name else None
    result = compare_runs(first, second, split=split.value, filter=chosen, top=top, resamples=resamples)
    if out is not None:
        write_text(out, result.all_questions().to_csv())
        typer.echo(f"{result.questions:,} questions written to {out}", err=True)
    if as_json:
        typer.echo(json.dumps(result.to_dict(), ensure_ascii=False, indent=2))
        return
    _print(result, top)


def _print(result: Comparison, top: int) -> None:
    from foretime.cli.tables import console, print_table

    count = f"{result.questions:,} questions of {result.facts:,} facts"
    title = f"{result.split} of {result.data}, {count}, filter {result.filter}"
    console.print(f"{title}\nfirst:  {result.first}\nsecond: {result.second}", markup=False, soft_wrap=True)
    print_table(result.table())
    console.print(
        f"the second is better on {result.better:,} questions, equal on {result.equal:,}, worse on {result.worse:,}; "
        f"p = {result.p_value:.4f} for the difference in MRR\n"
        "gain: second − first; 95 %: bootstrap over facts; p: signs flipped by fact",
        soft_wrap=True,
    )
    print_table(result.by_direction)
    if top:
        print_table(result.by_predicate.head(top))
        console.print("the most frequent predicates; p is adjusted for their number (Holm), the intervals are not")
    if len(result.decisive):
        print_table(result.decisive)
        console.print("the questions that one run wins and the other loses, with the rank of the answer by both")
    for note in result.notes:
        console.print(f"note: {note}", markup=False, soft_wrap=True)
