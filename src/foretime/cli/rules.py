"""`foretime rules show` and `diff`: look at rules without their graph."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foretime.cli.rule_options import (
    AsJson,
    RuleSource,
    mining_progress,
    print_json,
    print_rules,
    read_graph,
    read_source,
    rule_dicts,
    rules_config,
)

if TYPE_CHECKING:
    from foretime.rules.comparing import Difference
    from foretime.rules.files import NamedRules

rules_app = typer.Typer(help="Show, check, compare, ground and import temporal rules.", no_args_is_help=True)


class SortBy(StrEnum):
    """What rules are sorted by; `file` keeps their order."""

    confidence = "confidence"
    coverage = "coverage"
    support = "support"
    file = "file"


class PatternChoice(StrEnum):
    """The patterns of rules in time, and those without."""

    follows = "follows"
    accompanies = "accompanies"
    chain_then = "chain_then"
    joint_then = "joint_then"
    joint_now = "joint_now"
    static = "static"


@rules_app.command()
def show(
    source: RuleSource,
    head: Annotated[str, typer.Option(help="Only heads whose name has this in it.")] = "",
    body: Annotated[str, typer.Option(help="Only bodies in which a name has this in it.")] = "",
    pattern: Annotated[PatternChoice | None, typer.Option(help="Only this pattern.")] = None,
    sort: Annotated[SortBy, typer.Option(help="The largest first.")] = SortBy.confidence,
    top: Annotated[int, typer.Option("--top", "-n", help="How many; 0 for all.", min=0)] = 20,
    as_json: AsJson = False,
) -> None:
    """Show rules of a file or of a run. The number of each is its place in the file."""
    from foretime.rules.files import NamedRules
    from foretime.rules.text import written_rules

    named = read_source(source)
    rows = _sorted(named, _wanted(named, head, body, pattern), sort)
    shown = rows[:top] if top else rows
    chosen = NamedRules(named.rules.take(shown), named.predicates)
    if as_json:
        numbered = zip(shown, rule_dicts(chosen), strict=True)
        print_json([{"number": int(row) + 1, **rule} for row, rule in numbered])
        return
    print_rules(written_rules(chosen.rules, chosen.predicates), [int(row) + 1 for row in shown])
    typer.echo(f"{len(shown):,} of {len(rows):,} rules that fit, of {len(named.rules):,} in {source}")


def _wanted(named: NamedRules, head: str, body: str, pattern: PatternChoice | None) -> list[int]:
    """Return the rows of the rules that fit, whatever the case of the names."""
    names = [name.casefold() for name in named.predicates.names]

    def fits(predicate: int, text: str) -> bool:
        return text.casefold() in names[predicate % len(names)]

    return [
        row
        for row, rule in enumerate(named.rules.rules())
        if fits(rule.head, head)
        and any(fits(predicate, body) for predicate in rule.body)
        and (pattern is None or (rule.pattern or "static") == pattern)
    ]


def _sorted(named: NamedRules, rows: list[int], sort: SortBy) -> Any:
    import numpy as np

    chosen = np.array(rows, dtype=np.int64)
    measures = {"confidence": "confidence", "coverage": "head_coverage", "support": "support"}
    if sort == SortBy.file:
        return chosen
    return chosen[np.argsort(-getattr(named.rules, measures[sort])[chosen], kind="stable")]


@rules_app.command()
def diff(
    first: Annotated[Path, typer.Argument(help="A file of rules, a run, or with --mine a graph.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="The other one.", show_default=False)],
    by: Annotated[float, typer.Option(help="Confidences that change by no more are equal.", min=0.0)] = 0.05,
    mine: Annotated[bool, typer.Option("--mine", help="Both are graphs: mine the rules of each.")] = False,
    top: Annotated[int, typer.Option("--top", "-n", help="How many of each kind; 0 for all.", min=0)] = 20,
    as_json: AsJson = False,
) -> None:
    """Compare two sets of rules: those that only one has, and those whose confidence changed."""
    from foretime.rules.comparing import compare

    read = _mined if mine else read_source
    difference = compare(read(first), read(second), by)
    if as_json:
        print_json(_difference_dict(difference))
    else:
        _print_difference(difference, first, second, top or None)


def _mined(graph: Path) -> NamedRules:
    from foretime.rules.files import NamedRules

    dataset = read_graph(str(graph), {})
    with mining_progress() as progress:
        from foretime.rules.mining import mine

        return NamedRules(mine(dataset, rules_config(), progress), dataset.predicates)


def _difference_dict(difference: Difference) -> dict[str, Any]:
    return {
        "common": difference.common,
        "only_first": [str(line) for line in difference.only_first],
        "only_second": [str(line) for line in difference.only_second],
        "changed": [change._asdict() for change in difference.changed],
    }


def _print_difference(difference: Difference, first: Path, second: Path, top: int | None) -> None:
    for path, lines in ((first, difference.only_first), (second, difference.only_second)):
        typer.echo(f"only in {path}: {len(lines):,} rules")
        for line in lines[:top]:
            typer.echo(f"  {line}")
    typer.echo(f"in both: {difference.common:,} rules, {len(difference.changed):,} with another confidence")
    for change in difference.changed[:top]:
        typer.echo(f"  {change.before:.3f} → {change.after:.3f}  {change.rule}")
