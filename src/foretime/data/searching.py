"""A search among the names of a graph, as a table."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from foretime.data.facts import Ids
from foretime.data.graph import Graph
from foretime.errors import QuestionError
from foretime.tables import Table

Kind = Literal["entity", "predicate"]


def search(graph: Graph, words: str, kind: Kind, limit: int) -> Table:
    """Return the names with some words or parts of words, best first: each with its facts, alias and attributes."""
    if kind not in ("entity", "predicate") or limit < 1:
        raise QuestionError(f"kind is {kind!r} and limit {limit}; search for 'entity' or 'predicate', 1 or more")
    finder = graph.predicate_finder if kind == "predicate" else graph.entity_finder
    uses, name = _uses(graph, kind), finder.vocabulary.name
    rows: list[dict[str, Any]] = []
    for found in finder.search(words, uses).page(limit):
        own = graph.attributes[name(found.id)] if kind == "entity" else {}
        shown = {attribute: "; ".join(values) for attribute, values in own.items()}
        rows.append({"name": name(found.id), "facts": int(uses[found.id]), "alias": found.alias, **shown})
    return Table.of(rows, f"{words} in {graph.name}", {"facts": ","})


def _uses(graph: Graph, kind: Kind) -> Ids:
    """Return how many facts have each name; a fact of an entity with itself is one."""
    facts = graph.facts()
    if kind == "predicate":
        return np.bincount(facts.predicate, minlength=len(graph.predicates))
    others = facts.object[facts.object != facts.subject]
    return np.bincount(np.concatenate([facts.subject, others]), minlength=len(graph.entities))
