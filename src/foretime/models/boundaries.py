"""The queries of a fact: one at each of its ends, under the relation that the model has for that boundary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.models.base import Model, Queries


class EndQueries(NamedTuple):
    """The first question of every fact, (facts,), and the second ones of the facts in `rows`, (rows,)."""

    first: Queries
    second: Queries
    rows: Tensor


def end_queries(model: Model, facts: Facts) -> EndQueries:
    """Return the questions of facts to a model; a fact is scored by the mean of its two.

    Facts with two different ends have a second one, and so have all with two known ends where the model has separate
    boundary relations. For a model without time it would repeat the first.
    """
    start, end = facts.known_ends()
    first_predicate, second_predicate = facts.predicate, facts.predicate + model.end_offset
    if model.end_offset:
        first_predicate = np.where(facts.start == UNKNOWN, second_predicate, first_predicate)
        has_two = (facts.start != UNKNOWN) & (facts.end != UNKNOWN)
    else:
        has_two = start != end
    rows = np.flatnonzero(has_two) if model.uses_time else np.empty(0, dtype=np.int64)
    return EndQueries(
        _queries(facts.subject, first_predicate, start),
        _queries(facts.subject[rows], second_predicate[rows], end[rows]),
        torch.from_numpy(rows),
    )


def _queries(*columns: Ids) -> Queries:
    return Queries(*map(torch.from_numpy, columns))
