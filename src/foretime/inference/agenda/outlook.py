"""The events that may come in a window, each with its probability."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from foretime.data.facts import Ids
from foretime.inference.agenda.asking import AskedObjects, ask_objects
from foretime.inference.agenda.counts import Floats
from foretime.inference.agenda.history import EventHistory, Triples
from foretime.inference.agenda.model import AgendaModel, window_odds
from foretime.inference.predictor import Predictor

CANDIDATES = 50_000
"""Known events that are looked at, those with the highest fading counts."""
PAIRS = 100
"""Subjects and predicates whose objects the run is asked for."""


class Limits(NamedTuple):
    """What the events must have in their slots; None allows everything."""

    subject: int | None = None
    predicate: int | None = None
    object: int | None = None

    def allow(self, triples: Triples) -> Triples:
        """Return the events that keep to the limits."""
        kept = np.ones(len(triples.subject), dtype=bool)
        for wanted, column in zip(self, triples, strict=True):
            kept &= column == wanted if wanted is not None else True
        return triples.take(kept)


class Outlook(NamedTuple):
    """Events with their probability in the window, the most likely first, and at each step, (events, steps)."""

    triples: Triples
    probability: Floats
    by_step: Floats


def outlook(
    predictor: Predictor, history: EventHistory, model: AgendaModel, start: int, steps: int, limits: Limits
) -> Outlook:
    """Return what may come from a step on; only events before it are looked at, from where the run looks at it."""
    window, index = range(start, start + steps), predictor.scorer.index
    if index is not None:
        start = int(index.as_of(np.array([start]))[0])
    known = candidates(history, start, limits)
    by_step = model.step_probabilities(history, known, start, window)
    predicates = len(predictor.graph.predicates)
    pair = known.subject * predicates + known.predicate
    pairs = _most_active(pair, window_odds(by_step))
    if limits.subject is not None and limits.predicate is not None:
        pairs = np.array([limits.subject * predicates + limits.predicate])
    asked = ask_objects(predictor, history, known, pairs, start)
    if limits.object is not None:
        asked = AskedObjects(limits.allow(asked.triples), asked.said[asked.triples.object == limits.object])
    other = ~np.isin(pair, pairs)
    of_asked = model.step_probabilities(history, asked.triples, start, window, asked.said)
    by_step = np.concatenate([of_asked, by_step[other]])
    triples = Triples(*(np.concatenate(both) for both in zip(asked.triples, known.take(other), strict=True)))
    probability = model.window_probability(by_step)
    order = np.argsort(-probability, kind="stable")
    return Outlook(triples.take(order), probability[order], by_step[order])


def candidates(history: EventHistory, start: int, limits: Limits) -> Triples:
    """Return the events that have happened before a step and keep to the limits."""
    known = limits.allow(history.happened(start))
    if len(known.subject) <= CANDIDATES:
        return known
    order = np.argsort(-history.rate(known, start), kind="stable")
    return known.take(np.sort(order[:CANDIDATES]))


def _most_active(pair: Ids, odds: Floats) -> Ids:
    """Return the pairs with the most events to expect, sorted."""
    pairs, place = np.unique(pair, return_inverse=True)
    expected = np.bincount(place, weights=1 / (1 + np.exp(-odds)), minlength=len(pairs))
    return np.sort(pairs[np.argsort(-expected, kind="stable")[:PAIRS]])
