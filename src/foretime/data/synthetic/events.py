"""Events as integer columns, and those that nothing explains: the background, the summits and the fillers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Ids
from foretime.data.synthetic.schema import ORGANISATION, PredicateRow
from foretime.data.synthetic.society import Society
from foretime.errors import DataError

ATTENDANTS = 5
ROUNDS = 30
WEEK = np.array([1.1, 1.2, 1.2, 1.2, 1.1, 0.7, 0.5])
"""How busy the days of a week are; the first day of a world is a Monday."""


class Pairs(NamedTuple):
    """The events of one predicate; each column is (events,)."""

    subject: Ids
    object: Ids
    day: Ids

    def take(self, rows: NDArray[np.bool_] | Ids) -> Pairs:
        """Return the chosen rows."""
        return Pairs(*(column[rows] for column in self))


class Scale(NamedTuple):
    """What turns an event into one number and back: how many entities and days there are."""

    entities: int
    days: int

    def pair_key(self, subject: Ids, object_: Ids) -> Ids:
        """Return one number for each pair."""
        return subject * self.entities + object_

    def key(self, pairs: Pairs) -> Ids:
        """Return one number for each event of a predicate; in its order, the events of a pair are neighbours."""
        return self.pair_key(pairs.subject, pairs.object) * self.days + pairs.day

    def pairs(self, key: Ids) -> Pairs:
        """Return the events of such numbers."""
        pair, day = np.divmod(key, self.days)
        subject, object_ = np.divmod(pair, self.entities)
        return Pairs(subject, object_, day)


def draw_events(row: PredicateRow, count: int, society: Society, scale: Scale, rng: np.random.Generator) -> Pairs:
    """Return up to `count` different events of a predicate, sorted: fewer where the same one was drawn twice."""
    actors, weight = society.actors(row.subjects)
    subject = rng.choice(actors, size=count, p=weight)
    day = _draw_days(count, scale.days, rng)
    other = society.draw_others(row, subject, day, rng)
    return scale.pairs(np.unique(scale.key(Pairs(subject, other, day))))


def space_out(pairs: Pairs, window: int, scale: Scale) -> Pairs:
    """Return sorted events without those that come less than `window` days after or before another of their pair.

    So no event lies in the window that another one of the pair opens, and every window is a trial of its own. The days
    of a pair are cut into cells of `window` days: the first event of a cell stays, and one in an odd cell goes if its
    neighbour is too close.
    """
    cell = scale.pair_key(pairs.subject, pairs.object) * scale.days + pairs.day // window
    pairs = pairs.take(np.diff(cell, prepend=-1) != 0)
    pair = scale.pair_key(pairs.subject, pairs.object)
    close = (np.diff(pair) == 0) & (np.diff(pairs.day) < window)
    crowded = np.append(close, False) | np.append(False, close)
    return pairs.take(~(crowded & (pairs.day // window % 2 == 1)))


def hold_summits(count: int, society: Society, scale: Scale, rng: np.random.Generator) -> dict[str, Pairs]:
    """Return the events of summits: one member hosts, some attend, and one that stayed away is promised support."""
    actors, weight = society.actors((ORGANISATION,))
    organisation = rng.choice(len(actors), size=count, p=weight)
    meeting = np.unique(organisation * scale.days + _draw_days(count, scale.days, rng))
    organisation, day = np.divmod(meeting, scale.days)
    members = rng.permuted(society.members(organisation), axis=1)  # (summits, members)
    attendants = min(ATTENDANTS, members.shape[1] - 2)
    host, absent, present = members[:, 0], members[:, 1], members[:, 2 : 2 + attendants]
    place = actors[organisation]
    return {
        "Host summit of": Pairs(host, place, day),
        "Pledge support to": Pairs(place, absent, day),
        "Attend summit of": Pairs(present.ravel(), np.repeat(place, attendants), np.repeat(day, attendants)),
    }


def fill_up(
    rows: list[PredicateRow], count: int, society: Society, scale: Scale, rng: np.random.Generator
) -> dict[str, Pairs]:
    """Return exactly `count` different events of some predicates, by their weights."""
    weight = np.array([row.share for row in rows])
    wanted = rng.multinomial(count, weight / weight.sum())
    return {row.name: _fill(row, int(n), society, scale, rng) for row, n in zip(rows, wanted, strict=True)}


def _fill(row: PredicateRow, count: int, society: Society, scale: Scale, rng: np.random.Generator) -> Pairs:
    keys = np.empty(0, dtype=np.int64)
    for _ in range(ROUNDS):
        if len(keys) >= count:
            return scale.pairs(np.sort(rng.permutation(keys)[:count]))
        drawn = draw_events(row, int(1.2 * (count - len(keys))) + 10, society, scale, rng)
        keys = np.union1d(keys, scale.key(drawn))
    raise DataError(f"{scale.days} days are too few for so many events; ask for more days or fewer events")


def _draw_days(count: int, days: int, rng: np.random.Generator) -> Ids:
    weight = np.resize(WEEK, days)
    return rng.choice(days, size=count, p=weight / weight.sum())
