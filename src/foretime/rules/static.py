"""Static rules: all closed rules of the graph without time, with the measures that AMIE defines.

Support is the number of distinct (x, y) with body and head, head coverage its share of the head's pairs, standard
confidence its share of the body's pairs, PCA confidence its share of those body pairs of which the head is known with
anyone on its more functional side. Variables may stand for the same entity. A rule whose body holds its own head atom,
`head(x, y) ⇐ head(x, y) …`, is dropped; a path through the head's predicate is not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numba
import numpy as np
from numpy.typing import NDArray

from foretime.config import RulesConfig
from foretime.data.facts import Facts
from foretime.errors import DataError
from foretime.rules import static_kernels as kernels
from foretime.rules.index import StaticIndex, static_index
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
    """The index of a graph and what every measure needs of it."""

    index: StaticIndex
    entities: int
    pairs: NDArray[np.int64]
    """How many pairs each predicate and inverse has, (2·predicates,)."""
    subject_has: NDArray[np.bool_]
    """Which predicates and inverses each entity is a subject of, (entities, 2·predicates)."""
    subject: NDArray[np.int64]
    """The subject of each triple of the index, (triples,); `object` is the other end."""
    object: NDArray[np.int32]

    @property
    def predicates(self) -> int:
        return self.index.predicates

    def by_subject(self) -> NDArray[np.bool_]:
        """Return whether each predicate's subject determines its object better than the other way, (predicates,)."""
        subjects: NDArray[np.int64] = self.subject_has.sum(axis=0)
        better: NDArray[np.bool_] = subjects[: self.predicates] >= subjects[self.predicates :]
        return better


