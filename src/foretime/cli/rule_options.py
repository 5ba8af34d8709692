"""The flags that say how rules are mined and counted, and rules as tables: shared by the commands about rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foretime.cli.reading_options import data_config

if TYPE_CHECKING:
    from foretime.config import RulesConfig
    from foretime.data.graph import Graph
    from foretime.rules.table import Rules
    from foretime.rules.temporal import Progress


class CountingChoice(StrEnum):
    """How temporal rules are counted."""

    windowed = "windowed"
    literal = "literal"


GraphSource = Annotated[
    str, typer.Argument(help="A folder of splits, a file of events, or the folder of a run.", show_default=False)
]
RuleFile = Annotated[Path, typer.Argument(help="A file of rules (.txt, .rules, .jsonl, .parquet).", show_default=False)]
RuleSource = Annotated[Path, typer.Argument(help="A file of rules, or the folder of a run.", show_default=False)]
Window = Annotated[int | None, typer.Option(help="How many steps after its body a head may come.")]
Support = Annotated[int | None, typer.Option(help="The least number of bodies whose head came (windowed counting).")]
Confidence = Annotated[float | None, typer.Option(help="The least standard confidence (SC).")]
HeadCoverage = Annotated[float | None, typer.Option(help="The least head coverage (HC).")]
Counting = Annotated[CountingChoice | None, typer.Option(help="Each body once, or the paper's equations as printed.")]
Splits = Annotated[str | None, typer.Option(metavar="SPLIT,…", help="The splits to count on: train,valid.")]
BestPatternOnly = Annotated[
    bool | None, typer.Option("--best-pattern-only", help="Only the most confident pattern of a body and head.")
]
StaticSupport = Annotated[int | None, typer.Option(help="The least support without time.")]
StaticHeadCoverage = Annotated[float | None, typer.Option(help="The least head coverage without time.")]
StaticConfidence = Annotated[float | None, typer.Option(help="The least confidence without time.")]
StaticPcaConfidence = Annotated[float | None, typer.Option(help="The least PCA confidence without time.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]


def rules_config(**settings: Any) -> RulesConfig:
    """Return the `[rules]` section with the flags that were given; `splits` is a text with commas."""
    from foretime.config import RulesConfig, check_section

    given = {key: value for key, value in settings.items() if value is not None}
    if "splits" in given:
        given["splits"] = [name.strip() for name in given["splits"].split(",")]
    if "counting" in given:
        given["counting"] = str(given["counting"])
    return check_section(RulesConfig, given, "", "rules.")


def read_graph(graph: str, settings: dict[str, Any]) -> Graph:
    """Return a graph that is read from files, or the one that the folder of a run holds."""
    from foretime.data.graph import read_graph

    return read_graph(graph, data_config(settings))


@contextmanager
def mining_progress() -> Iterator[Progress]:
    """Show what is being counted; on Ctrl-C note that nothing was written."""
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    from foretime.cli.tables import error_console as console

    columns = (TextColumn("counting {task.description}"), BarColumn(bar_width=24))
    try:
        with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
            task = bars.add_task("rules")
            yield lambda what, done, total: bars.update(task, description=what, completed=done, total=total)
    except KeyboardInterrupt as stop:
        stop.add_note("nothing was written")
        raise


def print_json(content: Any) -> None:
    """Print an answer for a program."""
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))


def print_rules(rules: Rules, numbers: Sequence[int] | None = None) -> None:
    """Print a table of rules with their numbers and measures."""
    from rich.markup import escape
    from rich.table import Table

    from foretime.cli.tables import console

    table = Table("", "rule", "SC", "HC", "support", "body")
    for number, rule in zip(numbers or range(1, len(rules) + 1), rules, strict=True):
        counts = rule.measures
        table.add_row(
            str(number),
            escape(rule.statement),
            f"{counts.confidence:.3f}" if counts.body_count else "",
            f"{counts.head_coverage:.3f}" if counts.head_count else "",
            f"{counts.support:,.6g}" if counts.body_count else "",
            f"{counts.body_count:,.6g}" if counts.body_count else "",
        )
    console.print(table)
