"""Facts without a time as evidence: sorted as they are looked up, and the rules of theirs that have weights.

Nothing here is an event. The families of events never see these facts, so that a question has the same evidence of
events whatever the background is; what the background adds is a family of its own, `background`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from foretime.data.facts import Facts
from foretime.evidence.events import EventLists, Ints, Offsets, offsets_of
from foretime.evidence.families import BACKGROUND_FEATURES

HUB: Final = 2000
"""An entity with more partners than this is no common neighbour by way of the background: too many have it."""


class BackgroundLists(NamedTuple):
    """Facts without a time, each once, with inverses. An offset column has one entry more than it has owners.

    Subject x has the facts `node[x] …`, sorted by `other` and then by `predicate`, and `partners[x]` different others.
    Predicate p has the objects `objects[p] …`, sorted; each has `object_count` subjects.
    """

    predicates: int
    node: Offsets
    other: Ints
    predicate: Ints
    partners: Ints
    objects: Offsets
    object: Ints
    object_count: Ints


class BackgroundRules(NamedTuple):
    """Rules `fact without a time → event` with a weight: predicate p has the bodies `first[p] …`, sorted."""

    first: Offsets
    body: Ints


class Background(NamedTuple):
    """What the family `background` needs beside the events."""

    lists: BackgroundLists
    rules: BackgroundRules

    @property
    def weights(self) -> int:
        """How many weights it has: of features, of (predicate, feature) pairs, of rules."""
        return BACKGROUND_FEATURES * (1 + 2 * self.lists.predicates) + len(self.rules.body)


def background_lists(facts: Facts, entities: int, predicates: int) -> BackgroundLists:
    """Return the facts as lists; `predicates` counts them without inverses."""
    both = facts.with_inverses(predicates)
    rows = np.unique(np.stack([both.subject, both.object, both.predicate]), axis=1)
    subject, other, predicate = rows
    first_of_pair = np.ones(len(subject), dtype=bool)
    first_of_pair[1:] = (np.diff(subject) != 0) | (np.diff(other) != 0)
    objects, count = np.unique(np.stack([predicate, other]), axis=1, return_counts=True)
    return BackgroundLists(
        predicates=predicates,
        node=offsets_of(subject, entities),
        other=other.astype(np.int32),
        predicate=predicate.astype(np.int32),
        partners=np.bincount(subject[first_of_pair], minlength=entities).astype(np.int32),
        objects=offsets_of(objects[0], 2 * predicates),
        object=np.ascontiguousarray(objects[1]).astype(np.int32),
        object_count=count.astype(np.int32),
    )


def background_rules(lists: BackgroundLists, events: EventLists, support: int) -> BackgroundRules:
    """Return the rules that at least `support` pairs have met: the fact without a time, and the event."""
    every, entities = 2 * lists.predicates, len(lists.node) - 1
    subject = np.repeat(np.arange(entities), np.diff(events.node))  # (pairs,)
    pair = subject * entities + events.other
    own = np.repeat(np.arange(entities), np.diff(lists.node)) * entities + lists.other  # (facts,)
    place = np.searchsorted(pair, own)
    met = np.flatnonzero(pair[np.minimum(place, len(pair) - 1)] == own) if len(pair) else np.empty(0, dtype=np.int64)
    place = place[met]
    heads = np.diff(events.pair)[place]  # predicates of the events of each pair
    group = np.arange(heads.sum()) + np.repeat(events.pair[place] - (np.cumsum(heads) - heads), heads)
    keys, count = np.unique(
        events.group_predicate[group].astype(np.int64) * every + np.repeat(lists.predicate[met], heads),
        return_counts=True,
    )
    kept = keys[count >= support]
    return BackgroundRules(offsets_of(kept // every, every), (kept % every).astype(np.int32))


def background_of(facts: Facts, learned: EventLists, support: int) -> Background | None:
    """Return the family of the facts without a time, nothing if there are none; `learned` are the events of train."""
    if not len(facts):
        return None
    lists = background_lists(facts, len(learned.node) - 1, learned.predicates)
    return Background(lists, background_rules(lists, learned, support))
