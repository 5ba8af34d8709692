"""`foretime rules check`, `example` and `import`: rules together with a graph."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foretime.cli.reading_options import Columns, Delimiter, Granularity, Header, Irregular, Names, reading_settings
from foretime.cli.rule_options import (
    AsJson,
    Confidence,
    Counting,
    GraphSource,
    HeadCoverage,
    RuleFile,
    Splits,
    Support,
    Window,
    mining_progress,
    print_json,
    print_rules,
    read_graph,
    rules_config,
)
from foretime.errors import DataError

if TYPE_CHECKING:
    from foretime.rules.grounding import Grounding


class Miner(StrEnum):
    """Whose files of rules can be imported."""

    amie = "amie"
    anyburl = "anyburl"


def check(  # noqa: PLR0913, each is a flag
    file: RuleFile,
    graph: GraphSource,
    window: Window = None,
    counting: Counting = None,
    splits: Splits = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the rules as they are counted.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if a count differs.")] = False,
    columns: Columns = None,
    header: Header = None,
    delimiter: Delimiter = None,
    granularity: Granularity = None,
    irregular: Irregular = False,
    names: Names = None,
    as_json: AsJson = False,
) -> None:
    """Count the rules of a file anew, hand-written ones too, and compare with what the file says."""
    from foretime.rules.files import read_rules, rule_format

    config = rules_config(window=window, counting=counting, splits=splits)
    if out is not None:
        rule_format(out)
    loaded = read_graph(graph, reading_settings(columns, header, delimiter, granularity, irregular, names))
    settings = config.model_dump(include={"window", "counting", "splits"})
    checked = read_rules(file, loaded).check(loaded, **settings)
    if out is not None:
        checked.counted.save(out)
    rows = checked.rows()
    _print_checked(rows, as_json)
    if strict and any(row["differs"] for row in rows):
        raise typer.Exit(1)


def _print_checked(rows: list[dict[str, Any]], as_json: bool) -> None:
    from rich.markup import escape
    from rich.table import Table

    from foretime.cli.tables import console

    if as_json:
        print_json(rows)
        return
    table = Table("", "rule", "given", "counted", "")
    for number, row in enumerate(rows, 1):
        note = "differs" if row["differs"] else "" if row["given"] else "new"
        texts = (escape(row[key]) or "–" for key in ("rule", "given", "counted"))
        table.add_row(str(number), *texts, note)
    console.print(table)
    typer.echo(f"{len(rows):,} rules counted, {sum(row['differs'] for row in rows):,} differ")


def example(  # noqa: PLR0913, each is a flag
    file: RuleFile,
    graph: GraphSource,
    rule: Annotated[str, typer.Option(help="The number of a rule in the file, or a rule as text.")] = "1",
    count: Annotated[int, typer.Option("--count", "-n", help="How many examples.", min=1)] = 5,
    misses: Annotated[bool, typer.Option("--misses", help="Bodies whose head did not come.")] = False,
    window: Window = None,
    splits: Splits = None,
    columns: Columns = None,
    header: Header = None,
    delimiter: Delimiter = None,
    granularity: Granularity = None,
    irregular: Irregular = False,
    names: Names = None,
    as_json: AsJson = False,
) -> None:
    """Show the first events of a graph that a rule speaks of, by time."""
    from foretime.rules.files import read_rules

    config = rules_config(window=window, splits=splits)
    loaded = read_graph(graph, reading_settings(columns, header, delimiter, granularity, irregular, names))
    rules = read_rules(file, loaded)
    chosen = rules[_row(file, rule, len(rules))] if rule.strip().lstrip("-").isdecimal() else rule
    settings = config.model_dump(include={"window", "splits"})
    try:
        found = rules.examples(chosen, loaded, count=count, misses=misses, **settings)
    except DataError as error:
        raise DataError(f"--rule: {error}") from None
    statement = chosen if isinstance(chosen, str) else chosen.statement
    if as_json:
        shown = [[event._asdict() for event in grounding.events] for grounding in found]
        print_json({"rule": statement, "holds": not misses, "examples": shown})
        return
    _print_examples(statement, found, misses)


def _row(file: Path, rule: str, count: int) -> int:
    """Return the row of a rule that is given by its number in the file."""
    if not 1 <= int(rule) <= count:
        raise DataError(f"--rule {rule}: {file} has rules 1 to {count}")
    return int(rule) - 1


def _print_examples(statement: str, found: list[Grounding], misses: bool) -> None:
    typer.echo(statement)
    for number, grounding in enumerate(found, 1):
        for place, event in enumerate(grounding.events):
            start = f"{number:>3}." if place == 0 else "    "
            what = f"{event.subject} | {event.predicate} | {event.object}"
            typer.echo(f"{start} {event.role}  {event.time}  {what}")
        if misses:
            typer.echo("     no head in the window")
    if not found:
        typer.echo("no such example" if misses else "no example: the rule never holds on these splits")


def import_(  # noqa: PLR0913, each is a flag
    miner: Annotated[Miner, typer.Argument(help="Who wrote the file.", show_default=False)],
    file: Annotated[Path, typer.Argument(help="The file of rules that it wrote.", show_default=False)],
    graph: GraphSource,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the temporal rules go.", show_default=False)],
    window: Window = None,
    support: Support = None,
    confidence: Confidence = None,
    head_coverage: HeadCoverage = None,
    counting: Counting = None,
    splits: Splits = None,
    columns: Columns = None,
    header: Header = None,
    delimiter: Delimiter = None,
    granularity: Granularity = None,
    irregular: Irregular = False,
    names: Names = None,
) -> None:
    """Read the rules of AMIE or AnyBURL, find how they lie in time, and write those that reach the thresholds."""
    from foretime.rules.files import rule_format
    from foretime.rules.imports import import_rules

    rule_format(out)
    config = rules_config(
        window=window, support=support, confidence=confidence, head_coverage=head_coverage, counting=counting,
        splits=splits,
    )  # fmt: skip
    keys = {"window", "support", "confidence", "head_coverage", "counting", "splits"}
    with mining_progress() as progress:
        loaded = read_graph(graph, reading_settings(columns, header, delimiter, granularity, irregular, names))
        report = partial(typer.echo, err=True)
        settings = config.model_dump(include=keys)
        rules = import_rules(file, loaded, miner.value, **settings, report=report, progress=progress)
        rules.save(out)
    print_rules(rules.take(slice(20)))
    typer.echo(f"{len(rules):,} temporal rules reach the thresholds; written to {out}")
