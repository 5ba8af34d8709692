"""Worlds whose numbers of events and of entities are chosen apart, with the hubs that real graphs have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PREDICATES, FAVOURITES = 40, 8
ACTIVITY, HABIT = 0.8, 1.2
"""Exponents of Zipf's law: of how often entities act, and of whom each of them acts with."""
KNOWN_PARTNER, USUAL_PREDICATE, REPEATED = 0.7, 0.5, 0.3
"""The shares of events with a favourite partner, with the usual predicate of a pair, and that happened before."""
USUAL_EVENTS, USUAL_DAYS, DAYS_GROW, MOST_DAYS = 20_000, 365, 0.385, 4_000
ROWS = 100_000
"""Rows that are turned into text at a time."""
Ids = NDArray[np.int64]


def write_world(folder: Path, events: int, entities: int, asked: int, seed: int = 0) -> None:
    """Write train, valid and test of a world; `asked` facts are in valid, and as many in test.

    Every entity occurs if there are at least half as many events. An event that was drawn twice is there once.
    """
    rng = np.random.default_rng([seed, events, entities])
    columns = _draw(events, entities, rng)
    columns = columns[:, rng.permutation(columns.shape[1])]
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (
        ("valid", columns[:, :asked]), ("test", columns[:, asked : 2 * asked]), ("train", columns[:, 2 * asked :])
    ):  # fmt: skip
        _write(folder / f"{name}.tsv", rows)


def _draw(events: int, entities: int, rng: np.random.Generator) -> Ids:
    """Return the distinct events, (4, events): subject, predicate, object, day."""
    days = min(MOST_DAYS, round(USUAL_DAYS * (max(events, USUAL_EVENTS) / USUAL_EVENTS) ** DAYS_GROW))
    activity = rng.permutation(_zipf(entities, ACTIVITY))
    favourites = rng.choice(entities, size=(entities, FAVOURITES), p=activity)
    subject = rng.choice(entities, size=events, p=activity)
    place = rng.choice(FAVOURITES, size=events, p=_zipf(FAVOURITES, HABIT))
    stranger = rng.choice(entities, size=events, p=activity)
    object_ = np.where(rng.random(events) < KNOWN_PARTNER, favourites[subject, place], stranger)
    everybody = rng.permutation(entities)[: 2 * min(events, entities // 2)].reshape(2, -1)
    subject[: everybody.shape[1]], object_[: everybody.shape[1]] = everybody
    object_ = np.where(object_ == subject, (subject + 1) % entities, object_)
    often = _zipf(PREDICATES, 1.0)
    usual = rng.choice(PREDICATES, size=4096, p=often)[(subject * 31 + object_ * 17) % 4096]
    predicate = np.where(rng.random(events) < USUAL_PREDICATE, usual, rng.choice(PREDICATES, size=events, p=often))
    day = rng.integers(days, size=events)
    again = np.flatnonzero(rng.random(events) < REPEATED)
    again = again[again >= everybody.shape[1]]
    earlier = rng.integers(events, size=len(again))
    subject[again], predicate[again], object_[again] = subject[earlier], predicate[earlier], object_[earlier]
    day[again] = (day[earlier] + rng.integers(1, 11, size=len(again))) % days
    return _distinct(np.stack([subject, predicate, object_, day]))


def _distinct(columns: Ids) -> Ids:
    order = np.lexsort(columns)
    ordered = columns[:, order]
    new = np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0))
    return ordered[:, new]


def _write(path: Path, columns: Ids) -> None:
    first = np.datetime64("2010-01-01")
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for begin in range(0, columns.shape[1], ROWS):
            subject, predicate, object_, day = columns[:, begin : begin + ROWS]
            rows = zip(subject.tolist(), predicate.tolist(), object_.tolist(), (first + day).astype(str), strict=True)
            file.writelines(f"entity {s}\tpredicate {p}\tentity {o}\t{t}\n" for s, p, o, t in rows)


def _zipf(count: int, exponent: float) -> NDArray[np.float64]:
    weight = np.arange(1, count + 1) ** -exponent
    return np.asarray(weight / weight.sum())
