"""Counting given rules anew, hand-written ones too: temporal ones by the miner's kernels, static ones by plain sets."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

from foretime.config import RulesConfig
from foretime.data.facts import Facts, inverse
from foretime.data.graph import Graph
from foretime.rules.mining import facts_of, sizes_of, temporal_settings
from foretime.rules.rule import STATIC, Rule, RuleTable
from foretime.rules.temporal import measure
from foretime.rules.text import Measures

Pairs = set[tuple[int, int]]


def recount(rules: RuleTable, graph: Graph, config: RulesConfig) -> RuleTable:
    """Return the rules, in the order given, with the measures that the configured splits of a graph give them."""
    facts, static = facts_of(graph, config), np.flatnonzero(rules.pattern == STATIC)
    temporal = np.flatnonzero(rules.pattern != STATIC)
    columns: dict[str, Any] = {name: np.zeros(len(rules)) for name in Measures._fields}
    if len(temporal):
        counted = measure(rules.take(temporal), facts, sizes_of(graph), temporal_settings(config))
        for name, column in columns.items():
            column[temporal] = getattr(counted, name)
    if len(static):
        pairs = _StaticPairs(facts, len(graph.predicates))
        for row in static:
            for name, value in pairs.count(rules.rule(int(row)))._asdict().items():
                columns[name][row] = value
    return replace(rules, **columns)


class _StaticPairs:
    """The distinct pairs of each predicate and inverse."""

    def __init__(self, facts: Facts, predicates: int) -> None:
        self._predicates = predicates
        self._pairs: dict[int, Pairs] = defaultdict(set)
        both = facts.with_inverses(predicates)
        for x, q, y in zip(both.subject.tolist(), both.predicate.tolist(), both.object.tolist(), strict=True):
            self._pairs[q].add((x, y))

    def count(self, rule: Rule) -> Measures:
        """Return the measures that AMIE defines."""
        head, body = self._pairs[rule.head], self._body(rule)
        support = len(head & body)
        return Measures(support, len(body), support, len(head), self._known(rule.head, body))

    def _body(self, rule: Rule) -> Pairs:
        parts = [self._pairs[q] for q in rule.body]
        if rule.shape == "pair":
            return set.intersection(*parts)
        after: dict[int, list[int]] = defaultdict(list)
        for z, y in parts[1]:
            after[z].append(y)
        return {(x, y) for x, z in parts[0] for y in after[z]}

    def _known(self, head: int, body: Pairs) -> int:
        """Return how many body pairs have, on the head's more functional side, an entity of which the head is known."""
        mirrored = self._pairs[inverse(head, self._predicates)]
        subjects, objects = {x for x, _ in self._pairs[head]}, {x for x, _ in mirrored}
        if len(subjects) >= len(objects):
            return sum(x in subjects for x, _ in body)
        return sum(y in objects for _, y in body)
