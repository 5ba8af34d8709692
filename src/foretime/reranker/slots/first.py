"""The first of two open slots: how likely each predicate of an entity is at a time, and each subject of a predicate.

Nothing is fitted. An event counts the more the nearer it is in time, and what nobody has seen yet keeps a small share
that all entities or all predicates have in general.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from foretime.evidence.events import EventLists

Chances = NDArray[np.float64]
FADING: Final = ((1.0, 0.3), (7.0, 0.3), (30.0, 0.3), (1e9, 0.1))
"""Steps in which the weight of an event falls to 1/e, and how much each of these weights counts."""
PRIOR: Final = 1.0
"""How much what is usual in general counts."""


def predicate_chances(events: EventLists, entity: int, time: int, as_subject: bool, past_only: bool) -> Chances:
    """Return how likely each predicate is what an entity does at a time, or what is done to it, (predicates,)."""
    own = slice(events.by_entity[entity], events.by_entity[entity + 1])
    seen_from = events.by_entity_predicate[own]  # as others do it to the entity: what it does itself is an inverse
    predicate = seen_from - events.predicates if as_subject else seen_from
    fits = (predicate >= 0) & (predicate < events.predicates)
    usual = _counts(events.by_predicate, events.by_predicate_time, time, past_only)[: events.predicates]
    return _chances(events.by_entity_time[own][fits], predicate[fits], time, usual, past_only)


def subject_chances(events: EventLists, predicate: int, time: int, past_only: bool) -> Chances:
    """Return how likely each entity is a subject of a predicate at a time, (entities,)."""
    own = slice(events.by_predicate[predicate], events.by_predicate[predicate + 1])
    usual = _counts(events.by_entity, events.by_entity_time, time, past_only)
    return _chances(events.by_predicate_time[own], events.by_predicate_subject[own], time, usual, past_only)


def _counts(first: NDArray[np.int64], times: NDArray[np.int32], time: int, past_only: bool) -> Chances:
    """Return how many events each owner has, (owners,); if only the past counts, before the time."""
    if not past_only:
        return np.diff(first).astype(np.float64)
    return np.diff(np.append(0, np.cumsum(times < time))[first]).astype(np.float64)


def _chances(times: NDArray[np.int32], ids: NDArray[np.int32], time: int, usual: Chances, past_only: bool) -> Chances:
    if past_only:
        times, ids = times[times < time], ids[times < time]
    far = np.abs(times.astype(np.float64) - time)
    weight = np.zeros(len(far))
    for steps, share in FADING:
        weight += share * np.exp(-far / steps)
    found = np.bincount(ids, weights=weight, minlength=len(usual)) + PRIOR * (usual + 1e-3) / (usual + 1e-3).sum()
    chances: Chances = found / found.sum()
    return chances
