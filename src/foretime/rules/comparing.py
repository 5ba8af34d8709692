"""What is different between two sets of rules, which may come from different graphs."""

from __future__ import annotations

from typing import NamedTuple

from foretime.data.vocabulary import Vocabulary
from foretime.rules.files import NamedRules
from foretime.rules.parsing import resolve
from foretime.rules.rule import Rule
from foretime.rules.text import WrittenRule, written_rules


class Change(NamedTuple):
    """A rule whose confidence is different."""

    rule: str
    before: float
    after: float


class Difference(NamedTuple):
    """Rules that only one side has, and those that both have with different confidences, the largest change first."""

    only_first: list[WrittenRule]
    only_second: list[WrittenRule]
    changed: list[Change]
    common: int


def compare(first: NamedRules, second: NamedRules, by: float = 0.0) -> Difference:
    """Return what is different; a confidence is if it changes by more than `by`, and if both sides have counted it."""
    # a rule has one form for one order of names only, so both sides are read in the names of both
    names = Vocabulary("predicate", dict.fromkeys([*first.predicates.names, *second.predicates.names]))
    ours, theirs = _by_rule(first, names), _by_rule(second, names)
    pairs = [(ours[rule], theirs[rule]) for rule in ours if rule in theirs]
    counted = [(a, b) for a, b in pairs if a.measures.body_count and b.measures.body_count]
    changes = [Change(a.statement, a.measures.confidence, b.measures.confidence) for a, b in counted]
    changed = [change for change in changes if abs(change.after - change.before) > by]
    changed.sort(key=lambda change: -abs(change.after - change.before))
    only_first = [line for rule, line in ours.items() if rule not in theirs]
    return Difference(only_first, [line for rule, line in theirs.items() if rule not in ours], changed, len(pairs))


def _by_rule(named: NamedRules, names: Vocabulary) -> dict[Rule, WrittenRule]:
    return {resolve(line, names): line for line in written_rules(*named)}
