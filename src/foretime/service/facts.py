"""Routes that look facts up: who did what with whom, when and how often."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Query
from pydantic import Field

from foretime.service.context import TheBackend, TheRun
from foretime.service.history import History, Ints, Selection, WhatAndWhen
from foretime.service.models import SPLITS, FactOut, NameOut, Paged, ResponseBody, Split
from foretime.service.problems import ERRORS
from foretime.service.settings import API, MOST_BINS, MOST_FACTS, NAME_LENGTH

PREDICATES_OF_TIMELINE, PREDICATES_OF_NEIGHBOUR = 20, 5
router = APIRouter(prefix=f"{API}/runs/{{run}}", responses=ERRORS, tags=["facts"])


class FactsIn(Selection, Paged):
    """A page of facts."""

    order: Literal["earliest", "latest"] = "earliest"
    limit: int = Field(default=50, ge=1, le=MOST_FACTS, description="How many to return.")


class TimelineIn(Selection):
    """Facts counted by time."""

    bins: int = Field(default=60, ge=1, le=MOST_BINS, description="How many bins at most.")


class NeighboursIn(WhatAndWhen, Paged):
    """The neighbours of an entity."""

    entity: str = Field(min_length=1, max_length=NAME_LENGTH, description="Who.")


class SplitFactOut(FactOut):
    """A fact and the split it is in."""

    split: Split


class FactsOut(ResponseBody):
    """A page of facts."""

    total: int
    facts: list[SplitFactOut]


class BinOut(ResponseBody):
    """How many facts begin between two times, both included."""

    start: str
    end: str
    facts: int


class TimelineOut(ResponseBody):
    """Facts counted by time, by predicate and by split."""

    total: int
    bins: list[BinOut]
    predicates: list[NameOut]
    splits: dict[Split, int]
    attributes: dict[str, list[str]] = Field(
        description="What is known of the entity beside its facts, such as its type."
    )


class NeighbourOut(ResponseBody):
    """A neighbour of an entity: another entity that it shares facts with."""

    name: str
    facts: int
    as_subject: int = Field(description="In how many of the facts the entity asked about is the subject.")
    as_object: int = Field(description="In how many of the facts the entity asked about is the object.")
    first: str
    last: str
    predicates: list[NameOut]


class NeighboursOut(ResponseBody):
    """A page of the neighbours of an entity, the most frequent first."""

    entity: str
    attributes: dict[str, list[str]] = Field(
        description="What is known of the entity beside its facts, such as its type."
    )
    total: int
    neighbours: list[NeighbourOut]


@router.get("/facts")
async def facts(run: TheRun, backend: TheBackend, asked: Annotated[FactsIn, Query()]) -> FactsOut:
    """List the facts of an entity, or between two, by time."""
    return await backend.look_up("facts", facts_page, run.index, asked)


@router.get("/timeline")
async def timeline(run: TheRun, backend: TheBackend, asked: Annotated[TimelineIn, Query()]) -> TimelineOut:
    """Count facts by time."""
    return await backend.look_up("facts", count_by_time, run.index, asked)


@router.get("/neighbours")
async def neighbours(run: TheRun, backend: TheBackend, asked: Annotated[NeighboursIn, Query()]) -> NeighboursOut:
    """List the neighbours of an entity."""
    return await backend.look_up("facts", neighbours_page, run.index, asked)


def facts_page(history: History, asked: FactsIn) -> FactsOut:
    """Return a page of facts."""
    rows = history.select(asked)
    ordered = rows if asked.order == "earliest" else rows[::-1]
    page = ordered[asked.offset : asked.offset + asked.limit].tolist()
    found = [SplitFactOut(**history.labels(row), split=SPLITS[history.split[row]]) for row in page]
    return FactsOut(total=len(rows), facts=found)


def count_by_time(history: History, asked: TimelineIn) -> TimelineOut:
    """Return how many facts begin when, in bins of equal length."""
    rows = history.select(asked)
    first, last = history.span(asked)
    width = -(-(last - first + 1) // asked.bins)
    bins = -(-(last - first + 1) // width)
    counts = np.bincount((np.maximum(history.begin[rows], first) - first) // width, minlength=bins)
    label, starts = history.graph.timeline.label, range(first, last + 1, width)
    return TimelineOut(
        total=len(rows),
        bins=[
            BinOut(start=label(start), end=label(min(start + width - 1, last)), facts=count)
            for start, count in zip(starts, counts.tolist(), strict=True)
        ],
        predicates=history.frequent_predicates(rows, PREDICATES_OF_TIMELINE),
        splits={
            split: int((history.split[rows] == k).sum()) for k, split in enumerate(SPLITS[: len(history.graph.splits)])
        },
        attributes=history.attributes(asked.entity),
    )


def neighbours_page(history: History, asked: NeighboursIn) -> NeighboursOut:
    """Return the neighbours of an entity, the most frequent first."""
    entity = history.entities.id(asked.entity)
    rows = history.select(Selection(**asked.model_dump(exclude={"limit", "offset"})))
    as_subject = history.facts.subject[rows] == entity
    others = np.where(as_subject, history.facts.object[rows], history.facts.subject[rows])
    found, count = np.unique(others, return_counts=True)
    page = found[np.argsort(-count, kind="stable")][asked.offset : asked.offset + asked.limit].tolist()
    shown = [_neighbour(history, other, rows[others == other], entity) for other in page]
    name, known = history.graph.entities.name(entity), history.attributes(asked.entity)
    return NeighboursOut(entity=name, attributes=known, total=len(found), neighbours=shown)


def _neighbour(history: History, other: int, rows: Ints, entity: int) -> NeighbourOut:
    label, as_subject = history.graph.timeline.label, int((history.facts.subject[rows] == entity).sum())
    return NeighbourOut(
        name=history.graph.entities.name(other),
        facts=len(rows),
        as_subject=as_subject,
        as_object=len(rows) - as_subject,
        first=label(int(history.begin[rows].min())),
        last=label(int(history.end[rows].max())),
        predicates=history.frequent_predicates(rows, PREDICATES_OF_NEIGHBOUR),
    )
