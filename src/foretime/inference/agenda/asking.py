"""What the run itself says of the objects of the most active subjects and predicates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Facts, Ids
from foretime.devices import fetch
from foretime.evaluation.ranks import batches
from foretime.inference.agenda.counts import Floats
from foretime.inference.agenda.history import EventHistory, Triples
from foretime.inference.predictor import Predictor

OBJECTS = 10
"""Best objects of each subject and predicate that join what has happened before."""
BATCH = 128
LEAST = -20.0
"""The lowest log-probability: what a re-ranker has left out is as unlikely as that."""


class AskedObjects(NamedTuple):
    """Events whose object the run was asked for, and ln P(object | subject, predicate, start) of each."""

    triples: Triples
    said: Floats


def ask_objects(predictor: Predictor, history: EventHistory, known: Triples, pairs: Ids, start: int) -> AskedObjects:
    """Return the known events of some subjects and predicates, and the best objects of each, with what the run says.

    `pairs` are subject · predicates + predicate, sorted. No answer is left out as already known, and none is told by
    its kind: both would look at what happened at the start. A name that was not there before it is no answer.
    """
    predicates = len(predictor.graph.predicates)
    own = np.flatnonzero(np.isin(known.subject * predicates + known.predicate, pairs))
    place = np.searchsorted(pairs, known.subject[own] * predicates + known.predicate[own])
    places, objects, said = [], [], []
    later = torch.from_numpy(~history.seen_entities(start))
    for part, logs in _log_probabilities(predictor, pairs, start, later):
        mine = (place >= part.start) & (place < part.stop)
        row, column = place[mine] - part.start, known.object[own[mine]]
        top = np.argsort(-logs, axis=1, kind="stable")[:, :OBJECTS]
        rows = np.concatenate([row, np.repeat(np.arange(len(logs)), top.shape[1])])
        columns = np.concatenate([column, top.reshape(-1)])
        both = np.unique(np.stack([rows, columns]), axis=1)
        both = both[:, logs[both[0], both[1]] > -np.inf]
        places.append(both[0] + part.start)
        objects.append(both[1])
        said.append(np.maximum(logs[both[0], both[1]], LEAST))
    if not places:
        nothing = np.empty(0, dtype=np.int64)
        return AskedObjects(Triples(nothing, nothing, nothing), np.empty(0))
    subject, predicate = np.divmod(pairs[np.concatenate(places)], predicates)
    return AskedObjects(Triples(subject, predicate, np.concatenate(objects)), np.concatenate(said))


@torch.inference_mode()
def _log_probabilities(predictor: Predictor, pairs: Ids, start: int, later: Tensor) -> Iterator[tuple[slice, Floats]]:
    """Yield slices of the pairs, with the log-probability of every entity, (pairs, entities); −∞ for later ones."""
    subject, predicate = np.divmod(pairs, len(predictor.graph.predicates))
    when = np.full(len(pairs), start)
    for part, facts in batches(Facts(subject, predicate, np.zeros_like(subject), when, when), BATCH):
        scores = fetch(predictor.scorer.score_slot("object", facts)).masked_fill(later, -torch.inf)
        yield part, torch.log_softmax(scores.double(), dim=1).numpy()
