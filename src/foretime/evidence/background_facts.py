"""The facts without a time behind what they say of a candidate, for explanations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from foretime.data.facts import inverse
from foretime.evidence.background import BackgroundLists


class BackgroundFact(NamedTuple):
    """A fact without a time as ids; its predicate is never an inverse."""

    subject: int
    predicate: int
    object: int


def facts_between(lists: BackgroundLists, x: int, y: int) -> list[BackgroundFact]:
    """Return the facts between two entities, each once, as they were given."""
    own = slice(*lists.node[x : x + 2])
    rows = np.flatnonzero(lists.other[own] == y)
    found = (_as_given(lists, x, int(q), y) for q in lists.predicate[own][rows])
    return list(dict.fromkeys(found))


def facts_behind(
    lists: BackgroundLists, group: str, x: int, p: int, y: int, body: tuple[int, ...]
) -> Iterator[BackgroundFact]:
    """Yield the facts behind a feature of candidate y: those between the two, of others with y, or of a neighbour."""
    if group == "background_pair":
        yield _as_given(lists, x, body[0], y)
    elif group == "background_object":
        own = slice(*lists.node[y : y + 2])
        of_others = (lists.predicate[own] == inverse(p, lists.predicates)) & (lists.other[own] != x)
        for z in lists.other[own][of_others].tolist():
            yield _as_given(lists, z, p, y)
    else:
        yield from _around(lists, x, y)


def _around(lists: BackgroundLists, x: int, y: int) -> Iterator[BackgroundFact]:
    """Yield the facts of both with the neighbours that they share, and then those that only one has with any."""
    partners = [set(lists.other[slice(*lists.node[one : one + 2])].tolist()) - {x, y} for one in (x, y)]
    for z in sorted(partners[0] & partners[1]):
        yield from facts_between(lists, x, z)
        yield from facts_between(lists, z, y)
    for one, own in zip((x, y), partners, strict=True):
        for z in sorted(own - (partners[0] & partners[1])):
            yield from facts_between(lists, one, z)


def _as_given(lists: BackgroundLists, subject: int, predicate: int, object_: int) -> BackgroundFact:
    """Return a fact; one of an inverse predicate as it was given."""
    if predicate < lists.predicates:
        return BackgroundFact(subject, predicate, object_)
    return BackgroundFact(object_, inverse(predicate, lists.predicates), subject)
