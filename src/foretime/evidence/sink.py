"""What a walk works with, and the one place where a feature meets a candidate.

The same walk scores (adds weights to candidates), learns (adds the gradient of candidates to weights) and records
(which features a candidate has, and by which events), so that the three can never disagree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.evidence.events import Ints, Offsets
from foretime.evidence.families import FEATURES, PATH_SLOTS
from foretime.evidence.lookups import compiled, making_arrays

Floats = NDArray[np.float32]
Rows = NDArray[np.float64]
NO_FEATURE = -1
"""Stands in a recorded row in place of a feature where the row is a grounding of two events."""


class Sink(NamedTuple):
    """Where a walk leaves what it finds.

    To score, `table` holds all weights, `own` those of the features that have no rule, summed for the predicate asked
    about, and `scores`, (entities,), takes the sums of the candidates. To `learn`, `scores` holds the gradient of the
    candidates, and the others take that of the weights. To record there are `rows`, (rows, 5), of which the first has
    nothing but their number, which also counts those for which there was no room. A row is (feature, place of the
    rule's weight in the table or −1, where its events lie, −1, value), or (`NO_FEATURE`, rule, first place, second
    place, share or distance) for two events that ground it together.

    To learn from the same walk that scores there are `hits`, (rows, 3), which begin with their number as `rows` do: a
    candidate, a feature, and the place of the rule's weight or −1. Without rows or hits numba compiles a walk that
    knows nothing of them, so that they cost nothing.
    """

    learn: bool
    own: Floats
    table: Floats
    scores: Floats
    rows: Rows | None
    hits: Ints | None


class Scratch(NamedTuple):
    """Working memory of one walk at a time, so that none is made anew.

    `mark` has the number of the current round first, and then for each entity the last round in which it was met.
    `two_hop` has the subject of the last search for two-hop neighbours first, −1 if they hold for one question only,
    then how many there are, and then who; `two_hop_feature` and `affinity` have the feature and the affinity of each.
    `near` has places of events of the subject, and of another entity. `rates` are those of one candidate, `own_rates`
    those of the subject with each of its partners, and `confidence` that of the pair rule of each body.
    """

    own: Floats
    rule: Ints
    mark: Ints
    with_subject: Ints
    two_hop: Ints
    two_hop_feature: NDArray[np.int8]
    affinity: Floats
    near: tuple[Offsets, Offsets]
    path_key: Offsets
    path_best: Ints
    path_slots: Ints
    rates: NDArray[np.float64]
    own_rates: NDArray[np.float64]
    confidence: Floats


@making_arrays
def make_scratch(events):
    """Return empty working memory for walks through lists of events."""
    entities = len(events.node) - 1
    most = 0
    for entity in range(entities):
        most = max(most, events.by_entity[entity + 1] - events.by_entity[entity])
    return Scratch(
        own=np.zeros(FEATURES, dtype=np.float32),
        rule=np.full(2 * events.predicates, -1, dtype=np.int32),
        mark=np.zeros(entities + 1, dtype=np.int32),
        with_subject=np.zeros(entities, dtype=np.int32),
        two_hop=np.full(entities + 2, -1, dtype=np.int32),
        two_hop_feature=np.zeros(entities, dtype=np.int8),
        affinity=np.zeros(entities, dtype=np.float32),
        near=(np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)),
        path_key=np.full(PATH_SLOTS, -1, dtype=np.int64),
        path_best=np.zeros(PATH_SLOTS, dtype=np.int32),
        path_slots=np.empty(PATH_SLOTS, dtype=np.int32),
        rates=np.zeros(4),
        own_rates=np.zeros((2, entities)),
        confidence=np.zeros(2 * events.predicates, dtype=np.float32),
    )


@compiled
def record(rows, feature, rule, first, second, amount):
    """Add a row, or count it where there is no room; nothing where nothing is recorded."""
    if rows is not None:
        rows[0, 0] += 1
        place = int(rows[0, 0])
        if place < len(rows):
            row = rows[place]
            row[0], row[1], row[2], row[3], row[4] = feature, rule, first, second, amount


@compiled
def keep(hits, candidate, feature, rule):
    """Keep a feature of a candidate, or count it where there is no room; nothing where hits are not kept."""
    if hits is not None:
        hits[0, 0] += 1
        place = hits[0, 0]
        if place < len(hits):
            hits[place, 0], hits[place, 1], hits[place, 2] = candidate, feature, rule


@compiled
def accumulate(learn, own, table, scores, rows, hits, candidate, feature, rule, value, owner):
    """Add a feature's weight to a candidate, or a candidate's gradient to the feature's weights, or record the feature.

    The first six are those of a `Sink`, taken apart because that is quicker. `rule` is the place of a rule's weight in
    the table, −1 for a rule without one; `value` is the distance, count or affinity behind the feature, and `owner`
    whose events ground it: a group, an object of the predicate, an entity.
    """
    if rows is not None:
        record(rows, feature, rule, owner, -1, value)
    elif learn:
        gradient = scores[candidate]
        own[feature] += gradient
        if rule >= 0:
            table[rule] += gradient
    else:
        total = own[feature]
        if rule >= 0:
            total += table[rule]
        scores[candidate] += total
        keep(hits, candidate, feature, rule)
