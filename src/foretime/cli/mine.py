"""`foretime mine`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foretime.cli.reading_options import Columns, Delimiter, Granularity, Header, Irregular, Names, reading_settings
from foretime.cli.rule_options import (
    AsJson,
    BestPatternOnly,
    Confidence,
    Counting,
    GraphSource,
    HeadCoverage,
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

if TYPE_CHECKING:
    from foretime.rules.table import Rules

TOP = 20
"""Rules that are shown."""


def mine(  # noqa: PLR0913, each is a flag
    graph: GraphSource,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the rules go (.txt, .rules, .jsonl, .parquet).")
    ] = None,
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
    """Mine the temporal rules of a graph: what follows, or comes with, what.

    Thresholds that are not given are those of the configuration: window 19, support 5, SC and HC 0.1.
    """
    from foretime.rules.files import rule_format

    config = rules_config(
        window=window, support=support, confidence=confidence, head_coverage=head_coverage, counting=counting,
        splits=splits, best_pattern_only=best_pattern_only, static_support=static_support,
        static_head_coverage=static_head_coverage, static_confidence=static_confidence,
        static_pca_confidence=static_pca_confidence,
    )  # fmt: skip
    if out is not None:
        rule_format(out)
    with mining_progress() as progress:
        from foretime.rules.mining import mine_rules

        loaded = read_graph(graph, reading_settings(columns, header, delimiter, granularity, irregular, names))
        rules = mine_rules(loaded, config, progress)
        if out is not None:
            rules.save(out)
    _report(rules, loaded.name, out, as_json)


def _report(rules: Rules, name: str, out: Path | None, as_json: bool) -> None:
    """Print the most confident rules and how many there are of each pattern."""
    if as_json:
        print_json({"graph": name, "patterns": rules.patterns(), "rules": [rule.to_dict() for rule in rules]})
    else:
        print_rules(rules.take(slice(TOP)))
        typer.echo(f"{name}: {rules.outline()}")
    if out is not None:
        typer.echo(f"written to {out}", err=True)
