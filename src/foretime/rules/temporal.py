"""Temporal rules: static rules read in time, by the five patterns, counted in one of two ways.

`windowed` counts, at each step, the distinct pairs of the body, and those whose head comes at least once in the W steps
after the body's last atom; a start whose window would pass the end of the timeline does not count at all. SC is the
share over all steps, HC the share of head events that have such a body before them.

`literal` is the paper's Eqs. 2–4 and 18–20 as printed: every lag counts for itself, SC is divided by W where the first
gap is one, and SC and HC are means over the steps with a body. For it, `support` and `head_support` are the sums of
these and `body_count` and `head_count` the number of such steps, so that the ratios are the means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import get_args

import numba
import numpy as np
from numpy.typing import NDArray

from foretime.config import RulesConfig
from foretime.data.facts import Facts, inverse
from foretime.rules import temporal_kernels as kernels
from foretime.rules.index import EventIndex, event_index, run_starts
from foretime.rules.patterns import PATTERNS, Pattern, gap_steps
from foretime.rules.rule import Shape
from foretime.rules.table import NO_SECOND, Rules, join

Progress = Callable[[str, int, int], None]
"""Called with what is being counted, how many batches are done, and how many there are."""
KINDS: list[tuple[Pattern, Shape]] = [(pattern, shape) for pattern in PATTERNS.values() for shape in get_args(Shape)]


def mine_temporal(
    static: Rules, facts: Facts, sizes: tuple[int, int, int], config: RulesConfig, progress: Progress | None = None
) -> Rules:
    """Return the temporal rules that the static ones become and that reach the thresholds.

    `sizes` are the numbers of entities, predicates (without inverses) and steps. One kind of rule is read in time after
    the other, and of each only what reaches the thresholds is kept: all readings at once are many times the static
    rules.
    """
    index = event_index(facts, *sizes)
    runs, kept = _runs(index), []
    for pattern, shape in _each_kind(progress):
        rules = temporal_candidates(static, pattern, shape, sizes[1])
        if not len(rules):
            continue
        if config.counting == "windowed":
            rules = _with_head_coverage(rules, pattern, index, config.window)
            rules = rules.take(rules.head_coverage >= config.head_coverage)
        kept.append(_reaching_thresholds(_with_confidence(rules, pattern, index, runs, config), config))
    found = join(kept)
    return _best_patterns(found) if config.best_pattern_only else found


def temporal_candidates(static: Rules, pattern: Pattern, shape: Shape, predicates: int) -> Rules:
    """Return every reading of the static rules of a shape in a pattern, all measures zero."""
    of_length = (static.second == NO_SECOND) == (pattern.length == 1)
    return _read_in_time(static.take(of_length & (static.shape == shape)), pattern, shape, predicates)


def measure(rules: Rules, facts: Facts, sizes: tuple[int, int, int], config: RulesConfig) -> Rules:
    """Return the temporal rules with their measures, in the order given."""
    index = event_index(facts, *sizes)
    runs = _runs(index)
    tables, places = [], []
    for pattern, shape in KINDS:
        rows = np.flatnonzero((rules.pattern == pattern.name) & (rules.shape == shape))
        if not len(rows):
            continue
        counted = rules.take(rows)
        if config.counting == "windowed":
            counted = _with_head_coverage(counted, pattern, index, config.window)
        tables.append(_with_confidence(counted, pattern, index, runs, config))
        places.append(rows)
    if not tables:
        return rules
    return join(tables).take(np.argsort(np.concatenate(places), kind="stable"))


def _each_kind(progress: Progress | None) -> Iterator[tuple[Pattern, Shape]]:
    """Yield every pattern with every shape, and tell which is next."""
    for number, (pattern, shape) in enumerate(KINDS):
        if progress is not None:
            progress(f"{pattern.name} on a {shape}", number, len(KINDS))
        yield pattern, shape


def _reaching_thresholds(rules: Rules, config: RulesConfig) -> Rules:
    return rules.take(
        (rules.support >= (config.support if config.counting == "windowed" else 0))
        & (rules.confidence >= config.confidence)
        & (rules.head_coverage >= config.head_coverage)
    )


def _read_in_time(rules: Rules, pattern: Pattern, shape: Shape, predicates: int) -> Rules:
    """Return the rules in one pattern; where the body atoms follow each other, either may come first."""
    columns = [rules.head, rules.first, rules.second]
    if pattern.second_gap:
        swapped = [rules.head, rules.second, rules.first]
        if shape == "path":  # the second atom first: the same rule read from its other end
            swapped = [inverse(ids, predicates) for ids in swapped]
        columns = [np.concatenate(both) for both in zip(columns, swapped, strict=True)]
    return Rules.of_kind(pattern.name, shape, *columns)


def _with_head_coverage(rules: Rules, pattern: Pattern, index: EventIndex, window: int) -> Rules:
    keyed = _Keyed(rules, index.predicates)
    wanted = np.zeros(2 * index.predicates, dtype=bool)
    wanted[rules.head] = True
    covered = kernels.count_covered_heads(
        tuple(index), keyed.kind, gap_steps(pattern.second_gap, window), gap_steps(pattern.head_gap, window),
        keyed.group, keyed.head, wanted, numba.get_num_threads(),
    )  # fmt: skip
    events = np.bincount(index.predicate, minlength=2 * index.predicates)
    head_support = keyed.in_given_order(covered.sum(axis=0))
    return replace(rules, head_support=head_support, head_count=events[rules.head].astype(float))


def _with_confidence(
    rules: Rules, pattern: Pattern, index: EventIndex, runs: tuple[NDArray[np.int64], ...], config: RulesConfig
) -> Rules:
    keyed, window = _Keyed(rules, index.predicates), config.window
    counts = kernels.count_bodies(
        tuple(index), keyed.kind, gap_steps(pattern.second_gap, window), gap_steps(pattern.head_gap, window),
        pattern.reach * window, keyed.group, keyed.head, runs[0], runs[1], runs[2],
        _head_windows(index, pattern, window), numba.get_num_threads(),
    )  # fmt: skip
    support, bodies, sums, cover_sums, body_steps = (column.sum(axis=0) for column in counts)
    if config.counting == "windowed":
        body_count = bodies[keyed.key_of_rule].astype(float)
        return replace(rules, support=keyed.in_given_order(support), body_count=body_count)
    first_gap = pattern.second_gap if pattern.length == 2 else pattern.head_gap
    steps = body_steps[keyed.key_of_rule].astype(float)
    return replace(
        rules,
        support=keyed.in_given_order(sums) / (window if first_gap else 1),
        body_count=steps,
        head_support=keyed.in_given_order(cover_sums),
        head_count=steps,
    )


class _Keyed:
    """Rules sorted by body and head for the kernels, and the way back to the order in which they were given."""

    def __init__(self, rules: Rules, predicates: int) -> None:
        single = len(rules) > 0 and rules.second[0] == NO_SECOND
        width = 2 * predicates
        self.key_of_rule = rules.first if single else rules.first * width + rules.second
        self._order = np.lexsort([rules.head, self.key_of_rule])
        self.group = np.searchsorted(self.key_of_rule[self._order], np.arange((width if single else width**2) + 1))
        self.head = rules.head[self._order]
        self.kind = kernels.SINGLE if single else kernels.PATH if "path" in rules.shape else kernels.PAIR

    def in_given_order(self, counts: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return counts of the sorted rules in the order of the given ones."""
        placed = np.empty(len(counts))
        placed[self._order] = counts
        return placed


