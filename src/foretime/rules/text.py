"""Rules as people write them, one to a line.

    Host a visit(y, x, t) <= Make a visit(x, y, t)  [SC 0.90, HC 0.90, 3446 of 3835]

An inverse is written by swapping the arguments. On one pair the first body atom reads (x, y); on a path the head does,
and z is in the middle. A rule without time has no third argument. A name that could be misread is written as a JSON
string: `"Meet (x, y)"(x, y, t)`. `foretime.rules.parsing` reads what is written here.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from foretime.data.facts import inverse
from foretime.data.vocabulary import Vocabulary
from foretime.rules.patterns import PATTERNS
from foretime.rules.rule import STATIC, Rule, RuleTable

VARIABLE = r"\??[^\W\d_]\w*"
GROUP = re.compile(
    rf"\(\s*(?P<subject>{VARIABLE})\s*,\s*(?P<object>{VARIABLE})\s*"
    rf"(?:,\s*(?P<time>{VARIABLE}(?:\s*\+\s*{VARIABLE})*)\s*)?\)"
)
"""The arguments with which every atom ends."""


class Atom(NamedTuple):
    """`predicate(subject, object, time)`: a name, two variables, and a time that is empty in a rule without time."""

    predicate: str
    subject: str
    object: str
    time: str = ""

    def __str__(self) -> str:
        return f"{name_text(self.predicate)}({', '.join(part for part in self[1:] if part)})"


class Measures(NamedTuple):
    """The counts of one rule, as `RuleTable` has them for all."""

    support: float = 0.0
    body_count: float = 0.0
    head_support: float = 0.0
    head_count: float = 0.0
    pca_body: float = 0.0

    @property
    def confidence(self) -> float:
        """SC, 0 if no body was counted."""
        return self.support / self.body_count if self.body_count else 0.0

    @property
    def head_coverage(self) -> float:
        """HC, 0 if no head was counted."""
        return self.head_support / self.head_count if self.head_count else 0.0

    def __str__(self) -> str:
        """Return what stands in brackets after a rule, empty if nothing was counted."""
        parts = []
        if self.body_count:
            parts.append(f"SC {self.confidence:.2f}")
        if self.head_count:
            parts.append(f"HC {self.head_coverage:.2f}")
        if self.body_count:
            parts.append(f"{number_text(self.support)} of {number_text(self.body_count)}")
        if self.pca_body:
            parts.append(f"PCA body {number_text(self.pca_body)}")
        return f"[{', '.join(parts)}]" if parts else ""


class WrittenRule(NamedTuple):
    """A rule with names in place of ids, and its measures."""

    head: Atom
    body: tuple[Atom, ...]
    measures: Measures = Measures()

    def __str__(self) -> str:
        measures = str(self.measures)
        return f"{self.statement}  {measures}" if measures else self.statement

    @property
    def statement(self) -> str:
        """The rule without its measures."""
        return f"{self.head} <= {' ∧ '.join(map(str, self.body))}"


def written(rule: Rule, predicates: Vocabulary, measures: Measures = Measures()) -> WrittenRule:  # noqa: B008
    """Return a rule in names and variables."""
    count = len(predicates)
    *times, head_time = PATTERNS[rule.pattern].times() if rule.pattern != STATIC else [""] * (len(rule.body) + 1)
    deciding = rule.head if rule.shape == "path" else rule.body[0]
    subject, object_ = ("x", "y") if deciding < count else ("y", "x")
    ends = [(subject, object_)] * len(rule.body) if rule.shape == "pair" else [(subject, "z"), ("z", object_)]

    def atom(predicate: int, first: str, second: str, time: str) -> Atom:
        if predicate >= count:
            predicate, first, second = inverse(predicate, count), second, first
        return Atom(predicates.name(predicate), first, second, time)

    body = (atom(q, *pair, time) for q, pair, time in zip(rule.body, ends, times, strict=True))
    return WrittenRule(atom(rule.head, subject, object_, head_time), tuple(body), measures)


def rule_text(rule: Rule, predicates: Vocabulary, measures: Measures = Measures()) -> str:  # noqa: B008
    """Return a rule as one line."""
    return str(written(rule, predicates, measures))


def measures_of(rules: RuleTable, row: int) -> Measures:
    """Return the measures of one rule of a table; `pca_body` is of static rules only."""
    measures = Measures(*(float(getattr(rules, name)[row]) for name in Measures._fields))
    return measures if rules.pattern[row] == STATIC else measures._replace(pca_body=0.0)


def written_rules(rules: RuleTable, predicates: Vocabulary) -> list[WrittenRule]:
    """Return all rules of a table in names and variables."""
    return [written(rule, predicates, measures_of(rules, row)) for row, rule in enumerate(rules.rules())]


def name_text(name: str) -> str:
    """Return a name as it is, or as a JSON string where it could be misread."""
    plain = name.isprintable() and name == name.strip() and name and name[0] not in '"#' and not GROUP.search(name)
    return name if plain else json.dumps(name, ensure_ascii=not name.isprintable())


def number_text(value: float) -> str:
    """Return a count without a fraction as an integer, any other in full precision."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
