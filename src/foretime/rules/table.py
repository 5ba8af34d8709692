"""Rules with their measures as aligned columns: what is mined, read, counted, compared, and what guides a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from foretime.config import RulesConfig, check_section
from foretime.data.vocabulary import Vocabulary
from foretime.errors import DataError, suggestion
from foretime.rules.parsing import parse_line, resolve
from foretime.rules.patterns import PATTERNS
from foretime.rules.rule import STATIC, Measures, Rule, RuleIds, Shape, named_rule
from foretime.tables import FrameLibrary, Table

if TYPE_CHECKING:
    from foretime.data.graph import Graph
    from foretime.rules.comparing import CheckedRules, RuleDifference
    from foretime.rules.grounding import Grounding

NO_SECOND = -1
"""What stands for the second body predicate of a rule of length 1."""
SHOWN = 10
"""Rules that are shown of a table."""
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Counting = Literal["windowed", "literal"]
Split = Literal["train", "valid", "test"]
_PATTERN = f"<U{max(map(len, PATTERNS))}"
_COLUMNS = ("pattern", "shape", "head", "first", "second", *Measures._fields)


@dataclass(frozen=True, eq=False, repr=False)
class Rules:
    """Rules with their measures. Each column is (rules,), and `predicates` are the names behind its ids.

    `support` counts the body groundings whose head holds, `body_count` all of them, `head_support` the head's
    groundings that have such a body, `head_count` all of the head's. For static rules `head_support` is `support`, and
    `pca_body` counts the body groundings of which the head is known to hold with anyone; for temporal rules it is 0.

        rules = foretime.mine(graph, window=5)
        rules.filter(head="visit", min_confidence=0.3).to_frame()
    """

    pattern: NDArray[np.str_]
    shape: NDArray[np.str_]
    head: Ints
    first: Ints
    second: Ints
    support: Floats
    body_count: Floats
    head_support: Floats
    head_count: Floats
    pca_body: Floats
    predicates: Vocabulary | None = None
    """The names of the predicates; none for rules that were made of ids alone."""

    @classmethod
    def of(
        cls,
        rules: Sequence[RuleIds],
        measures: Sequence[Measures] | None = None,
        predicates: Vocabulary | None = None,
    ) -> Rules:
        """Return rules that are given as ids, all measures zero if none are given."""
        patterns, shapes, heads, bodies = zip(*rules, strict=True) if rules else ((), (), (), ())
        ids = np.array([(head, *body, NO_SECOND)[:3] for head, body in zip(heads, bodies, strict=True)], dtype=np.int64)
        counts = np.array(measures or [Measures()] * len(rules), dtype=np.float64).reshape(-1, len(Measures._fields))
        columns: list[Any] = [np.array(patterns, dtype=_PATTERN), np.array(shapes, dtype="<U4")]
        columns += [*ids.reshape(-1, 3).T.copy(), *counts.T.copy(), predicates]
        return cls(*columns)

    @classmethod
    def of_kind(cls, pattern: str, shape: Shape, head: Ints, first: Ints, second: Ints | None = None) -> Rules:
        """Return rules of one pattern and shape, all measures zero."""
        count = len(head)
        columns: list[Any] = [np.full(count, pattern, dtype=_PATTERN), np.full(count, shape, dtype="<U4")]
        body = first, np.full(count, NO_SECOND) if second is None else second
        columns += [ids.astype(np.int64) for ids in (head, *body)]
        return cls(*columns, *(np.zeros(count) for _ in Measures._fields))

    def __len__(self) -> int:
        return len(self.head)

    def __iter__(self) -> Iterator[Rule]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, row: int) -> Rule:
        """Return one rule in names, with its measures."""
        measures = Measures(*(float(getattr(self, name)[row]) for name in Measures._fields))
        return named_rule(self.ids(row), self._named(), measures)

    def __repr__(self) -> str:
        lines = [f"  {rule}" for rule in self.take(slice(SHOWN))] if self.predicates is not None else []
        return "\n".join([self.outline(), *lines, *(["  …"] if len(self) > SHOWN and lines else [])])

    def _repr_html_(self) -> str:
        return replace(self.take(slice(SHOWN))._table(), title=self.outline()).to_html()

    def outline(self) -> str:
        """Return in words how many rules there are, and how many of each pattern."""
        return f"{len(self):,} rules: {', '.join(f'{count:,} {name}' for name, count in self.patterns().items())}"

    def patterns(self) -> dict[str, int]:
        """Return how many rules there are of each pattern, those without time as `static`."""
        counts = Counter(str(name) or "static" for name in self.pattern)
        return {name: counts[name] for name in (*PATTERNS, "static") if counts[name] or name != "static"}

    def _named(self) -> Vocabulary:
        if self.predicates is None:
            raise DataError("these rules are ids without names; use replace(rules, predicates=graph.predicates)")
        return self.predicates

    @property
    def confidence(self) -> Floats:
        """Standard confidence (SC): the share of body groundings whose head holds."""
        return _share(self.support, self.body_count)

    @property
    def head_coverage(self) -> Floats:
        """Head coverage (HC): the share of the head's groundings that have a body."""
        return _share(self.head_support, self.head_count)

    @property
    def pca_confidence(self) -> Floats:
        """Confidence under the partial completeness assumption, 0 where it was not counted."""
        return _share(self.support, self.pca_body)

    def take(self, rows: Ints | NDArray[np.bool_] | slice) -> Rules:
        """Return the chosen rules, in the order given."""
        return replace(self, **{name: getattr(self, name)[rows] for name in _COLUMNS})

    def replaced(self, rows: Ints, others: Rules) -> Rules:
        """Return the rules with those of some rows replaced by others."""
        columns = {name: getattr(self, name).copy() for name in _COLUMNS}
        for name, column in columns.items():
            column[rows] = getattr(others, name)
        return replace(self, **columns)

    def ids(self, row: int) -> RuleIds:
        """Return one rule as ids."""
        second = int(self.second[row])
        body = (int(self.first[row]),) if second == NO_SECOND else (int(self.first[row]), second)
        shape: Shape = "pair" if self.shape[row] == "pair" else "path"
        return RuleIds(str(self.pattern[row]), shape, int(self.head[row]), body)

    def all_ids(self) -> list[RuleIds]:
        """Return the rules as ids."""
        return [self.ids(row) for row in range(len(self))]

    def sorted_by_confidence(self) -> Rules:
        """Return the rules, the most confident first; equal ones by support, then by their ids."""
        return self.take(np.lexsort((self.second, self.first, self.head, -self.support, -self.confidence)))

    def filter(
        self,
        head: str | None = None,
        body: str | None = None,
        pattern: str | None = None,
        min_confidence: float | None = None,
        min_support: float | None = None,
        top: int | None = None,
        sort: Literal["confidence", "head_coverage", "support"] | None = None,
    ) -> Rules:
        """Return the rules that fit, in their order or sorted by a measure, the largest first.

        `head` and `body` are parts of names, whatever their case; `pattern` is one of the five, or `static`; `top`
        keeps the first so many. Raises `DataError` for an unknown pattern.

            rules.filter(head="visit", pattern="follows", min_confidence=0.3, top=20)
        """
        if pattern is not None and pattern not in ("static", *PATTERNS):
            near = suggestion(pattern, (*PATTERNS, "static")) or f"; use static, or one of {', '.join(PATTERNS)}"
            raise DataError(f"unknown pattern {pattern!r}{near}")
        keep = (self.confidence >= (min_confidence or 0)) & (self.support >= (min_support or 0))
        if head:
            keep &= self._names_with(head)[self.head]
        if body:
            named = self._names_with(body)
            keep &= named[self.first] | ((self.second != NO_SECOND) & named[self.second])
        if pattern is not None:
            keep &= self.pattern == (STATIC if pattern == "static" else pattern)
        rows = np.flatnonzero(keep)
        ordered = rows if sort is None else rows[np.argsort(-getattr(self, sort)[rows], kind="stable")]
        return self.take(ordered[:top])

    def _names_with(self, text: str) -> NDArray[np.bool_]:
        """Return which predicates and inverses have a text in their name, whatever its case."""
        return np.array([text.casefold() in name.casefold() for name in self._named().names] * 2, dtype=bool)

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return a frame with a row for each rule: its text, pattern, head and body, its counts and its shares."""
        return self._table().to_frame(library)

    def _table(self) -> Table:
        rows = (
            (
                rule.statement,
                rule.pattern or "static",
                rule.head.predicate,
                " ∧ ".join(atom.predicate for atom in rule.body),
                *rule.measures,
                rule.measures.confidence,
                rule.measures.head_coverage,
            )
            for rule in self
        )
        columns = ("text", "pattern", "head", "body", *Measures._fields, "confidence", "head_coverage")
        formats = dict.fromkeys(Measures._fields, ",.6g") | dict.fromkeys(columns[-2:], ".3f")
        return Table(columns, tuple(rows), self.outline(), formats)

    def save(self, path: Path | str) -> None:
        """Write the rules in the format that the ending says: `.txt` or `.rules`, `.jsonl`, `.parquet`.

        The file is whole or not there. Raises `DataError` for another ending, or where it cannot be written.
        """
        from foretime.rules.files import write_rules

        write_rules(path, self)

    def on(self, graph: Graph) -> Rules:
        """Return the rules in the ids of a graph; raise `DataError` if it lacks a predicate of theirs."""
        if self.predicates is None or self.predicates == graph.predicates:
            return replace(self, predicates=graph.predicates)
        ids = Rules.of([resolve(rule, graph.predicates) for rule in self])
        return replace(ids, predicates=graph.predicates, **{name: getattr(self, name) for name in Measures._fields})

    def count(
        self,
        graph: Graph,
        *,
        window: int = 19,
        counting: Counting = "windowed",
        splits: Sequence[Split] = ("train",),
    ) -> Rules:
        """Return the rules, in their order, with the measures that some splits of a graph give them.

        `window` is how many steps after its body a head may come, `counting` is `windowed` or `literal`.

            foretime.read_rules("mine.txt").count(graph, window=5)
        """
        from foretime.rules.mining import recount

        config = _counting(window=window, counting=counting, splits=list(splits))
        return recount(self.on(graph), graph, config)

    def check(
        self,
        graph: Graph,
        *,
        window: int = 19,
        counting: Counting = "windowed",
        splits: Sequence[Split] = ("train",),
    ) -> CheckedRules:
        """Return the rules beside what a graph counts for them, and which of them differ."""
        from foretime.rules.comparing import CheckedRules

        given = self.on(graph)
        return CheckedRules(given, given.count(graph, window=window, counting=counting, splits=splits))

    def compare(self, other: Rules, by: float = 0.0) -> RuleDifference:
        """Return the rules that only one side has, and those whose confidence differs by more than `by`.

        Rules are compared by their names, so the two sides may come from different graphs.
        """
        from foretime.rules.comparing import compare

        return compare(self, other, by)

    def examples(
        self,
        rule: Rule | str | int,
        graph: Graph,
        *,
        count: int | None = 5,
        misses: bool = False,
        window: int = 19,
        splits: Sequence[Split] = ("train",),
    ) -> list[Grounding]:
        """Return the first groundings of a rule by time; with `misses`, bodies whose head did not come.

        `rule` is a rule, its text, or its place from 0. Raises `DataError` for a rule that is not there or has no time.

            rules.examples(0, graph, count=3)
        """
        from foretime.rules.grounding import GroundingIndex, find_examples
        from foretime.rules.mining import facts_of

        config = _counting(window=window, splits=list(splits))
        if isinstance(rule, str):
            rule = parse_line(rule)
        elif not isinstance(rule, Rule):
            if not 0 <= rule < len(self):
                raise DataError(f"no rule {rule}; there are {len(self)}, numbered from 0")
            rule = self[rule]
        ids = resolve(rule, graph.predicates)
        index = GroundingIndex(facts_of(graph, config), graph)
        return find_examples(ids, graph, config.window, index, count, misses).groundings


def _counting(**settings: Any) -> RulesConfig:
    return check_section(RulesConfig, settings, "", "rules.")


def join(tables: Sequence[Rules]) -> Rules:
    """Return the rules of all tables, one after the other, with the names of the first."""
    if not tables:
        return Rules.of([])
    columns: dict[str, Any] = {name: np.concatenate([getattr(table, name) for table in tables]) for name in _COLUMNS}
    return replace(tables[0], **columns)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
