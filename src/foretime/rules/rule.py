"""Rules, once as ids and once as people write them, one to a line.

    Host a visit(y, x, t) <= Make a visit(x, y, t)  [SC 0.90, HC 0.90, 3446 of 3835]

As ids, predicates and their inverses are numbered alike, so that every rule of length 1 is `head(x, y) ⇐ q(x, y)`,
every path is `head(x, y) ⇐ q1(x, z) ∧ q2(z, y)`, and a conjunction on one pair is `head(x, y) ⇐ q1(x, y) ∧ q2(x, y)`.

As text, an inverse is written by swapping the arguments. On one pair the first body atom reads (x, y); on a path the
head does, and z is in the middle. A rule without time has no third argument. A name that could be misread is written as
a JSON string: `"Meet (x, y)"(x, y, t)`. `foretime.rules.parsing` reads what is written here.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, NamedTuple

from foretime.data.facts import inverse
from foretime.data.vocabulary import Vocabulary
from foretime.rules.patterns import PATTERNS

Shape = Literal["pair", "path"]
STATIC = ""
"""The pattern of a rule without time."""
VARIABLE = r"\??[^\W\d_]\w*"
GROUP = re.compile(
    rf"\(\s*(?P<subject>{VARIABLE})\s*,\s*(?P<object>{VARIABLE})\s*"
    rf"(?:,\s*(?P<time>{VARIABLE}(?:\s*\+\s*{VARIABLE})*)\s*)?\)"
)
"""The arguments with which every atom ends."""


class RuleIds(NamedTuple):
    """A rule as ids of predicates and inverses, without its measures. `pattern` is empty for a static rule."""

    pattern: str
    shape: Shape
    head: int
    body: tuple[int, ...]


def canonical(rule: RuleIds, predicates: int) -> RuleIds:
    """Return the one form of a rule and its mirror (all predicates inverted, the path from its other end).

    The head is a predicate, not an inverse, unless the body atoms follow each other in time: then the earlier one
    comes first, which leaves no choice for a path. The atoms of a conjunction that come together are sorted.
    """
    in_time, path = rule.pattern == "chain_then", rule.shape == "path"
    if rule.head >= predicates and not (in_time and path):
        body = rule.body[::-1] if path else rule.body
        rule = rule._replace(head=inverse(rule.head, predicates), body=tuple(inverse(q, predicates) for q in body))
    return rule if in_time or path else rule._replace(body=tuple(sorted(rule.body)))


class Atom(NamedTuple):
    """`predicate(subject, object, time)`: a name, two variables, and a time that is empty in a rule without time."""

    predicate: str
    subject: str
    object: str
    time: str = ""

    def __str__(self) -> str:
        return f"{name_text(self.predicate)}({', '.join(part for part in self[1:] if part)})"


class Measures(NamedTuple):
    """The counts of one rule, as `Rules` has them for all."""

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
        parts = [
            f"SC {self.confidence:.2f}" if self.body_count else "",
            f"HC {self.head_coverage:.2f}" if self.head_count else "",
            f"{number_text(self.support)} of {number_text(self.body_count)}" if self.body_count else "",
            f"PCA body {number_text(self.pca_body)}" if self.pca_body else "",
        ]
        return ", ".join(filter(None, parts))


class Rule(NamedTuple):
    """A rule in names and variables, with its measures. `str()` is the line that a file of rules has for it."""

    head: Atom
    body: tuple[Atom, ...]
    measures: Measures = Measures()
    pattern: str = STATIC

    def __str__(self) -> str:
        measures = str(self.measures)
        return f"{self.statement}  [{measures}]" if measures else self.statement

    @property
    def statement(self) -> str:
        """The rule without its measures."""
        return f"{self.head} <= {' ∧ '.join(map(str, self.body))}"

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as JSON can hold it: its text, its atoms, its counts and its shares."""
        head, *body = (
            {key: value for key, value in atom._asdict().items() if value} for atom in (self.head, *self.body)
        )
        counts = {
            name: int(value) if float(value).is_integer() else value for name, value in self.measures._asdict().items()
        }
        shares = {"confidence": self.measures.confidence, "head_coverage": self.measures.head_coverage}
        return {"text": self.statement, "pattern": self.pattern, "head": head, "body": body, **counts, **shares}


def named_rule(rule: RuleIds, predicates: Vocabulary, measures: Measures = Measures()) -> Rule:  # noqa: B008
    """Return a rule in names and variables; `pca_body` is kept for static rules only."""
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
    if rule.pattern != STATIC:
        measures = measures._replace(pca_body=0.0)
    return Rule(atom(rule.head, subject, object_, head_time), tuple(body), measures, rule.pattern)


def name_text(name: str) -> str:
    """Return a name as it is, or as a JSON string where it could be misread."""
    plain = name.isprintable() and name == name.strip() and name and name[0] not in '"#' and not GROUP.search(name)
    return name if plain else json.dumps(name, ensure_ascii=not name.isprintable())


def number_text(value: float) -> str:
    """Return a count without a fraction as an integer, any other in full precision."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
