"""Rules and their weights under other ids of the predicates: on a graph that has grown, or on another one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.data.facts import Facts, Ids, empty_facts
from foretime.evidence.background import Background, BackgroundRules, background_lists
from foretime.evidence.events import event_lists, offsets_of
from foretime.evidence.families import BACKGROUND_FEATURES, FEATURES, RULED
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.vocabulary import RuleVocabulary


class PredicateMap(NamedTuple):
    """The trained id of each predicate of another graph and of its inverse, −1 for one that was not trained.

    `trained` is how many predicates were trained, without inverses.
    """

    ids: Ids
    trained: int

    @classmethod
    def of(cls, names: tuple[str, ...], trained: tuple[str, ...]) -> PredicateMap:
        """Return which of the trained names each name is."""
        place = {name: i for i, name in enumerate(trained)}
        ids = np.array([place.get(name, -1) for name in names], dtype=np.int64)
        return cls(np.concatenate([ids, np.where(ids < 0, -1, ids + len(trained))]), len(trained))

    @property
    def predicates(self) -> int:
        """How many predicates the other graph has, without inverses."""
        return len(self.ids) // 2

    @property
    def is_identity(self) -> bool:
        """Whether nothing changes."""
        return np.array_equal(self.ids, np.arange(2 * self.trained))

    def back(self) -> Ids:
        """Return the id that each trained predicate has in the other graph, −1 for one that it lacks."""
        found = np.full(2 * self.trained, -1)
        found[self.ids[self.ids >= 0]] = np.flatnonzero(self.ids >= 0)
        return found


class _Moved(NamedTuple):
    """Rules under other ids: where each predicate's begin, their bodies, and which of the old rules each is."""

    first: Ids
    body: Ids
    rule: Ids


def carry_index(
    index: EvidenceIndex, weights: Tensor | None, map_: PredicateMap, sizes: tuple[int, int]
) -> tuple[EvidenceIndex, Tensor | None]:
    """Return the index with the same rules and without any events, and its weights; sizes are entities and steps.

    A predicate that was not trained has the weights that all predicates share, and no rules.
    """
    back, every, old = map_.back(), 2 * map_.predicates, 2 * map_.trained
    pairs = _move(index.rules.pair, back[index.rules.pair_body], back, every)
    first, second = np.divmod(index.rules.path_body, old)
    bodies = np.where((back[first] < 0) | (back[second] < 0), -1, back[first] * every + back[second])
    paths = _move(index.rules.path, bodies, back, every)
    confidence = index.rules.pair_confidence[pairs.rule]
    rules = RuleVocabulary(pairs.first, pairs.body.astype(np.int32), paths.first, paths.body, confidence)
    nothing = np.empty(0, dtype=np.int64)
    events = event_lists(Facts(*[nothing] * 5), sizes[0], map_.predicates, sizes[1])
    timeless = None if index.background is None else carry_background(index.background, map_, sizes[0])
    background = None if timeless is None else timeless[0]
    carried = EvidenceIndex(sizes[0], events, rules, index.reach, background, index.max_gap)
    if weights is None:
        return carried, None
    every_weight, of_background = weights.detach().split([index.event_weights, index.weights - index.event_weights])  # type: ignore[no-untyped-call]
    shared, own = every_weight[:FEATURES], every_weight[FEATURES : FEATURES * (1 + old)]
    rest = every_weight[FEATURES * (1 + old) :]
    of_pairs = rest[: RULED * len(index.rules.pair_body)].view(-1, RULED)
    of_paths = rest[RULED * len(index.rules.pair_body) :]
    moved = torch.zeros(every, FEATURES)
    seen = torch.from_numpy(map_.ids >= 0)
    moved[seen] = own.view(-1, FEATURES)[torch.from_numpy(map_.ids)[seen]]
    ruled = of_pairs[torch.from_numpy(pairs.rule)].reshape(-1)
    found = [shared, moved.view(-1), ruled, of_paths[torch.from_numpy(paths.rule)]]
    if timeless is not None:
        found.append(_move_background(of_background, map_, timeless[1]))
    return carried, torch.cat(found)


