"""What a walk works with, and the one place where a feature meets a candidate.

The same walk scores (adds weights to candidates), learns (adds the gradient of candidates to weights) and records (notes
which feature a candidate has, and by which events), so that the three can never disagree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.evidence.events import Ints, Offsets
from foretime.evidence.families import FEATURES, PATH_SLOTS
from foretime.evidence.lookups import compiled

Floats = NDArray[np.float32]
SCORE, LEARN, RECORD = 0, 1, 2
NO_FEATURE = -1
"""Stands in a recorded row in place of a feature where the row is a grounding of two events."""


class Sink(NamedTuple):
    """Where a walk leaves what it finds.

    `own` holds the weights of the features that have no rule, summed for the predicate asked about, or their gradients;
    `table` all weights or gradients, and `scores`, (entities,), those of the candidates. Recorded `rows` are (feature,
    place of the rule's weight in the table or −1, where its events lie, −1), each with its value in `amounts`; or
    (`NO_FEATURE`, rule, first place, second place) for two events that ground it together. `size` counts all rows, also
    those for which there was no room.
    """

    mode: int
    own: Floats
    table: Floats
    scores: Floats
    rows: Offsets
    amounts: NDArray[np.float64]
    size: Offsets


class Scratch(NamedTuple):
    """Working memory of one walk at a time, so that none is made anew.

    `mark` has the number of the current round first, and then for each entity the last round in which it was met.
    `two_hop` has the subject of the last search for two-hop neighbours first, −1 if they hold for one question only,
    then how many there are, and then who; `two_hop_feature` and `affinity` have the feature and the affinity of each.
    `near` has places of events of the subject, and of another entity.
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


@compiled
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
    )


@compiled
def record(sink, feature, rule, first, second, amount):
    """Note a row, or that there was no room for it."""
    place = sink.size[0]
    sink.size[0] += 1
    if place < len(sink.amounts):
        row = sink.rows[place]
        row[0], row[1], row[2], row[3] = feature, rule, first, second
        sink.amounts[place] = amount


@compiled
def accumulate(sink, candidate, feature, rule, value, owner):
    """Add a feature's weight to a candidate, or a candidate's gradient to the feature's weights, or record the feature.

    `rule` is the place of a rule's weight in the table, −1 for a rule without one; `value` is the distance, count or
    affinity behind the feature, and `owner` whose events ground it: a group, an object of the predicate, an entity.
    """
    if sink.mode == LEARN:
        gradient = sink.scores[candidate]
        sink.own[feature] += gradient
        if rule >= 0:
            sink.table[rule] += gradient
    elif sink.mode == SCORE:
        total = sink.own[feature]
        if rule >= 0:
            total += sink.table[rule]
        sink.scores[candidate] += total
    else:
        record(sink, feature, rule, owner, -1, value)
