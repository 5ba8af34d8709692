"""Rules counted by plain loops over sets: slow, short, and written from the definitions alone."""

from itertools import product

import numpy as np

from foretime.data.facts import Facts, inverse
from foretime.rules.patterns import PATTERNS
from foretime.rules.rule import RuleIds

Event = tuple[int, int, int, int]


def table(events: list[Event]) -> Facts:
    s, p, o, t = (np.array(column, dtype=np.int64) for column in zip(*events, strict=True))
    return Facts(s, p, o, t, t)


def both_ways(events: list[Event], predicates: int) -> set[Event]:
    return {e for s, p, o, t in events for e in ((s, p, o, t), (o, inverse(p, predicates), s, t))}


def static_pairs(events: list[Event], predicates: int) -> dict[int, set[tuple[int, int]]]:
    pairs: dict[int, set[tuple[int, int]]] = {q: set() for q in range(2 * predicates)}
    for s, p, o, _ in both_ways(events, predicates):
        pairs[p].add((s, o))
    return pairs


def static_body(rule: RuleIds, pairs: dict[int, set[tuple[int, int]]]) -> set[tuple[int, int]]:
    if len(rule.body) == 1:
        return pairs[rule.body[0]]
    first, second = (pairs[q] for q in rule.body)
    if rule.shape == "pair":
        return first & second
    return {(x, y) for (x, z), (z2, y) in product(first, second) if z == z2}


def static_measures(rule: RuleIds, events: list[Event], predicates: int) -> tuple[int, int, int, int]:
    """Return support, body pairs, head pairs and the body pairs of the PCA confidence."""
    pairs = static_pairs(events, predicates)
    body, head = static_body(rule, pairs), pairs[rule.head]
    subjects, objects = {x for x, _ in head}, {y for _, y in head}
    if len(subjects) >= len(objects):  # the subject determines the object at least as well as the other way
        partial = [pair for pair in body if pair[0] in subjects]
    else:
        partial = [pair for pair in body if pair[1] in objects]
    return len(body & head), len(body), len(head), len(partial)


def groundings(rule: RuleIds, events: set[Event], window: int) -> set[tuple[int, int, int, int]]:
    """Return (x, y, step of the first atom, step of the last atom) of every body grounding."""
    pattern = PATTERNS[rule.pattern]
    lags = [0] if pattern.second_gap == 0 else range(1, window + 1)
    if len(rule.body) == 1:
        return {(x, y, t, t) for x, p, y, t in events if p == rule.body[0]}
    firsts = [(x, z, t) for x, p, z, t in events if p == rule.body[0]]
    seconds = [(z, y, t) for z, p, y, t in events if p == rule.body[1]]
    found = set()
    for (x, z, t), (z2, y, later) in product(firsts, seconds):
        joined = (x, z) == (z2, y) if rule.shape == "pair" else z == z2
        if joined and later - t in lags:
            found.add((x, y, t, later))
    return found


def windowed(rule: RuleIds, events: list[Event], predicates: int, window: int, steps: int) -> tuple[int, int, int, int]:
    """Return support, bodies, covered heads and heads."""
    pattern, known = PATTERNS[rule.pattern], both_ways(events, predicates)
    lags = [0] if pattern.head_gap == 0 else range(1, window + 1)
    bodies = groundings(rule, known, window)
    heads = {(x, y, t) for x, p, y, t in known if p == rule.head}
    starts = {(x, y, t) for x, y, t, _ in bodies if t + pattern.reach * window < steps}
    held = {(x, y, t) for x, y, t, last in bodies if any((x, y, last + lag) in heads for lag in lags)}
    covered = {(x, y, last + lag) for x, y, _, last in bodies for lag in lags} & heads
    return len(starts & held), len(starts), len(covered), len(heads)


def literal(rule: RuleIds, events: list[Event], predicates: int, window: int, steps: int) -> tuple[float, float]:
    """Return SC and HC by Eqs. 2–4 and 18–20: means over the steps at which the body has a grounding."""
    pattern, known = PATTERNS[rule.pattern], both_ways(events, predicates)
    lags = [0] if pattern.head_gap == 0 else range(1, window + 1)
    first_lags = [0] if pattern.second_gap == 0 else range(1, window + 1)
    heads = {(x, y, t) for x, p, y, t in known if p == rule.head}
    bodies = groundings(rule, known, window)
    confidences, coverages = [], []
    for step in range(steps):
        here = {(x, y, last) for x, y, t, last in bodies if t == step}
        if not here:
            continue
        support = sum((x, y, last + lag) in heads for x, y, last in here for lag in lags)
        offsets = [a + b for a in first_lags for b in lags]
        around = sum(sum(t == step + offset for _, _, t in heads) for offset in offsets)
        divided = pattern.head_gap if len(rule.body) == 1 else pattern.second_gap
        confidences.append(support / len(here) / (window if divided else 1))
        coverages.append(support / around if around else 0.0)
    if not confidences:
        return 0.0, 0.0
    return float(np.mean(confidences)), float(np.mean(coverages))
