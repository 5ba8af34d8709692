"""`foretime rules show` and `diff`: look at rules without their graph."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foretime.cli.reading_options import Columns, Delimiter, Granularity, Header, Irregular, Names, reading_settings
from foretime.cli.rule_options import (
    AsJson,
    BestPatternOnly,
    Confidence,
    Counting,
    HeadCoverage,
    RuleSource,
    Splits,
    StaticConfidence,
    StaticHeadCoverage,
    StaticPcaConfidence,
    StaticSupport,
    Support,
    Window,
    mining_progress,
    print_json,
    print_rules,
    read_graph,
    read_source,
    rule_dicts,
    rules_config,
)
from foretime.errors import ConfigError

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
def diff(  # noqa: PLR0913, each is a flag
    first: Annotated[Path, typer.Argument(help="A file of rules, a run, or with --mine a graph.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="The other one.", show_default=False)],
    by: Annotated[float, typer.Option(help="Confidences that change by no more are equal.", min=0.0)] = 0.05,
    mine: Annotated[bool, typer.Option("--mine", help="Both are graphs: mine the rules of each.")] = False,
    top: Annotated[int, typer.Option("--top", "-n", help="How many of each kind; 0 for all.", min=0)] = 20,
    window: Window = None,
    support: Support = None,
    confidence: Confidence = None,
    head_coverage: HeadCoverage = None,
    counting: Counting = None,
    splits: Splits = None,
    best_pattern_only: BestPatternOnly = None,
    static_support: StaticSupport = None,
    static_head_coverage: StaticHeadCoverage = None,
    static_confidence: StaticConfidence = None,
    static_pca_confidence: StaticPcaConfidence = None,
    columns: Columns = None,
    header: Header = None,
    delimiter: Delimiter = None,
    granularity: Granularity = None,
    irregular: Irregular = False,
    names: Names = None,
    as_json: AsJson = False,
) -> None:
    """Compare two sets of rules: those that only one has, and those whose confidence changed.

    With --mine, the other flags say how both graphs are read and mined, as for `foretime mine`.
    """
    from foretime.rules.comparing import compare

    mining = {
        "window": window, "support": support, "confidence": confidence, "head_coverage": head_coverage,
        "counting": counting, "splits": splits, "best_pattern_only": best_pattern_only,
        "static_support": static_support, "static_head_coverage": static_head_coverage,
        "static_confidence": static_confidence, "static_pca_confidence": static_pca_confidence,
    }  # fmt: skip
    reading = reading_settings(columns, header, delimiter, granularity, irregular, names)
    if mine:
        both = _mined(first, mining, reading), _mined(second, mining, reading)
    else:
        _check_unused(mining, reading)
        both = read_source(first), read_source(second)
    difference = compare(*both, by)
    if as_json:
        print_json(_difference_dict(difference))
    else:
        _print_difference(difference, first, second, top or None)


def _mined(graph: Path, mining: dict[str, Any], reading: dict[str, Any]) -> NamedRules:
    from foretime.rules.files import NamedRules

    config = rules_config(**mining)
    loaded = read_graph(str(graph), reading)
    with mining_progress() as progress:
        from foretime.rules.mining import mine

        return NamedRules(mine(loaded, config, progress), loaded.predicates)


def _check_unused(mining: dict[str, Any], reading: dict[str, Any]) -> None:
    """Raise `ConfigError` if a flag was given that would do nothing, because nothing is mined."""
    keys = [key for key, value in mining.items() if value is not None]
    keys += [key.removeprefix("data.").replace("regular", "irregular") for key in reading]
    if keys:
        flags = ", ".join(f"--{key.replace('_', '-')}" for key in keys)
        raise ConfigError(f"{flags}: how graphs are read and mined; add --mine, or leave it out to compare files")


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
