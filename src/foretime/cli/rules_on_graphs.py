"""`foretime rules check`, `example` and `import`: rules together with a graph."""

from __future__ import annotations

from enum import StrEnum
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
    from foretime.data.graph import Graph
    from foretime.rules.grounding import Grounding
    from foretime.rules.rule import Rule, RuleTable
    from foretime.rules.text import Measures


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
    from foretime.rules.files import check_ending, read_rules, write_rules
    from foretime.rules.recount import recount

    config = rules_config(window=window, counting=counting, splits=splits)
    if out is not None:
        check_ending(out)
    loaded = read_graph(graph, reading_settings(columns, header, delimiter, granularity, irregular, names))
    given = read_rules(file, loaded)
    counted = recount(given, loaded, config)
    if out is not None:
        write_rules(out, counted, loaded)
    rows = _checked(given, counted, loaded)
    _print_checked(rows, as_json)
    if strict and any(row["differs"] for row in rows):
        raise typer.Exit(1)


def _checked(given: RuleTable, counted: RuleTable, loaded: Graph) -> list[dict[str, Any]]:
    """Return each rule with what was given and what was counted; what was not given does not differ."""
    from foretime.rules.text import measures_of, written

    rows = []
    for row, rule in enumerate(given.rules()):
        before, after = measures_of(given, row), measures_of(counted, row)
        rows.append(
            {
                "rule": written(rule, loaded.predicates).statement,
                "given": str(before).strip("[]"),
                "counted": str(after).strip("[]"),
                "differs": not (_same_confidence(before, after) and _same_coverage(before, after)),
            }
        )
    return rows


def _same_confidence(given: Measures, counted: Measures) -> bool:
    same = abs(given.support - counted.support) < 1e-6 and given.body_count == counted.body_count
    return same or not given.body_count


def _same_coverage(given: Measures, counted: Measures) -> bool:
    if given.head_count != 1:
        same = abs(given.head_support - counted.head_support) < 1e-6 and given.head_count == counted.head_count
        return same or not given.head_count
    # text gives HC as a share of 1, printed to two digits; somebody may have written more
    digits = max(2, len(str(given.head_support).partition(".")[2]))
    return abs(given.head_support - counted.head_coverage) <= 0.5 * 10.0**-digits + 1e-9


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
    from foretime.rules.grounding import examples
    from foretime.rules.mining import facts_of, temporal_settings
    from foretime.rules.text import written

    config = rules_config(window=window, splits=splits)
    loaded = read_graph(graph, reading_settings(columns, header, delimiter, granularity, irregular, names))
    chosen = _chosen(file, rule, loaded)
    facts = facts_of(loaded, config)
    found = examples(chosen, loaded, temporal_settings(config), count, misses, facts)
    statement = written(chosen, loaded.predicates).statement
    if as_json:
        shown = [[event._asdict() for event in grounding.events] for grounding in found]
        print_json({"rule": statement, "holds": not misses, "examples": shown})
        return
    _print_examples(statement, found, misses)


def _chosen(file: Path, rule: str, loaded: Graph) -> Rule:
    """Return the rule that a number in the file or a text names."""
    from foretime.rules.files import read_rules
    from foretime.rules.parsing import parse_rule

    if not rule.strip().lstrip("-").isdecimal():
        try:
            return parse_rule(rule, loaded.predicates)[0]
        except DataError as error:
            raise DataError(f"--rule: {error}") from None
    rules, number = read_rules(file, loaded), int(rule)
    if not 1 <= number <= len(rules):
        raise DataError(f"--rule {number}: {file} has rules 1 to {len(rules)}")
    return rules.rule(number - 1)


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
    from foretime.rules.files import check_ending, write_rules
    from foretime.rules.imports import READERS
    from foretime.rules.text import written_rules

    check_ending(out)
    config = rules_config(
        window=window, support=support, confidence=confidence, head_coverage=head_coverage, counting=counting,
        splits=splits,
    )  # fmt: skip
    with mining_progress() as progress:
        from foretime.rules.mining import facts_of, sizes_of, temporal_settings
        from foretime.rules.temporal import mine_temporal

        loaded = read_graph(graph, reading_settings(columns, header, delimiter, granularity, irregular, names))
        imported = READERS[miner](file, loaded)
        typer.echo(imported.message(), err=True)
        facts, settings = facts_of(loaded, config), temporal_settings(config)
        rules = mine_temporal(imported.rules, facts, sizes_of(loaded), settings, progress).sorted_by_confidence()
        write_rules(out, rules, loaded)
    print_rules(written_rules(rules.take(slice(20)), loaded.predicates))
    typer.echo(f"{len(rules):,} temporal rules reach the thresholds; written to {out}")
