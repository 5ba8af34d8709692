"""Mining: all rules without time, those of them that hold in time, and given rules counted anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from foretime.config import RulesConfig, check_section
from foretime.data.facts import Facts, concatenate
from foretime.data.graph import Graph
from foretime.rules.rule import STATIC, Measures, RuleIds
from foretime.rules.static import mine_static
from foretime.rules.table import Counting, Rules, Split
from foretime.rules.temporal import Progress, measure, mine_temporal

Pairs = set[tuple[int, int]]


def mine(  # noqa: PLR0913, each is a key of [rules]
    graph: Graph,
    *,
    splits: Sequence[Split] = ("train",),
    window: int = 19,
    counting: Counting = "windowed",
    support: int = 5,
    confidence: float = 0.1,
    head_coverage: float = 0.1,
    best_pattern_only: bool = False,
    static_support: int = 10,
    static_head_coverage: float = 0.01,
    static_confidence: float = 0.0,
    static_pca_confidence: float = 0.0,
    progress: Progress | None = None,
) -> Rules:
    """Return the temporal rules of a graph, the most confident first.

    Parameters:
        splits: the splits whose facts are counted.
        window: how many steps after its body a head may come: the paper's W.
        counting: `windowed` counts a body once if its head comes at all; `literal` is the paper's equations as printed.
        support: the least number of bodies whose head came, under the counting `windowed`.
        confidence, head_coverage: the least standard confidence (SC) and head coverage (HC).
        best_pattern_only: whether to keep only the most confident pattern of each body and head.
        static_support, static_head_coverage, static_confidence, static_pca_confidence: what the rule must reach
            without time, before it is counted in time.
        progress: called with what is being counted, how many batches are done, and how many there are.

    Raises `ConfigError` for a value that is out of range, and `DataError` if there are too many predicates to count.

        rules = foretime.mine(graph, window=5, confidence=0.3)
    """
    settings = {key: value for key, value in locals().items() if key in RulesConfig.model_fields}
    settings["splits"] = list(splits)
    return mine_rules(graph, check_section(RulesConfig, settings, "mine: ", "rules."), progress)


def mine_rules(graph: Graph, config: RulesConfig, progress: Progress | None = None) -> Rules:
    """Return the rules that `mine` returns, as a `[rules]` section says."""
    facts = facts_of(graph, config)
    if progress is not None:
        progress("static rules", 0, 1)
    return mine_in_time(mine_static(facts, len(graph.entities), len(graph.predicates), config), graph, config, progress)


def mine_in_time(static: Rules, graph: Graph, config: RulesConfig, progress: Progress | None = None) -> Rules:
    """Return the temporal rules that static ones become and that reach the thresholds, the most confident first."""
    found = mine_temporal(static, facts_of(graph, config), sizes_of(graph), config, progress)
    return replace(found.sorted_by_confidence(), predicates=graph.predicates)


def facts_of(graph: Graph, config: RulesConfig) -> Facts:
    """Return the facts that rules are mined from: train, unless other splits are asked for by name."""
    return concatenate([graph.facts(split) for split in config.splits])


def sizes_of(graph: Graph) -> tuple[int, int, int]:
    """Return the numbers of entities, predicates and steps."""
    return len(graph.entities), len(graph.predicates), len(graph.timeline)


def recount(rules: Rules, graph: Graph, config: RulesConfig) -> Rules:
    """Return the rules, in the order given, with the measures that the configured splits of a graph give them.

    Temporal rules are counted by the miner's kernels, static ones by plain sets.
    """
    facts, static = facts_of(graph, config), np.flatnonzero(rules.pattern == STATIC)
    temporal = np.flatnonzero(rules.pattern != STATIC)
    columns: dict[str, Any] = {name: np.zeros(len(rules)) for name in Measures._fields}
    if len(temporal):
        counted = measure(rules.take(temporal), facts, sizes_of(graph), config)
        for name, column in columns.items():
            column[temporal] = getattr(counted, name)
    if len(static):
        both = facts.with_inverses(len(graph.predicates))
        pairs: dict[int, Pairs] = defaultdict(set)
        for x, q, y in zip(both.subject.tolist(), both.predicate.tolist(), both.object.tolist(), strict=True):
            pairs[q].add((x, y))
        for row in static.tolist():
            for name, value in _count_static(rules.ids(row), pairs)._asdict().items():
                columns[name][row] = value
    return replace(rules, **columns)


def _count_static(rule: RuleIds, pairs: dict[int, Pairs]) -> Measures:
    """Return the measures that AMIE defines, from the distinct pairs of each predicate and inverse."""
    head, parts = pairs[rule.head], [pairs[q] for q in rule.body]
    if rule.shape == "pair":
        body = set.intersection(*parts)
    else:
        after: dict[int, list[int]] = defaultdict(list)
        for z, y in parts[1]:
            after[z].append(y)
        body = {(x, y) for x, z in parts[0] for y in after[z]}
    subjects, objects = ({pair[end] for pair in head} for end in (0, 1))
    # the head is known of an entity on its more functional side
    side, known = (0, subjects) if len(subjects) >= len(objects) else (1, objects)
    support = len(head & body)
    return Measures(support, len(body), support, len(head), sum(pair[side] in known for pair in body))
