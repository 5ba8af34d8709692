"""The states, people and groups of a world, how active each is, and who stands by whom in each era."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Ids
from foretime.data.synthetic.language import name_states, name_type
from foretime.data.synthetic.schema import ORGANISATION, PER_STATE, PredicateRow

Weights = NDArray[np.float64]

ERA_DAYS = 75
STATES_PER_ORGANISATION = 4
MEMBERS = 12
PARTNER_WEIGHTS = np.array([0.55, 0.25, 0.13, 0.07])
CHANGE = 0.7
"""The share of partners that a new era replaces."""
STRAY = 0.1
"""The share of events with a state that is no partner of that era."""


@dataclass(frozen=True)
class Society:
    """Everybody in the world. Ids of one type are consecutive, and so are those of one state within a type."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    first: dict[str, int]
    """The first id of each type."""
    states: int
    state_of: Ids
    """The state of each entity, (entities,); for an organisation the first of its members."""
    activity: Weights
    """How often each entity acts, (entities,), not normalised."""
    partners: dict[str, Ids]
    """By `ally` and `rival`: the partners of each state in each era, the closest first, (eras, states, partners)."""

    @property
    def organisations(self) -> int:
        """How many organisations there are."""
        return self.states // STATES_PER_ORGANISATION

    def actors(self, kinds: tuple[str, ...]) -> tuple[Ids, Weights]:
        """Return the ids of the entities of some types, and how likely each is to act."""
        ids = np.concatenate([np.arange(self.first[kind], self.first[kind] + self._count(kind)) for kind in kinds])
        weight = self.activity[ids]
        return ids, weight / weight.sum()

    def members(self, organisation: Ids) -> Ids:
        """Return the members of organisations counted from 0: a run of neighbours, (organisations, members)."""
        run = np.arange(min(MEMBERS, self.states))
        return (organisation[:, None] * STATES_PER_ORGANISATION + run) % self.states

    def draw_others(self, row: PredicateRow, subject: Ids, day: Ids, rng: np.random.Generator) -> Ids:
        """Return whom each subject does it to on that day, by the tie and the object types of the predicate."""
        home = self.state_of[subject]
        if row.tie == "member":
            return self._organisation(home, rng)
        state = home if row.tie == "own" else self._partner(row.tie, home, day, rng)
        kind = rng.integers(len(row.objects), size=len(subject))
        other = np.empty_like(subject)
        for i, name in enumerate(row.objects):
            chosen = kind == i
            other[chosen] = self._entity(name, state[chosen], subject[chosen], rng)
        return other

    def _count(self, kind: str) -> int:
        return self.organisations if kind == ORGANISATION else self.states * PER_STATE[kind]

    def _partner(self, tie: str, home: Ids, day: Ids, rng: np.random.Generator) -> Ids:
        place = rng.choice(len(PARTNER_WEIGHTS), size=len(home), p=PARTNER_WEIGHTS)
        partner = self.partners[tie][day // ERA_DAYS, home, place]
        stray = rng.random(len(home)) < STRAY
        partner[stray] = draw_foreign(home[stray], self.activity[: self.states], rng)
        return partner

    def _organisation(self, home: Ids, rng: np.random.Generator) -> Ids:
        back = rng.integers(min(3, self.organisations), size=len(home))
        return self.first[ORGANISATION] + (home // STATES_PER_ORGANISATION - back) % self.organisations

    def _entity(self, kind: str, state: Ids, subject: Ids, rng: np.random.Generator) -> Ids:
        count = PER_STATE[kind]
        # Each subject has its own favourite among the entities of that type in a state.
        place = (subject + rng.choice(count, size=len(state), p=_zipf(count, 1.5))) % count
        return self.first[kind] + state * count + place


def found_society(states: int, eras: int, rng: np.random.Generator) -> Society:
    """Return a society of so many states, a multiple of four, with ties for each era."""
    names: list[str] = []
    types: list[str] = []
    first: dict[str, int] = {}
    state_of: list[Ids] = []
    activity: list[Weights] = []
    state_names = name_states(states, rng)
    state_activity = rng.permutation(_zipf(states, 0.8))
    for kind in (*PER_STATE, ORGANISATION):
        first[kind] = len(names)
        named = name_type(kind, state_names, rng)
        per_state = PER_STATE.get(kind, 1)
        home = np.arange(len(named)) // per_state * (STATES_PER_ORGANISATION if kind == ORGANISATION else 1)
        names += named
        types += [kind] * len(named)
        state_of.append(home)
        activity.append(state_activity[home] / (1 + np.arange(len(named)) % per_state))
    partners = {tie: _form_partners(eras, state_activity, rng) for tie in ("ally", "rival")}
    return Society(
        tuple(names), tuple(types), first, states, np.concatenate(state_of), np.concatenate(activity), partners
    )


def draw_foreign(home: Ids, state_activity: Weights, rng: np.random.Generator) -> Ids:
    """Return for each state another one: the more active, the more likely."""
    states = len(state_activity)
    other = rng.choice(states, size=home.shape, p=state_activity / state_activity.sum())
    return np.where(other == home, (home + 1) % states, other)


def _form_partners(eras: int, state_activity: Weights, rng: np.random.Generator) -> Ids:
    states, places = len(state_activity), len(PARTNER_WEIGHTS)
    home = np.repeat(np.arange(states), places).reshape(states, places)
    partners = np.empty((eras, states, places), dtype=np.int64)
    for era in range(eras):
        neighbour = (home + rng.choice([-3, -2, -1, 1, 2, 3], size=home.shape)) % states
        drawn = np.where(rng.random(home.shape) < 0.5, neighbour, draw_foreign(home, state_activity, rng))
        changed = rng.random(home.shape) < (CHANGE if era else 1.0)
        partners[era] = np.where(changed, drawn, partners[era - 1])
    return partners


def _zipf(count: int, exponent: float) -> Weights:
    weight = np.arange(1, count + 1) ** -exponent
    return np.asarray(weight / weight.sum())
