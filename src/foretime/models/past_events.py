"""The latest events of an entity before a time, for models that read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.devices import fetch

Ids = NDArray[np.int64]


class LatestEvents(NamedTuple):
    """The latest events of the subject of each question, the newest first, (batch, count) each.

    `seen` says which of them there are: an entity may have had fewer.
    """

    other: Tensor
    predicate: Tensor
    age: Tensor
    seen: Tensor


class PastEvents(NamedTuple):
    """Events by the entity that they are about, each entity's sorted by time.

    `key` is entity · `steps` + time, so that all events together are sorted by it; `other` is whom the entity had the
    event with, `predicate` that of (other, predicate, entity), and `twin` the step of the other end of an interval.
    """

    steps: int
    key: Ids
    other: Ids
    predicate: Ids
    twin: Ids

    @classmethod
    def of(cls, first: Ids, time: Ids, other: Ids, predicate: Ids, twin: Ids) -> PastEvents:
        """Return the events of entity k at the places `first[k]` to `first[k + 1]` of the columns."""
        owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
        steps = int(time.max(initial=0)) + 1
        return cls(steps, owner * steps + time, other, predicate, twin)

    def latest(self, subject: Tensor, time: Tensor, count: int) -> LatestEvents:
        """Return so many events of each subject before its time, on the CPU.

        An interval that ends at that time may be the fact asked about, so its start is left out.
        """
        owner, asked = fetch(subject).numpy() * self.steps, fetch(time).numpy()
        begin, end = np.searchsorted(self.key, owner), np.searchsorted(self.key, owner + np.minimum(asked, self.steps))
        place = end[:, None] - 1 - np.arange(count)  # (batch, count)
        there = place >= begin[:, None]
        place = np.maximum(place, 0) if len(self.key) else np.zeros((len(owner), 0), dtype=np.int64)
        there = there[:, : place.shape[1]] & (self.twin[place] != asked[:, None])
        age = asked[:, None] - self.key[place] % self.steps
        columns = self.other[place], self.predicate[place], age, there
        return LatestEvents(*(torch.from_numpy(column) for column in columns))

    def renumbered(self, entities: Ids, predicates: Ids) -> PastEvents:
        """Return the events under other ids, without those of which an entity or a predicate has none (−1)."""
        owner, time = np.divmod(self.key, self.steps)
        owner, other, predicate = entities[owner], entities[self.other], predicates[self.predicate]
        kept = (owner >= 0) & (other >= 0) & (predicate >= 0)
        order = np.argsort(owner[kept], kind="stable")
        key = (owner * self.steps + time)[kept][order]
        return PastEvents(self.steps, key, other[kept][order], predicate[kept][order], self.twin[kept][order])


def no_events() -> PastEvents:
    """Return the past of a graph in which nothing has happened."""
    nothing = np.zeros(0, dtype=np.int64)
    return PastEvents.of(np.zeros(1, dtype=np.int64), nothing, nothing, nothing, nothing)
