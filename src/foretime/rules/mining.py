"""Both stages of mining, from a data set and its `[rules]` settings to a table of temporal rules."""

from __future__ import annotations

from foretime.config import RulesConfig
from foretime.data.facts import Facts, concatenate
from foretime.data.graph import Graph
from foretime.rules.rule import RuleTable
from foretime.rules.static import StaticThresholds, mine_static
from foretime.rules.temporal import Progress, TemporalSettings, mine_temporal


def mine(graph: Graph, config: RulesConfig, progress: Progress | None = None) -> RuleTable:
    """Return the temporal rules of the configured splits of a data set, the most confident first."""
    facts = facts_of(graph, config)
    if progress is not None:
        progress("static rules", 0, 1)
    static = mine_static(facts, len(graph.entities), len(graph.predicates), static_thresholds(config))
    rules = mine_temporal(static, facts, sizes_of(graph), temporal_settings(config), progress)
    return rules.sorted_by_confidence()


def facts_of(graph: Graph, config: RulesConfig) -> Facts:
    """Return the facts that rules are mined from: train, unless other splits are asked for by name."""
    return concatenate([graph.facts(split) for split in config.splits])


def sizes_of(graph: Graph) -> tuple[int, int, int]:
    """Return the numbers of entities, predicates and steps."""
    return len(graph.entities), len(graph.predicates), len(graph.timeline)


def static_thresholds(config: RulesConfig) -> StaticThresholds:
    """Return what a static rule must reach."""
    return StaticThresholds(
        support=config.static_support,
        head_coverage=config.static_head_coverage,
        confidence=config.static_confidence,
        pca_confidence=config.static_pca_confidence,
    )


def temporal_settings(config: RulesConfig) -> TemporalSettings:
    """Return how temporal rules are counted and what they must reach."""
    return TemporalSettings(
        window=config.window,
        counting=config.counting,
        confidence=config.confidence,
        head_coverage=config.head_coverage,
        best_pattern_only=config.best_pattern_only,
        support=config.support if config.counting == "windowed" else 0.0,
    )
