"""Static rules: all closed rules of the graph without time, with the measures that AMIE defines.

Support is the number of distinct (x, y) with body and head, head coverage its share of the head's pairs, standard
confidence its share of the body's pairs, PCA confidence its share of those body pairs of which the head is known with
anyone on its more functional side. Variables may stand for the same entity. A rule whose body holds its own head atom,
`head(x, y) ⇐ head(x, y) …`, is dropped; a path through the head's predicate is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numba
import numpy as np
from numpy.typing import NDArray

from foretime.config import RulesConfig
from foretime.data.facts import Facts, inverse
from foretime.errors import DataError
from foretime.rules import static_kernels as kernels
from foretime.rules.index import EventIndex, event_index
from foretime.rules.rule import STATIC
from foretime.rules.table import Rules, join

MEMORY = 1 << 30
"""Bytes that the dense counts may take: heads are counted in blocks that fit."""
TABLES = 4 << 30
"""Bytes that the tables over all bodies of two atoms may take in all."""
BYTES, BYTES_OF_THREAD = 32, 24
"""What one body of two atoms takes in these tables: once, and again in each thread."""


@dataclass(frozen=True)
class _StaticGraph:
    """The distinct triples of a graph, as events of one step, and what every measure needs of them."""

    index: EventIndex
    entities: int
    predicates: int

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """How many pairs each predicate and inverse has, (2·predicates,)."""
        return np.bincount(self.index.predicate, minlength=2 * self.predicates)

    @cached_property
    def subject(self) -> NDArray[np.int64]:
        """The subject of each triple, (triples,); `index.around_other` is the other end."""
        return np.repeat(np.arange(self.entities), np.diff(self.index.around))

    @cached_property
    def subject_has(self) -> NDArray[np.bool_]:
        """Which predicates and inverses each entity is a subject of, (entities, 2·predicates)."""
        has = np.zeros((self.entities, 2 * self.predicates), dtype=bool)
        has[self.subject, self.index.predicate] = True
        return has

    @cached_property
    def by_subject(self) -> NDArray[np.bool_]:
        """Whether each predicate's subject determines its object better than the other way, (predicates,)."""
        forward, backward = np.split(self.subject_has.sum(axis=0), 2)
        return np.asarray(forward >= backward)


def mine_static(facts: Facts, entities: int, predicates: int, limits: RulesConfig) -> Rules:
    """Return the static rules of length 1, the conjunctions on one pair and the paths that reach the thresholds."""
    _check_memory(predicates)
    at_once = np.zeros_like(facts.start)
    timeless = replace(facts, start=at_once, end=at_once)
    graph = _StaticGraph(event_index(timeless, entities, predicates, steps=1), entities, predicates)
    found = join([_singles(graph), _conjunctions(graph, limits), _paths(graph, limits)])
    return found.take(
        (found.support >= limits.static_support)
        & (found.head_coverage >= limits.static_head_coverage)
        & (found.confidence >= limits.static_confidence)
        & (found.pca_confidence >= limits.static_pca_confidence)
    )


def _check_memory(predicates: int) -> None:
    """Raise `DataError` if there are so many predicates that the bodies of two atoms cannot be counted."""
    needed = (2 * predicates) ** 2 * (BYTES + BYTES_OF_THREAD * numba.get_num_threads())
    if needed > TABLES:
        raise DataError(
            f"the graph has {predicates:,} predicates: counting all pairs of them takes {needed / (1 << 30):,.1f} GB, "
            f"more than {TABLES >> 30} GB; map rare predicates together, mine a part of the predicates, or use fewer "
            "threads (NUMBA_NUM_THREADS=1)"
        )


def _singles(graph: _StaticGraph) -> Rules:
    """Return every rule of length 1 with at least one grounding."""
    index, count = graph.index, graph.predicates
    support = kernels.count_singles(index.pair, index.predicate, count)
    support[np.arange(count), np.arange(count)] = 0
    head, first = np.nonzero(support)
    partial = np.where(
        graph.by_subject[head], *(_known_pairs(graph, side)[head, first] for side in ("subject", "object"))
    )
    table = Rules.of_kind(STATIC, "pair", head, first)
    return _measured(table, graph, support[head, first], graph.pairs[first], partial)


