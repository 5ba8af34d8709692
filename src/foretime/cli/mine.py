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
    pattern_counts,
    print_json,
    print_rules,
    read_graph,
    rule_dicts,
    rules_config,
)

if TYPE_CHECKING:
    from foretime.rules.files import NamedRules

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
    from foretime.rules.files import NamedRules, check_ending, write_rules

    config = rules_config(
        window=window, support=support, confidence=confidence, head_coverage=head_coverage, counting=counting,
        splits=splits, best_pattern_only=best_pattern_only, static_support=static_support,
        static_head_coverage=static_head_coverage, static_confidence=static_confidence,
        static_pca_confidence=static_pca_confidence,
    )  # fmt: skip
    if out is not None:
        check_ending(out)
    with mining_progress() as progress:
        from foretime.rules.mining import mine as mine_rules

        loaded = read_graph(graph, reading_settings(columns, header, delimiter, granularity, irregular, names))
        rules = mine_rules(loaded, config, progress)
        if out is not None:
            write_rules(out, rules, loaded)
    _report(NamedRules(rules, loaded.predicates), loaded.name, out, as_json)


def _report(named: NamedRules, name: str, out: Path | None, as_json: bool) -> None:
    """Print the most confident rules and how many there are of each pattern."""
    from foretime.rules.text import written_rules

    counts = pattern_counts(named)
    if as_json:
        print_json({"graph": name, "patterns": counts, "rules": rule_dicts(named)})
    else:
        print_rules(written_rules(named.rules.take(slice(TOP)), named.predicates))
        by_pattern = ", ".join(f"{count:,} {pattern}" for pattern, count in counts.items())
        typer.echo(f"{name}: {len(named.rules):,} rules: {by_pattern}")
    if out is not None:
        typer.echo(f"written to {out}", err=True)
