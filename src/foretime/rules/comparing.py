"""Two sets of rules compared, and one set compared with what a graph counts for it."""

from __future__ import annotations

from typing import Any, NamedTuple

from foretime.data.vocabulary import Vocabulary
from foretime.rules.parsing import resolve
from foretime.rules.rule import Measures, Rule, RuleIds
from foretime.rules.table import Rules
from foretime.tables import FrameLibrary, Table


class RuleChange(NamedTuple):
    """A rule whose confidence is different."""

    rule: str
    before: float
    after: float


class RuleDifference(NamedTuple):
    """Rules that only one side has, and those that both have with different confidences, the largest change first."""

    only_first: list[Rule]
    only_second: list[Rule]
    changed: list[RuleChange]
    common: int

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON can hold it."""
        return {
            "common": self.common,
            "only_first": [str(rule) for rule in self.only_first],
            "only_second": [str(rule) for rule in self.only_second],
            "changed": [change._asdict() for change in self.changed],
        }

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return a frame with a row for each rule that is not the same: its text and its confidence on either side."""
        rows: list[tuple[Any, ...]] = [(rule.statement, rule.measures.confidence, None) for rule in self.only_first]
        rows += [(rule.statement, None, rule.measures.confidence) for rule in self.only_second]
        return Table(("text", "first", "second"), (*rows, *self.changed)).to_frame(library)

    def text(self, first: str = "the first", second: str = "the second", top: int | None = None) -> str:
        """Return the difference in plain text, at most `top` rules of each kind."""
        lines = []
        for name, rules in ((first, self.only_first), (second, self.only_second)):
            lines += [f"only in {name}: {len(rules):,} rules", *(f"  {rule}" for rule in rules[:top])]
        lines.append(f"in both: {self.common:,} rules, {len(self.changed):,} with another confidence")
        lines += [f"  {change.before:.3f} → {change.after:.3f}  {change.rule}" for change in self.changed[:top]]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


def compare(first: Rules, second: Rules, by: float = 0.0) -> RuleDifference:
    """Return what is different; a confidence is if it changes by more than `by`, and if both sides have counted it."""
    # a rule has one form for one order of names only, so both sides are read in the names of both
    words = (word for rules in (first, second) for word in (rules.predicates.names if rules.predicates else ()))
    names = Vocabulary("predicate", dict.fromkeys(words))
    ours, theirs = _by_ids(first, names), _by_ids(second, names)
    pairs = [(ours[rule], theirs[rule]) for rule in ours if rule in theirs]
    counted = [(a, b) for a, b in pairs if a.measures.body_count and b.measures.body_count]
    changes = [RuleChange(a.statement, a.measures.confidence, b.measures.confidence) for a, b in counted]
    changed = [change for change in changes if abs(change.after - change.before) > by]
    changed.sort(key=lambda change: -abs(change.after - change.before))
    only_first = [line for rule, line in ours.items() if rule not in theirs]
    return RuleDifference(only_first, [line for rule, line in theirs.items() if rule not in ours], changed, len(pairs))


def _by_ids(rules: Rules, names: Vocabulary) -> dict[RuleIds, Rule]:
    return {resolve(rule, names): rule for rule in rules}


class CheckedRules(NamedTuple):
    """Rules with the measures that were given, and with those that a graph counts."""

    given: Rules
    counted: Rules

    def rows(self) -> list[dict[str, Any]]:
        """Return each rule with what was given, what was counted, and whether they differ."""
        pairs = ((given, given.measures, counted.measures) for given, counted in zip(*self, strict=True))
        return [
            {
                "rule": rule.statement,
                "given": str(before),
                "counted": str(after),
                "differs": not (_same_confidence(before, after) and _same_coverage(before, after)),
            }
            for rule, before, after in pairs
        ]

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return a frame with a row for each rule."""
        return Table.of(self.rows()).to_frame(library)

    def __str__(self) -> str:
        return Table.of(self.rows()).to_text()


def _same_confidence(given: Measures, counted: Measures) -> bool:
    """Return whether the counts agree; what was not given does not differ."""
    same = abs(given.support - counted.support) < 1e-6 and given.body_count == counted.body_count
    return same or not given.body_count


def _same_coverage(given: Measures, counted: Measures) -> bool:
    if given.head_count != 1:
        same = abs(given.head_support - counted.head_support) < 1e-6 and given.head_count == counted.head_count
        return same or not given.head_count
    # text gives HC as a share of 1, printed to two digits; somebody may have written more
    digits = max(2, len(str(given.head_support).partition(".")[2]))
    return abs(given.head_support - counted.head_coverage) <= 0.5 * 10.0**-digits + 1e-9