def carry_background(background: Background, map_: PredicateMap, entities: int) -> tuple[Background, Ids]:
    """Return the rules of facts without a time under other ids, without facts, and which of the old ones each is."""
    back, every = map_.back(), 2 * map_.predicates
    moved = _move(background.rules.first, back[background.rules.body], back, every)
    lists = background_lists(empty_facts(), entities, map_.predicates)
    return Background(lists, BackgroundRules(moved.first, moved.body.astype(np.int32))), moved.rule


def _move_background(weights: Tensor, map_: PredicateMap, rules: Ids) -> Tensor:
    """Return the weights of the features and of the rules of facts without a time, under other ids."""
    size, old = BACKGROUND_FEATURES, 2 * map_.trained
    shared, own, of_rules = weights.split([size, size * old, len(weights) - size * (1 + old)])  # type: ignore[no-untyped-call]
    moved, seen = torch.zeros(2 * map_.predicates, size), torch.from_numpy(map_.ids >= 0)
    moved[seen] = own.view(-1, size)[torch.from_numpy(map_.ids)[seen]]
    return torch.cat([shared, moved.view(-1), of_rules[torch.from_numpy(rules)]])


def carry_weights(index: EvidenceIndex, weights: Tensor, map_: PredicateMap, onto: EvidenceIndex) -> Tensor:
    """Return weights for an index with rules of its own: a rule that both have keeps its weights, others have 0."""
    carried, moved = carry_index(index, weights, map_, (onto.entities, onto.events.steps))
    if moved is None:
        raise TypeError("there are weights to carry over")
    every, found = 2 * map_.predicates, torch.zeros(onto.weights)
    (features, pairs, paths, timeless), (features_before, pairs_before, paths_before, timeless_before) = (
        vector.split([FEATURES * (1 + every), RULED * len(one.rules.pair_body), len(one.rules.path_body), rest])  # type: ignore[no-untyped-call]
        for vector, one in ((found, onto), (moved, carried))
        for rest in (one.weights - one.event_weights,)
    )
    features.copy_(features_before)
    now, before = _places_of_both(*(_keys(one.rules.pair, one.rules.pair_body, every) for one in (onto, carried)))
    pairs.view(-1, RULED)[now] = pairs_before.view(-1, RULED)[before]
    now, before = _places_of_both(*(_keys(one.rules.path, one.rules.path_body, every**2) for one in (onto, carried)))
    paths[now] = paths_before[before]
    if onto.background is not None and carried.background is not None:
        size = BACKGROUND_FEATURES * (1 + every)
        timeless[:size] = timeless_before[:size]
        both = (_keys(one.background.rules.first, one.background.rules.body, every) for one in (onto, carried))  # type: ignore[union-attr]
        now, before = _places_of_both(*both)
        timeless[size + now] = timeless_before[size + before]
    return found


def _keys(first: Ids, body: NDArray[Any], bodies: int) -> Ids:
    """Return one number for each rule, its head and its body, (rules,); `first` is where the rules of a head begin."""
    return np.repeat(np.arange(len(first) - 1), np.diff(first)) * bodies + body.astype(np.int64)


def _places_of_both(rules: Ids, others: Ids) -> tuple[Tensor, Tensor]:
    """Return where the rules that both have stand in each."""
    _, now, before = np.intersect1d(rules, others, assume_unique=True, return_indices=True)
    return torch.from_numpy(now), torch.from_numpy(before)


def _move(first: Ids, body: Ids, back: Ids, every: int) -> _Moved:
    """Return rules of which the bodies are moved already; those that lack a predicate are left out."""
    head = np.repeat(back, np.diff(first))
    kept = np.flatnonzero((head >= 0) & (body >= 0))
    rule = kept[np.lexsort([body[kept], head[kept]])]
    return _Moved(offsets_of(head[rule], every), body[rule], rule)