def _known_pairs(graph: _StaticGraph, side: str) -> NDArray[np.int64]:
    """Return how many pairs of each body predicate have, on one side, an entity with the head: (heads, bodies)."""
    index, count = graph.index, graph.predicates
    entity, offset = (graph.subject, 0) if side == "subject" else (graph.index.around_other, count)
    by_predicate = np.split(entity[np.argsort(index.predicate, kind="stable")], np.cumsum(graph.pairs)[:-1])
    return np.stack([graph.subject_has[rows, offset : offset + count].sum(axis=0) for rows in by_predicate], axis=1)


def _conjunctions(graph: _StaticGraph, limits: RulesConfig) -> Rules:
    index, predicates = graph.index, graph.predicates

    def count(first: int, last: int, threads: int) -> NDArray[np.int32]:
        return kernels.count_conjunctions(index.pair, index.predicate, predicates, first, last, threads)  # type: ignore[no-any-return]

    head, body, support = _candidates(graph, limits, count)
    bodies, partial = kernels.count_conjunction_bodies(
        index.node, index.other, index.pair, index.predicate, predicates, _groups(body, predicates), head,
        graph.subject_has, graph.by_subject[head],
    )  # fmt: skip
    table = Rules.of_kind(STATIC, "pair", head, *np.divmod(body, 2 * predicates))
    return _measured(table, graph, support, bodies[body], partial)


def _paths(graph: _StaticGraph, limits: RulesConfig) -> Rules:
    index, predicates, threads = graph.index, graph.predicates, numba.get_num_threads()

    def count(first: int, last: int, threads: int) -> NDArray[np.int32]:
        arrays = index.node, index.other, index.pair, index.predicate
        return kernels.count_paths(*arrays, predicates, first, last, threads)  # type: ignore[no-any-return]

    head, body, support = _candidates(graph, limits, count)
    first, second = np.divmod(body, 2 * predicates)
    # where the object determines the subject, the mirrored rule is counted: its subject is our object
    straight, mirrored = (
        graph.by_subject[head],
        inverse(second, predicates) * 2 * predicates + inverse(first, predicates),
    )
    body_seen, head_seen = np.where(straight, body, mirrored), np.where(straight, head, head + predicates)
    order = np.argsort(body_seen, kind="stable")
    wanted = np.zeros(4 * predicates**2, dtype=bool)
    wanted[body] = wanted[body_seen] = True
    bodies, partial = kernels.count_path_bodies(
        *_edges(graph), graph.entities, predicates, wanted, _groups(body_seen[order], predicates),
        head_seen[order], order, graph.subject_has, threads, len(head),
    )  # fmt: skip
    table = Rules.of_kind(STATIC, "path", head, first, second)
    return _measured(table, graph, support, bodies.sum(axis=0)[body], partial.sum(axis=0))


def _candidates(
    graph: _StaticGraph, limits: RulesConfig, count: Callable[[int, int, int], NDArray[np.int32]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return head, body and support of the rules that reach support and head coverage, sorted by body."""
    width, threads = 2 * graph.predicates, numba.get_num_threads()
    block = max(1, min(graph.predicates, MEMORY // (4 * width * width * threads)))
    needed = np.maximum(
        max(1, limits.static_support), np.ceil(limits.static_head_coverage * graph.pairs[: graph.predicates] - 1e-9)
    )
    found = []
    for first in range(0, graph.predicates, block):
        last = min(first + block, graph.predicates)
        support, *others = count(first, last, threads)
        for other in others:
            support += other
        body, head = np.nonzero(support >= needed[first:last])
        found.append((head + first, body, support[body, head].astype(np.int64)))
    columns = [np.concatenate(column).astype(np.int64) for column in zip(*found, strict=True)]
    order = np.lexsort(columns[:2])
    return columns[0][order], columns[1][order], columns[2][order]


def _groups(body: NDArray[np.int64], predicates: int) -> NDArray[np.int64]:
    """Return where the rules of each body begin, for rules sorted by body."""
    return np.searchsorted(body, np.arange(4 * predicates**2 + 1))


def _edges(graph: _StaticGraph) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the objects of each (subject, predicate), and where they begin."""
    width = 2 * graph.predicates
    key = graph.subject * width + graph.index.predicate
    order = np.argsort(key, kind="stable")
    return np.searchsorted(key[order], np.arange(graph.entities * width + 1)), graph.index.around_other[order]


def _measured(
    table: Rules, graph: _StaticGraph, support: NDArray[np.int64], bodies: NDArray[np.int64], partial: NDArray[np.int64]
) -> Rules:
    return replace(
        table,
        support=support.astype(float),
        head_support=support.astype(float),
        body_count=bodies.astype(float),
        head_count=graph.pairs[table.head].astype(float),
        pca_body=partial.astype(float),
    )
