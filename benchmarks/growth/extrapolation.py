"""What a stage would cost on a larger graph: by its measured exponents, and by the arrays that it must hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from foretime.evaluation.ranks import questions_at_once
from foretime.evidence.walk import RUNS

Row = dict[str, Any]
GB = 1e9
OVER = ("events", "entities")
OF_ALL_EVENTS = ("read", "mine", "index")
"""Stages that go through all events: they grow at least in proportion, whatever small sizes seem to say."""


class Graph(NamedTuple):
    """The sizes of a graph that is not there."""

    events: float
    entities: float
    predicates: int = 250


class Array(NamedTuple):
    """Something that a stage holds in one piece today: its size by the sizes of the graph, in bytes."""

    stage: str
    what: str
    size: Callable[[Graph], float]


ARRAYS = (
    Array("mine", "where the objects of each entity and predicate begin: 8 bytes each", lambda g: 16 * g.entities * g.predicates),
    Array("mine", "which predicates each entity has: a byte each", lambda g: 2 * g.entities * g.predicates),
    Array("mine", "events in two orders, with their inverses: 40 bytes an event", lambda g: 40 * g.events),
    Array("read", "the columns of facts: 40 bytes each, 32 where start is end", lambda g: 40 * g.events),
    Array("train", "scratch of the walks: 41 bytes for each entity and run", lambda g: 41 * g.entities * RUNS),
    Array(
        "rank", "scores of the questions that are asked together, in about ten matrices",
        lambda g: 40 * g.entities * questions_at_once(int(g.entities)),
    ),
)  # fmt: skip


def extrapolated(rows: list[Row], slopes: list[Row], stage: str, graph: Graph) -> Row | None:
    """Return the processor's hours and the memory of a stage, from the largest size measured.

    Time follows both exponents. Memory is a sum, of so many bytes for each event and so many for each entity.
    """
    done = [row for row in rows if row["stage"] == stage and row["status"] == "done"]
    exponents = [exponent(slopes, stage, over) for over in OVER]
    each = [bytes_for_each(done, over) for over in OVER]
    if None in exponents or None in each:
        return None
    base = max(done, key=lambda row: (row["events"], row["entities"]))
    by_events, by_entities = (max(0.0, found["whole_seconds"]) for found in exponents)  # type: ignore[index]
    by_events = max(by_events, 1.0 if stage in OF_ALL_EVENTS else 0.0)
    grown = (graph.events / base["events"]) ** by_events * (graph.entities / base["entities"]) ** by_entities
    more = ((graph.events - base["events"]) * each[0], (graph.entities - base["entities"]) * each[1])  # type: ignore[operator]
    own = (base["memory_mb"] - base["empty_mb"]) * 1e6 + sum(more)
    return {"hours": base["whole_seconds"] * grown / 3600, "gb": own / GB}


def bytes_for_each(done: list[Row], over: str) -> float | None:
    """Return how much more memory a stage takes for each event, or entity, between the two largest sizes."""
    fixed = "entities" if over == "events" else "events"
    pairs = [
        (less, more)
        for less in done
        for more in done
        if less[fixed] == more[fixed] and less[over] < more[over]
    ]  # fmt: skip
    if not pairs:
        return None
    less, more = max(pairs, key=lambda pair: (pair[1][over], pair[0][over]))
    own = (more["memory_mb"] - more["empty_mb"]) - (less["memory_mb"] - less["empty_mb"])
    return max(0.0, own * 1e6 / (more[over] - less[over]))


def exponent(slopes: list[Row], stage: str, over: str) -> Row | None:
    """Return the exponents of time and memory that a stage has between the two largest sizes, where most else is fixed."""
    fixed = "entities" if over == "events" else "events"
    found = [row for row in slopes if (row["stage"], row["over"]) == (stage, over)]
    if not found:
        return None
    last = max(found, key=lambda row: (row["to"], row[fixed]))
    return {measure: last[measure]["last"] for measure in ("whole_seconds", "own_mb")}
