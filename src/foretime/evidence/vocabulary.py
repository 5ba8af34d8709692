"""Which rules have weights of their own: pair rules that the graph has met, path rules that the miner has found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import inverse
from foretime.evidence.events import EventLists, Ints, Offsets, offsets_of
from foretime.rules.table import NO_SECOND, Rules

CONFIDENCE_WINDOW = 20
DOUBT = 20
"""Events of a body without its head that a confidence begins with: a rule seen once is not yet sure."""


class RuleVocabulary(NamedTuple):
    """Which rules have weights of their own.

    Predicate p has the pair rules `pair[p] …`, sorted by `pair_body`, and the path rules `path[p] …`, sorted by
    `path_body`, which is (first predicate) · (all predicates) + (second predicate). `pair_confidence` is how often the
    head of each pair rule came within `CONFIDENCE_WINDOW` steps after its body.
    """

    pair: Offsets
    pair_body: Ints
    path: Offsets
    path_body: Offsets
    pair_confidence: NDArray[np.float32]


def rule_vocabulary(events: EventLists, pair_support: int, rules: Rules | None, path_rules: int) -> RuleVocabulary:
    """Return the rules of the evidence; `rules` are mined ones, of which the paths are taken."""
    every = 2 * events.predicates
    head, body = _pair_rules(events, pair_support)
    path_head, path_body = _path_rules(rules, path_rules, every)
    return RuleVocabulary(
        pair=offsets_of(head, every),
        pair_body=body.astype(np.int32),
        path=offsets_of(path_head, every),
        path_body=np.ascontiguousarray(path_body),  # a view of another layout would be compiled for anew
        pair_confidence=_confidences(events, head, body),
    )


def _confidences(events: EventLists, head: Offsets, body: Offsets) -> NDArray[np.float32]:
    """Return how many heads came soon after each event of a body, between the same two."""
    from foretime.evidence.rule_counts import count_followers  # numba is slow to load

    followers, bodies = count_followers(events, CONFIDENCE_WINDOW)
    return np.asarray(followers[head, body] / (bodies[body] + DOUBT), dtype=np.float32)


def _pair_rules(events: EventLists, support: int) -> tuple[Offsets, Offsets]:
    """Return the predicates that at least `support` pairs have both of, (rules,) each, sorted by head and body."""
    every = 2 * events.predicates
    predicate = events.group_predicate.astype(np.int64)
    size = np.diff(events.pair)  # predicates of each pair
    own = np.repeat(size, size)  # (groups,): how many predicates its pair has
    head = np.repeat(predicate, own)
    first = np.repeat(np.repeat(events.pair[:-1], size), own)
    place = np.arange(len(head)) - np.repeat(np.cumsum(own) - own, own)
    keys, count = np.unique(head * every + predicate[first + place], return_counts=True)
    kept = keys[count >= support]
    return kept // every, kept % every


def _path_rules(rules: Rules | None, at_most: int, every: int) -> tuple[Offsets, Offsets]:
    """Return the heads and bodies of the most confident path rules in both directions, sorted by head and body."""
    if rules is None or at_most == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    paths = rules.take((rules.second != NO_SECOND) & (rules.shape == "path"))
    best = paths.take(np.argsort(-paths.confidence, kind="stable")[:at_most])
    predicates = every // 2

    mirror = [inverse(ids, predicates) for ids in (best.head, best.first, best.second)]
    head = np.concatenate([best.head, mirror[0]])
    body = np.concatenate([best.first * every + best.second, mirror[2] * every + mirror[1]])
    keys = np.unique(np.stack([head, body]), axis=1)
    return keys[0], keys[1]