def mine_static(facts: Facts, entities: int, predicates: int, limits: RulesConfig) -> Rules:
    """Return the static rules of length 1, the conjunctions on one pair and the paths that reach the thresholds."""
    _check_memory(predicates)
    graph = _graph(facts, entities, predicates)
    return join(
        [_pass(rules, limits) for rules in (_singles(graph), _conjunctions(graph, limits), _paths(graph, limits))]
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


def _graph(facts: Facts, entities: int, predicates: int) -> _StaticGraph:
    index = static_index(facts, entities, predicates)
    pair_of = np.repeat(np.arange(len(index.pair) - 1), np.diff(index.pair))
    subject = np.repeat(np.arange(entities), np.diff(index.node))[pair_of]
    has = np.zeros((entities, 2 * predicates), dtype=bool)
    has[subject, index.predicate] = True
    pairs = np.bincount(index.predicate, minlength=2 * predicates)
    return _StaticGraph(index, entities, pairs, has, subject, index.other[pair_of])


def _singles(graph: _StaticGraph) -> Rules:
    """Return every rule of length 1 with at least one grounding."""
    index, count = graph.index, graph.predicates
    support = kernels.count_singles(index.pair, index.predicate, count)
    support[np.arange(count), np.arange(count)] = 0
    head, first = np.nonzero(support)
    partial = np.where(
        graph.by_subject()[head], *(_known_pairs(graph, side)[head, first] for side in ("subject", "object"))
    )
    table = Rules.of_kind(STATIC, "pair", head, first)
    return _measured(table, graph, support[head, first], graph.pairs[first], partial)


def _known_pairs(graph: _StaticGraph, side: str) -> NDArray[np.int64]:
    """Return how many pairs of each body predicate have, on one side, an entity with the head: (heads, bodies)."""
    index, count = graph.index, graph.predicates
    entity, offset = (graph.subject, 0) if side == "subject" else (graph.object, count)
    known = np.zeros((2 * count, count), dtype=np.int64)
    order = np.argsort(index.predicate, kind="stable")
    edges = np.searchsorted(index.predicate[order], np.arange(2 * count + 1))
    for body in range(2 * count):
        rows = entity[order[edges[body] : edges[body + 1]]]
        known[body] = graph.subject_has[rows, offset : offset + count].sum(axis=0)
    return known.T


def _conjunctions(graph: _StaticGraph, limits: RulesConfig) -> Rules:
    index = graph.index

    def count(first: int, last: int, threads: int) -> NDArray[np.int32]:
        return kernels.count_conjunctions(index.pair, index.predicate, graph.predicates, first, last, threads)  # type: ignore[no-any-return]

    head, body, support = _candidates(graph, limits, count)
    group = _groups(body, graph.predicates)
    by_subject = graph.by_subject()[head]
    bodies, partial = kernels.count_conjunction_bodies(
        index.node, index.other, index.pair, index.predicate, graph.predicates, group, head, graph.subject_has,
        by_subject,
    )  # fmt: skip
    return _measured(_two_atoms("pair", head, body, graph.predicates), graph, support, bodies[body], partial)


def _paths(graph: _StaticGraph, limits: RulesConfig) -> Rules:
    index, threads = graph.index, numba.get_num_threads()

    def count(first: int, last: int, threads: int) -> NDArray[np.int32]:
        return kernels.count_paths(  # type: ignore[no-any-return]
            index.node, index.other, index.pair, index.predicate, graph.predicates, first, last, threads
        )

    head, body, support = _candidates(graph, limits, count)
    edge, edge_other = _edges(graph)
    # where the object determines the subject, the mirrored rule is counted: its subject is our object
    body_seen, head_seen = _seen_from_its_functional_side(graph, head, body)
    order = np.argsort(body_seen, kind="stable")
    wanted = np.zeros(4 * graph.predicates**2, dtype=bool)
    wanted[body] = wanted[body_seen] = True
    bodies, partial = kernels.count_path_bodies(
        edge, edge_other, graph.entities, graph.predicates, wanted, _groups(body_seen[order], graph.predicates),
        head_seen[order], order, graph.subject_has, threads, len(head),
    )  # fmt: skip
    table = _two_atoms("path", head, body, graph.predicates)
    return _measured(table, graph, support, bodies.sum(axis=0)[body], partial.sum(axis=0))


def _candidates(
    graph: _StaticGraph, limits: RulesConfig, count: object
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
        support = _sum_threads(count(first, last, threads))  # type: ignore[operator]
        body, head = np.nonzero(support >= needed[first:last])
        found.append((head + first, body, support[body, head].astype(np.int64)))
    columns = [np.concatenate(column).astype(np.int64) for column in zip(*found, strict=True)]
    order = np.lexsort(columns[:2])
    return columns[0][order], columns[1][order], columns[2][order]


def _sum_threads(counts: NDArray[np.int32]) -> NDArray[np.int32]:
    total: NDArray[np.int32] = counts[0]
    for other in counts[1:]:
        total += other
    return total


def _groups(body: NDArray[np.int64], predicates: int) -> NDArray[np.int64]:
    """Return where the rules of each body begin, for rules sorted by body."""
    return np.searchsorted(body, np.arange(4 * predicates**2 + 1))


def _edges(graph: _StaticGraph) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the objects of each (subject, predicate), and where they begin."""
    width = 2 * graph.predicates
    key = graph.subject * width + graph.index.predicate
    order = np.argsort(key, kind="stable")
    return np.searchsorted(key[order], np.arange(graph.entities * width + 1)), graph.object[order]


def _seen_from_its_functional_side(
    graph: _StaticGraph, head: NDArray[np.int64], body: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return body and head of each path rule, or of its mirror if the object of the head determines the subject."""
    count, width = graph.predicates, 2 * graph.predicates
    first, second = body // width, body % width
    mirrored = (second + count) % width * width + (first + count) % width
    straight = graph.by_subject()[head]
    return np.where(straight, body, mirrored), np.where(straight, head, head + count)


def _two_atoms(shape: str, head: NDArray[np.int64], body: NDArray[np.int64], predicates: int) -> Rules:
    return Rules.of_kind(STATIC, shape, head, body // (2 * predicates), body % (2 * predicates))  # type: ignore[arg-type]


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


def _pass(table: Rules, limits: RulesConfig) -> Rules:
    return table.take(
        (table.support >= limits.static_support)
        & (table.head_coverage >= limits.static_head_coverage)
        & (table.confidence >= limits.static_confidence)
        & (table.pca_confidence >= limits.static_pca_confidence)
    )
