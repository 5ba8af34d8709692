"""What a walk writes down: its notes, and the one place where a feature meets a candidate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foretime.evidence.families import FEATURES, PATH_SLOTS
from foretime.evidence.index import Ints, Offsets

Floats = NDArray[np.float32]


class Scratch(NamedTuple):
    """The notes of one walk at a time, so that none are made anew.

    `mark` has the number of the current round first, and then for each entity the last round in which it was met. `kin`
    has the subject of the last walk through affinities first, −1 if they hold for one question only, then how many
    there are, and then who; `kin_feature` has the feature of each of them.
    """

    own: Floats
    rule: Ints
    mark: Ints
    sum: Floats
    touched: Ints
    kin: Ints
    kin_feature: NDArray[np.int8]
    path_key: Offsets
    path_best: Ints


@njit(cache=True, nogil=True)
def scratch(entities, predicates):
    """Return empty notes; `predicates` counts inverses too."""
    return Scratch(
        own=np.zeros(FEATURES, dtype=np.float32),
        rule=np.full(predicates, -1, dtype=np.int32),
        mark=np.zeros(entities + 1, dtype=np.int32),
        sum=np.zeros(entities, dtype=np.float32),
        # room for every slot of the path table too: a slot that is not noted would never be emptied
        touched=np.empty(max(entities, PATH_SLOTS), dtype=np.int32),
        kin=np.full(entities + 2, -1, dtype=np.int32),
        kin_feature=np.zeros(entities, dtype=np.int8),
        path_key=np.full(PATH_SLOTS, -1, dtype=np.int64),
        path_best=np.zeros(PATH_SLOTS, dtype=np.int32),
    )


@njit(cache=True, nogil=True)
def meet(own, table, scores, learn, candidate, feature, rule):
    """Add a feature's weight to a candidate, or a candidate's gradient to the feature's weights.

    `own` holds the feature's weights that have no rule, summed for the question's predicate; `rule` is the place of a
    rule's weight in `table`, −1 for a rule without one.
    """
    if learn:
        gradient = scores[candidate]
        own[feature] += gradient
        if rule >= 0:
            table[rule] += gradient
    else:
        total = own[feature]
        if rule >= 0:
            total += table[rule]
        scores[candidate] += total