def _runs(index: EventIndex) -> tuple[NDArray[np.int64], ...]:
    """Return the events by node cut where subject or step change: bounds and subject of each run, in order of steps."""
    subject = np.repeat(np.arange(len(index.around) - 1), np.diff(index.around))
    begin = np.flatnonzero(run_starts(subject, index.around_time))
    step = index.around_time[begin]
    order = np.argsort(step, kind="stable")
    bounds = np.stack([begin, np.append(begin[1:], len(subject))], axis=1)[order]
    return bounds, subject[begin][order], np.searchsorted(step[order], np.arange(index.steps + 1))


def _head_windows(index: EventIndex, pattern: Pattern, window: int) -> NDArray[np.float64]:
    """Return the head events that Eqs. 4 and 20 divide by for a body at each step, (2·predicates, steps)."""
    counts = np.zeros((2 * index.predicates, index.steps))
    np.add.at(counts, (index.predicate, index.time), 1.0)
    after = np.minimum(np.arange(index.steps) + 1, index.steps)
    until = np.minimum(after + window, index.steps)
    for _ in range(pattern.reach):
        total = np.pad(np.cumsum(counts, axis=1), ((0, 0), (1, 0)))
        counts = total[:, until] - total[:, after]
    return np.ascontiguousarray(counts)  # one layout for all patterns, so that the kernel is compiled once


def _best_patterns(rules: Rules) -> Rules:
    """Return the most confident of the rules that have the same head, body and shape."""
    order = np.lexsort([-rules.confidence, rules.second, rules.first, rules.head, rules.shape])
    new = run_starts(*(column[order] for column in (rules.shape, rules.head, rules.first, rules.second)))
    return rules.take(np.sort(order[new]))
