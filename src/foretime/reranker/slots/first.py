"""The first of two open slots: how likely each predicate of an entity is at a time, and each subject of a predicate.

Nothing is fitted. An event counts the more the nearer it is in time, and what nobody has seen yet keeps a small share
that all entities or all predicates have in general.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from foretime.evidence.events import EventLists, Ints

Chances = NDArray[np.float64]
FADING: Final = ((1.0, 0.3), (7.0, 0.3), (30.0, 0.3), (1e9, 0.1))
"""Steps in which the weight of an event falls to 1/e, and how much each of these weights counts."""
PRIOR: Final = 1.0
"""How much what is usual in general counts."""


@dataclass(frozen=True)
class FirstCounts:
    """The events that count for the first slot, one in each row, and what counts without any event."""

    candidate: Ints
    """The predicate of an event, or its subject: the candidate that it counts for."""
    other: Ints
    """Who is at the other end of it."""
    time: Ints
    weight: Chances
    usual: Chances
    """How much each candidate counts because of what is usual in general, (candidates,)."""

    @property
    def whole(self) -> float:
        """What all candidates count together."""
        return float(self.weight.sum() + self.usual.sum())

    @property
    def chances(self) -> Chances:
        """How likely each candidate is, (candidates,)."""
        found = np.bincount(self.candidate, weights=self.weight, minlength=len(self.usual)) + self.usual
        chances: Chances = found / found.sum()
        return chances


def predicate_counts(events: EventLists, entity: int, time: int, as_subject: bool, past_only: bool) -> FirstCounts:
    """Return what counts for each predicate as what an entity does at a time, or as what is done to it."""
    own = slice(events.by_entity[entity], events.by_entity[entity + 1])
    seen_from = events.by_entity_predicate[own]  # as others do it to the entity: what it does itself is an inverse
    predicate = seen_from - events.predicates if as_subject else seen_from
    fits = (predicate >= 0) & (predicate < events.predicates)
    times, others = events.by_entity_time[own][fits], events.by_entity_other[own][fits]
    usual = _seen(events.by_predicate, events.by_predicate_time, time, past_only)[: events.predicates]
    return _counts(predicate[fits], others, times, time, usual, past_only)


def subject_counts(events: EventLists, predicate: int, time: int, past_only: bool) -> FirstCounts:
    """Return what counts for each entity as a subject of a predicate at a time."""
    own = slice(events.by_predicate[predicate], events.by_predicate[predicate + 1])
    subjects, others = events.by_predicate_subject[own], events.by_predicate_object[own]
    usual = _seen(events.by_entity, events.by_entity_time, time, past_only)
    return _counts(subjects, others, events.by_predicate_time[own], time, usual, past_only)


def _seen(first: NDArray[np.int64], times: Ints, time: int, past_only: bool) -> Chances:
    """Return how many events each owner has, (owners,); if only the past counts, before the time."""
    if not past_only:
        return np.diff(first).astype(np.float64)
    return np.diff(np.append(0, np.cumsum(times < time))[first]).astype(np.float64)


def _counts(candidate: Ints, other: Ints, times: Ints, time: int, usual: Chances, past_only: bool) -> FirstCounts:
    seen = times < time if past_only else np.ones(len(times), dtype=bool)
    far = np.abs(times[seen].astype(np.float64) - time)
    weight = np.zeros(len(far))
    for steps, share in FADING:
        weight += share * np.exp(-far / steps)
    at_all = usual.astype(np.float64) + 1e-3
    return FirstCounts(candidate[seen], other[seen], times[seen], weight, PRIOR * at_all / at_all.sum())
