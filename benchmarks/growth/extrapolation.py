"""What a stage would cost on a larger graph: by its measured exponents, and by the arrays that it must hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from foretime.evaluation.ranks import questions_at_once
from foretime.evidence.walk import RUNS

Row = dict[str, Any]
GB = 1e9
OF_ALL_EVENTS = ("read", "mine", "index", "train")
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
    Array("train", "scratch of the walks: 33 bytes for each entity and run", lambda g: 33 * g.entities * RUNS),
    Array(
        "rank", "scores of the questions that are asked together, in about ten matrices",
        lambda g: 40 * g.entities * questions_at_once(int(g.entities)),
    ),
)  # fmt: skip


def extrapolated(rows: list[Row], slopes: list[Row], stage: str, graph: Graph) -> Row | None:
    """Return the processor's hours and the memory of a stage, by the exponents from the largest size measured."""
    done = [row for row in rows if row["stage"] == stage and row["status"] == "done"]
    exponents = {over: exponent(slopes, stage, over) for over in ("events", "entities")}
    if not done or None in exponents.values():
        return None
    base = max(done, key=lambda row: (row["events"], row["entities"]))
    found = {}
    for measure, value in (("whole_seconds", base["whole_seconds"]), ("own_mb", base["memory_mb"] - base["empty_mb"])):
        by_events, by_entities = (max(0.0, exponents[over][measure]) for over in ("events", "entities"))  # type: ignore[index]
        by_events = max(by_events, 1.0 if stage in OF_ALL_EVENTS else 0.0)
        grown = (graph.events / base["events"]) ** by_events * (graph.entities / base["entities"]) ** by_entities
        found[measure] = max(value, 1e-3) * grown
    return {"hours": found["whole_seconds"] / 3600, "gb": found["own_mb"] / 1000}


def exponent(slopes: list[Row], stage: str, over: str) -> dict[str, float] | None:
    """Return the exponents of time and memory that a stage has between the two largest sizes, where most else is fixed."""
    fixed = "entities" if over == "events" else "events"
    found = [row for row in slopes if (row["stage"], row["over"]) == (stage, over)]
    if not found:
        return None
    last = max(found, key=lambda row: (row["to"], row[fixed]))
    return {measure: last[measure]["last"] for measure in ("whole_seconds", "own_mb")}
