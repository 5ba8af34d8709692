"""Rules made true: the groundings of a body are found by sort joins, and the head is added to a known share of them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Ids
from foretime.data.synthetic.events import Pairs, Scale
from foretime.data.synthetic.schema import LAGS, PlantedAtom, PlantedRule

Bindings = dict[str, Ids]
"""What each variable stands for, (groundings,); `t` is the time of the first atom, `last` that of the last."""


class RuleTrials(NamedTuple):
    """Groundings of a rule, sorted by the pair of the head; each column is (groundings,)."""

    pair: Ids
    """The subject and object of the head as one number."""
    start: Ids
    low: Ids
    """The first day on which the head would fulfil the rule."""
    high: Ids
    """The last such day."""
    cluster: Ids
    """Groundings of a pair whose windows overlap share a number: one head could fulfil several of them."""
    body: tuple[Pairs, ...]
    """The event of each body atom."""


class PlantedEvents(NamedTuple):
    """What made the planted events of a rule: row k of `head` was added because of row k of every pair of `body`.

    An event that two groundings have planted stands in two rows.
    """

    rule: PlantedRule
    head: Pairs
    body: tuple[Pairs, ...]


def plant(
    rule: PlantedRule, events: dict[str, Pairs], noise: Pairs, scale: Scale, rng: np.random.Generator
) -> tuple[PlantedEvents, Pairs]:
    """Return the rule with its counts and what made its events, and the events of its head: planted ones and noise.

    Clusters of groundings are taken in random order until the rule's probability is used up; each grounding of these
    gets a head at a random day of its window. So the confidence is what was planted to within one cluster. Noise that
    falls into a window is left out, so that a grounding without a planted head stays without one.
    """
    trials = find_trials(rule, events, scale)
    distinct = np.unique(trials.cluster * scale.days + trials.start) // scale.days
    size = np.bincount(distinct)  # (clusters,)
    order = rng.permutation(len(size))
    fulfilled = np.zeros(len(size), dtype=bool)
    fulfilled[order] = np.cumsum(size[order]) <= rule.probability * size.sum()
    hit = fulfilled[trials.cluster]
    day = rng.integers(trials.low[hit], trials.high[hit] + 1)
    planted = trials.pair[hit] * scale.days + day
    stray = scale.key(noise)
    heads = np.union1d(planted, stray[~_in_window(stray, trials, scale)])
    counted = replace(rule, bodies=int(size.sum()), support=int(size[fulfilled].sum()))
    made = PlantedEvents(counted, scale.pairs(planted), tuple(pairs.take(hit) for pairs in trials.body))
    return made, scale.pairs(heads)


def find_trials(rule: PlantedRule, events: dict[str, Pairs], scale: Scale) -> RuleTrials:
    """Return every grounding of the body whose window ends within the timeline."""
    lags = LAGS[rule.pattern]
    steps = lags[-1]
    bound = _bind(rule.body[0], events[rule.body[0].predicate])
    for atom, lag in zip(rule.body[1:], lags[1:-1], strict=True):
        delays = range(1, rule.window + 1) if lag else range(1)
        bound = _join(bound, _bind(atom, events[atom.predicate]), delays, scale)
    inside = bound["t"] + steps * rule.window < scale.days
    bound = {name: column[inside] for name, column in bound.items()}
    pair = scale.pair_key(bound[rule.head.subject], bound[rule.head.object])
    # With `steps` 0 the head belongs to the day of the body; else to the window after the last atom.
    low = bound["last"] + min(steps, 1)
    high = bound["last"] + (rule.window if steps else 0)
    order = np.lexsort((bound["t"], low, pair))
    pair, low, high = pair[order], low[order], high[order]
    begins = (np.diff(pair, prepend=-1) != 0) | (low > np.append(-1, high[:-1]))
    times = (bound["t"], bound["last"])[-len(rule.body) :]  # of two atoms the second is the last
    body = tuple(
        Pairs(bound[atom.subject], bound[atom.object], time).take(order)
        for atom, time in zip(rule.body, times, strict=True)
    )
    return RuleTrials(pair, bound["t"][order], low, high, np.cumsum(begins) - 1, body)


def _bind(atom: PlantedAtom, events: Pairs) -> Bindings:
    return {atom.subject: events.subject, atom.object: events.object, "t": events.day, "last": events.day}


def _join(left: Bindings, right: Bindings, delays: range, scale: Scale) -> Bindings:
    """Return the joint bindings in which the right atom happens one of `delays` days after the left one."""
    shared = [name for name in left if name in right and name not in ("t", "last")]
    left_key, right_key = (_joint_key(side, shared, scale) for side in (left, right))
    order = np.argsort(right_key, kind="stable")
    parts = []
    for delay in delays:
        i, j = _matches(left_key + delay, right_key[order])
        j = order[j]
        bound = {name: column[j] for name, column in right.items()}
        bound |= {name: column[i] for name, column in left.items() if name != "last"}
        parts.append(bound)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _joint_key(side: Bindings, shared: list[str], scale: Scale) -> Ids:
    key = np.zeros_like(side["t"])
    for name in shared:
        key = key * scale.entities + side[name]
    # Two timelines' worth of room, so that a delay beyond the end never reaches the next key.
    return key * (2 * scale.days) + side["last"]


def _matches(keys: Ids, ordered: Ids) -> tuple[Ids, Ids]:
    """Return the rows of `keys` and the places in `ordered` that hold the same number, for every such couple."""
    low, high = np.searchsorted(ordered, keys, "left"), np.searchsorted(ordered, keys, "right")
    count = high - low
    rows = np.repeat(np.arange(len(keys)), count)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    return rows, low[rows] + within


def _in_window(stray: Ids, trials: RuleTrials, scale: Scale) -> NDArray[np.bool_]:
    """Return which events, as numbers, happen on a day that would fulfil some grounding."""
    opened = np.searchsorted(np.sort(trials.pair * scale.days + trials.low), stray, "right")
    closed = np.searchsorted(np.sort(trials.pair * scale.days + trials.high), stray, "left")
    return np.asarray(opened > closed)
