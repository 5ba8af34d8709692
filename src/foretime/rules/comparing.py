"""Two sets of rules compared, and one set compared with what a graph counts for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from foretime.data.vocabulary import Vocabulary
from foretime.rules.parsing import resolve
from foretime.rules.rule import Measures, Rule
from foretime.rules.table import Rules
from foretime.tables import FrameLibrary, Table, Tabular


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
    ours, theirs = ({resolve(rule, names): rule for rule in rules} for rules in (first, second))
    pairs = [(ours[ids].measures, theirs[ids].measures, ours[ids].statement) for ids in ours if ids in theirs]
    changes = [RuleChange(text, a.confidence, b.confidence) for a, b, text in pairs if a.body_count and b.body_count]
    changed = [change for change in changes if abs(change.after - change.before) > by]
    changed.sort(key=lambda change: -abs(change.after - change.before))
    only_first, only_second = (
        [rule for ids, rule in one.items() if ids not in other] for one, other in ((ours, theirs), (theirs, ours))
    )
    return RuleDifference(only_first, only_second, changed, len(pairs))


@dataclass(frozen=True, repr=False)
class CheckedRules(Tabular):
    """Rules with the measures that were given, and with those that a graph counts."""

    given: Rules
    counted: Rules

    def rows(self) -> list[dict[str, Any]]:
        """Return each rule with what was given, what was counted, and whether they differ."""
        pairs = ((given, given.measures, again.measures) for given, again in zip(self.given, self.counted, strict=True))
        return [
            {"rule": rule.statement, "given": str(old), "counted": str(new), "differs": not _same(old, new)}
            for rule, old, new in pairs
        ]

    def table(self) -> Table:
        """Return the table of the rows."""
        return Table.of(self.rows())


def _same(given: Measures, counted: Measures) -> bool:
    """Return whether the measures agree; what was not given does not differ."""
    same = given.body_count == counted.body_count and abs(given.support - counted.support) < 1e-6
    if given.body_count and not same:
        return False
    if given.head_count != 1:
        same = given.head_count == counted.head_count and abs(given.head_support - counted.head_support) < 1e-6
        return same or not given.head_count
    # text gives HC as a share of 1, printed to two digits; somebody may have written more
    digits = max(2, len(str(given.head_support).partition(".")[2]))
    return abs(given.head_support - counted.head_coverage) <= 0.5 * 10.0**-digits + 1e-9
