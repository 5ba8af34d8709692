"""Rules and tables of rules.

Predicates and their inverses have ids of their own, so that every rule of length 1 is `head(x, y) ⇐ q(x, y)`, every
path is `head(x, y) ⇐ q1(x, z) ∧ q2(z, y)`, and a conjunction on one pair is `head(x, y) ⇐ q1(x, y) ∧ q2(x, y)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import inverse
from foretime.rules.patterns import PATTERNS

Shape = Literal["pair", "path"]
NO_SECOND = -1
"""What stands for the second body predicate of a rule of length 1."""
STATIC = ""
"""The pattern of a rule without time."""
Ints = NDArray[np.int64]


class Rule(NamedTuple):
    """A rule as ids, without its measures. `pattern` is empty for a static rule."""

    pattern: str
    shape: Shape
    head: int
    body: tuple[int, ...]


def canonical(rule: Rule, predicates: int) -> Rule:
    """Return the one form of a rule and its mirror (all predicates inverted, the path turned round).

    The head is a predicate, not an inverse, unless the body atoms follow each other in time: then the earlier one
    comes first, which leaves no choice for a path. The atoms of a conjunction that come together are sorted.
    """
    in_time = rule.pattern == "chain_then"
    if rule.shape == "path":
        if in_time or rule.head < predicates:
            return rule
        return rule._replace(
            head=inverse(rule.head, predicates), body=tuple(inverse(q, predicates) for q in reversed(rule.body))
        )
    if rule.head >= predicates:
        rule = rule._replace(head=inverse(rule.head, predicates), body=tuple(inverse(q, predicates) for q in rule.body))
    return rule if in_time else rule._replace(body=tuple(sorted(rule.body)))


@dataclass(frozen=True)
class RuleTable:
    """Rules with their measures as aligned columns, each (rules,).

    `support` counts the body groundings whose head holds, `body_count` all of them, `head_support` the head's
    groundings that have such a body, `head_count` all of the head's. For static rules `head_support` is `support`, and
    `pca_body` counts the body groundings of which the head is known to hold with anyone; for temporal rules it is 0.
    """

    pattern: NDArray[np.str_]
    shape: NDArray[np.str_]
    head: Ints
    first: Ints
    second: Ints
    support: NDArray[np.float64]
    body_count: NDArray[np.float64]
    head_support: NDArray[np.float64]
    head_count: NDArray[np.float64]
    pca_body: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.head)

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Standard confidence (SC): the share of body groundings whose head holds."""
        return _share(self.support, self.body_count)

    @property
    def head_coverage(self) -> NDArray[np.float64]:
        """Head coverage (HC): the share of the head's groundings that have a body."""
        return _share(self.head_support, self.head_count)

    @property
    def pca_confidence(self) -> NDArray[np.float64]:
        """Confidence under the partial completeness assumption, 0 where it was not counted."""
        return _share(self.support, self.pca_body)

    def take(self, rows: Ints | NDArray[np.bool_] | slice) -> RuleTable:
        """Return the chosen rules, in the order given."""
        return RuleTable(*(getattr(self, field.name)[rows] for field in fields(self)))

    def replaced(self, rows: Ints, others: RuleTable) -> RuleTable:
        """Return the table with the rules of some rows replaced by others."""
        columns = {field.name: getattr(self, field.name).copy() for field in fields(self)}
        for name, column in columns.items():
            column[rows] = getattr(others, name)
        return RuleTable(**columns)

    def rule(self, row: int) -> Rule:
        """Return one rule without its measures."""
        second = int(self.second[row])
        body = (int(self.first[row]),) if second == NO_SECOND else (int(self.first[row]), second)
        shape: Shape = "pair" if self.shape[row] == "pair" else "path"
        return Rule(str(self.pattern[row]), shape, int(self.head[row]), body)

    def rules(self) -> Iterator[Rule]:
        """Yield the rules without their measures."""
        return (self.rule(row) for row in range(len(self)))

    def sorted_by_confidence(self) -> RuleTable:
        """Return the rules, the most confident first; equal ones by support, then by their ids."""
        keys = (self.second, self.first, self.head, -self.support, -self.confidence)
        return self.take(np.lexsort(keys))


def table_of(rules: list[Rule]) -> RuleTable:
    """Return a table of rules, all measures zero."""
    zeros = np.zeros(len(rules))
    return RuleTable(
        pattern=np.array([rule.pattern for rule in rules], dtype=f"<U{max(map(len, PATTERNS))}"),
        shape=np.array([rule.shape for rule in rules], dtype="<U4"),
        head=np.array([rule.head for rule in rules], dtype=np.int64),
        first=np.array([rule.body[0] for rule in rules], dtype=np.int64),
        second=np.array([rule.body[1] if len(rule.body) > 1 else NO_SECOND for rule in rules], dtype=np.int64),
        support=zeros,
        body_count=zeros,
        head_support=zeros,
        head_count=zeros,
        pca_body=zeros,
    )


def columns_of(pattern: str, shape: Shape, head: Ints, first: Ints, second: Ints | None = None) -> RuleTable:
    """Return a table of rules of one pattern and shape, all measures zero."""
    count, zeros = len(head), np.zeros(len(head))
    return replace(
        table_of([]),
        pattern=np.full(count, pattern, dtype=f"<U{max(map(len, PATTERNS))}"),
        shape=np.full(count, shape, dtype="<U4"),
        head=head.astype(np.int64),
        first=first.astype(np.int64),
        second=np.full(count, NO_SECOND, dtype=np.int64) if second is None else second.astype(np.int64),
        **dict.fromkeys(("support", "body_count", "head_support", "head_count", "pca_body"), zeros),
    )


def join(tables: list[RuleTable]) -> RuleTable:
    """Return the rules of all tables, one after the other."""
    tables = tables or [table_of([])]
    return RuleTable(*(np.concatenate([getattr(t, field.name) for t in tables]) for field in fields(RuleTable)))


def _share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
