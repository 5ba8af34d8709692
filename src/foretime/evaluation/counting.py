"""Counting as a baseline: candidates scored by how often train has them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.evaluation.slots import Slot


def counting_scores(graph: Graph, slot: Slot, facts: Facts) -> Tensor:
    """Return how often train has each candidate for the open slot beside the rest of each fact, (facts, candidates).

    Times of the fact are ignored; what the predicate has in general breaks ties.
    """
    train = graph.train.events()
    columns = {"subject": train.subject, "predicate": train.predicate, "object": train.object, "time": train.time}
    sizes = {"predicate": len(graph.predicates), "time": len(graph.timeline)}
    size = sizes.get(slot, len(graph.entities))
    given = [name for name in ("subject", "predicate", "object") if name != slot]
    scores = torch.zeros(len(facts), size)
    for row in range(len(facts)):
        same = [columns[name] == getattr(facts, name)[row] for name in given]
        for rows, weight in ((same[0] & same[-1], 1.0), (same[0] | same[-1], 1e-4)):
            counted = np.bincount(columns[slot][rows], minlength=size)
            scores[row] += torch.from_numpy(weight * counted).float()
    return scores
