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
    rules_config,
)
from foretime.errors import ConfigError

if TYPE_CHECKING:
    from foretime.rules.table import Rules

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
    from foretime.rules.files import read_rules

    rules = read_rules(source)
    measures = {"confidence": "confidence", "coverage": "head_coverage", "support": "support"}
    fitting = rules.filter(head, body, pattern and pattern.value, sort=measures.get(sort.value))  # type: ignore[arg-type]
    shown = fitting.take(slice(top or None))
    number = {rule.statement: place for place, rule in enumerate(rules, 1)}
    if as_json:
        print_json([{"number": number[rule.statement], **rule.to_dict()} for rule in shown])
        return
    print_rules(shown, [number[rule.statement] for rule in shown])
    typer.echo(f"{len(shown):,} of {len(fitting):,} rules that fit, of {len(rules):,} in {source}")


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
    from foretime.rules.files import read_rules

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
        both = read_rules(first), read_rules(second)
    difference = both[0].compare(both[1], by)
    if as_json:
        print_json(difference.to_dict())
    else:
        typer.echo(difference.text(str(first), str(second), top or None))


def _mined(graph: Path, mining: dict[str, Any], reading: dict[str, Any]) -> Rules:
    config = rules_config(**mining)
    loaded = read_graph(str(graph), reading)
    with mining_progress() as progress:
        from foretime.rules.mining import mine_rules

        return mine_rules(loaded, config, progress)


def _check_unused(mining: dict[str, Any], reading: dict[str, Any]) -> None:
    """Raise `ConfigError` if a flag was given that would do nothing, because nothing is mined."""
    keys = [key for key, value in mining.items() if value is not None]
    keys += [key.removeprefix("data.").replace("regular", "irregular") for key in reading]
    if keys:
        flags = ", ".join(f"--{key.replace('_', '-')}" for key in keys)
        raise ConfigError(f"{flags}: how graphs are read and mined; add --mine, or leave it out to compare files")
