"""`foretime data describe`, `check` and `split`: look at a graph before a model does."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foretime.cli.reading_options import (
    Columns,
    Delimiter,
    Granularity,
    Header,
    Irregular,
    Names,
    data_config,
    reading_settings,
)

if TYPE_CHECKING:
    from foretime.data.summary import Summary

data_app = typer.Typer(help="Get, describe, check and split graphs.", no_args_is_help=True)

Graph = Annotated[str, typer.Argument(help="A folder of splits or a file of events.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]


class SplitBy(StrEnum):
    """The ways to split a file."""

    random = "random"
    time = "time"


@data_app.command()
def describe(
    graph: Graph,
    columns: Columns = None,
    header: Header = None,
    delimiter: Delimiter = None,
    granularity: Granularity = None,
    irregular: Irregular = False,
    names: Names = None,
    as_json: AsJson = False,
) -> None:
    """Say what a graph holds: facts, names, times, and how they are spread."""
    summary = _summarise(graph, reading_settings(columns, header, delimiter, granularity, irregular, names))
    if as_json:
        typer.echo(json.dumps(summary.to_dict(), ensure_ascii=False, indent=2))
        return
    _print_summary(summary)


@data_app.command()
def check(  # noqa: PLR0913, each is a flag
    graph: Graph,
    columns: Columns = None,
    header: Header = None,
    delimiter: Delimiter = None,
    granularity: Granularity = None,
    irregular: Irregular = False,
    names: Names = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if there are warnings.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check every row of a graph. Bad rows are listed and exit with 2; warnings are only printed."""
    summary = _summarise(graph, reading_settings(columns, header, delimiter, granularity, irregular, names))
    warnings = summary.warnings()
    if as_json:
        report = {"name": summary.name, "facts": summary.facts, "warnings": warnings}
        typer.echo(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        for warning in warnings:
            typer.echo(f"warning: {warning}")
        facts = sum(summary.facts.values())
        typer.echo(f"{summary.name}: {facts:,} facts can be read, {len(warnings) or 'no'} warnings")
    if strict and warnings:
        raise typer.Exit(1)


@data_app.command()
def split(  # noqa: PLR0913, each is a flag
    file: Annotated[Path, typer.Argument(help="A file of events.", show_default=False)],
    out: Annotated[Path, typer.Argument(help="The folder to write.", show_default=False)],
    by: Annotated[SplitBy, typer.Option(help="Draw facts by the seed, or cut by time.")] = SplitBy.random,
    valid: Annotated[float, typer.Option(help="The share of facts for valid.")] = 0.1,
    test: Annotated[float, typer.Option(help="The share of facts for test.")] = 0.1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same split.")] = 0,
    columns: Columns = None,
    header: Header = None,
    delimiter: Delimiter = None,
    granularity: Granularity = None,
) -> None:
    """Split a file into train, valid and test, every row as it was written.

    A split by time keeps all facts of one time step together, as far as there are enough steps.
    """
    from foretime.data.graph import split_file

    settings = reading_settings(columns, header, delimiter, granularity)
    shares = {"split": by.value, "valid_share": valid, "test_share": test, "split_seed": seed}
    written = split_file(file, out, data_config(settings | shares))
    for path, count in written.items():
        typer.echo(f"{path}: {count:,} facts")


def _summarise(graph: str, settings: dict[str, object]) -> Summary:
    from foretime.data.graph import read_graph

    return read_graph(graph, data_config(settings)).describe()


def _print_summary(summary: Summary) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(show_header=False, title=escape(summary.name), title_justify="left")
    for label, value in summary.rows():
        table.add_row(label, escape(value))
    console.print(table)
    predicates = Table("most frequent predicates", "facts")
    for name, count in summary.frequent_predicates.items():
        predicates.add_row(escape(name), f"{count:,}")
    console.print(predicates)
    if summary.looks_like_years:
        console.print("hint: if the times are years, --granularity year names them so", soft_wrap=True)
    for warning in summary.warnings():
        console.print(f"warning: {escape(warning)}", soft_wrap=True)
